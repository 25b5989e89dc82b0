"""What a writer can do: proposals drawn from it as in a run, judged by the mechanical gates in the sandbox.

Invariant: the requests show programs that no lesson showed, and the gates know them, so that copying an example
counts as nothing. A proposal that the machine could not judge is left out of every share and counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from envpool.admission.passing import passing
from envpool.admission.tryout import Attempt, Tryout
from envpool.generation import ReplyUnparsable, parse_reply
from envpool.generation.lessons import oracle_text
from envpool.members import Origin
from envpool.sandbox import InfrastructureFault

THROUGH = ""
"""Where those that pass every gate are counted."""
AFTER_L4 = ("L5", "behaviour", THROUGH)


@dataclass(frozen=True, slots=True)
class Examined:
    """Counts over the proposals of an examination."""

    proposals: int
    fell: Mapping[str, int]
    """by gate; under "" those that passed all"""
    repeated: int
    """of those that pass L1 to L4, oracles that some lesson had"""
    apart: int
    """of those that pass L1 to L4, oracles of the grammar that no lesson had, for they were set apart"""
    undecided: int = 0
    """the machine failed; in no other count"""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """for each gate one of the reasons"""

    @property
    def past_l4(self) -> float:
        """Share of proposals that pass L1 to L4; a copy of what is known already does not."""
        return passing(self.fell).of_all["L4"].rate or 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of that share."""
        found = passing(self.fell).of_all["L4"].interval
        return found.low, found.high

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the share by stage."""
        shares = {stage: share.rate for stage, share in passing(self.fell).of_all.items()}
        return asdict(self) | {"past": shares, "past_l4": self.past_l4, "interval": list(self.interval)}


async def examine(
    replies: Sequence[str],
    shown: Sequence[str],
    taught: Collection[str],
    apart: Collection[str],
    width: int = 1,
) -> Examined:
    """Judge replies; `shown` are the sources in their requests, `taught` and `apart` oracles as `oracle_text` has them.

    Raises SandboxUnavailable.
    """
    fell: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    repeated = among_apart = undecided = 0
    async with Tryout(Origin.POLICY, width=width) as tryout:
        for number, source in enumerate(dict.fromkeys(shown)):
            await tryout.learn(f"shown-{number}", source, Origin.GRAMMAR)
        for number, reply in enumerate(replies):
            try:
                verdict = await tryout.judge(Attempt(str(number), reply))
            except InfrastructureFault:
                undecided += 1
                continue
            fell[verdict.gate] += 1
            reasons.setdefault(verdict.gate, verdict.reason)
            if verdict.gate in AFTER_L4:
                oracle = _oracle(reply)
                repeated += oracle in taught
                among_apart += oracle in apart
    return Examined(sum(fell.values()), dict(fell), repeated, among_apart, undecided, reasons)


def _oracle(reply: str) -> str:
    try:
        return oracle_text(parse_reply(reply))
    except ReplyUnparsable:
        return ""
