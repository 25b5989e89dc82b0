"""Trying candidates out apart from any run: what a model replied, through every gate that needs no solver.

Invariant: the gates are those of a run, over sandboxes of this process; nothing is written to any pool. Copies are
looked for among what it was told to know and what passed before.
"""

import time
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from envpool.admission.admission import Admission
from envpool.admission.form import bare
from envpool.admission.register import Register
from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Step, Verdict
from envpool.generation.reply import ReplyUnparsable, parse_reply
from envpool.members import Member, Origin
from envpool.novelty.neighbours import Novelty
from envpool.sandbox import Call, LocalExecutor, Mode, Result

REPLY = "reply"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate as it was handed in."""

    name: str
    text: str
    is_source: bool = False  # a program and nothing else, or a reply that holds one
    held_out: bool = False  # to be set apart, for evaluation


class Tryout:
    """Gates over local sandboxes; `width` of them work side by side where several candidates are judged at once.

    Programs may import `packages` besides (`LocalExecutor`). Raises SandboxUnavailable where one is not there.
    """

    def __init__(
        self,
        origin: Origin,
        known: Iterable[Member] = (),
        *,
        novelty: Novelty | None = None,
        settings: AdmissionSettings | None = None,
        width: int = 1,
        packages: Sequence[str] = (),
    ) -> None:
        self._origin = origin
        self._executor = _Spread([LocalExecutor(packages=packages) for _ in range(width)])
        self._admission = Admission(self._executor, novelty, Register(known), settings=settings)

    async def __aenter__(self) -> Self:
        """Raises SandboxUnavailable where no sandbox can be had."""
        await self._executor.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._executor.close()

    async def learn(self, name: str, source: str, origin: Origin) -> Verdict:
        """As if the program were in the pool already, so that its copies fall. Raises InfrastructureFault."""
        return await self._admission.judge(source, origin, name=name)

    async def judge(self, attempt: Attempt) -> Verdict:
        """The verdict; gate "reply" where there is no program to judge. Raises InfrastructureFault."""
        started = time.perf_counter()
        source = attempt.text
        try:
            if not attempt.is_source:
                source = parse_reply(attempt.text)
        except ReplyUnparsable as error:
            step = Step(REPLY, False, time.perf_counter() - started)
            return Verdict(bare(attempt.text).id, None, REPLY, f"no program in the reply: {error}", {}, (step,))
        return await self._admission.judge(source, self._origin, name=attempt.name, held_out=attempt.held_out)


class _Spread:
    """Several executors as one; a source stays with one of them, where its children are open."""

    def __init__(self, executors: Sequence[LocalExecutor]) -> None:
        self._executors = executors

    async def start(self) -> None:
        await self._executors[0].start()

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        place = zlib.crc32(source.encode("utf-8", "surrogatepass")) % len(self._executors)
        return await self._executors[place].run(
            source, calls, mode=mode, replica=replica, packages=packages
        )

    def close(self) -> None:
        for executor in self._executors:
            executor.close()
