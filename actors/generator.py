"""The generator actor: the policy writes environments, and the grammar writes some without a model.

Invariant: both hand their programs to the same validator, and every proposal of a policy keeps its prompt,
parents, policy version and verdict. Groups of proposals train the policy as a generator. It asks for room before
it writes. There may be several: the grammar, whose position is one, is the first one's. Prompts, parsing and the
grammar are `envpool.generation`'s.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from actors import roster
from actors.base import Actor
from envpool.families import choose_parents
from envpool.generation import Grammar, ReplyUnparsable, parse_reply, proposal_prompt
from envpool.members import Member, Origin, Program
from envpool.sandbox import InfrastructureFault
from training.proposals import ProposalRewards, proposal_group
from training.trajectory import Sample


class GeneratorActor(Actor):
    """Two loops: the policy's proposals and, in the first generator, the grammar's."""

    background_nice = 5

    async def start(self) -> None:
        self._rng = random.Random(f"{self.config.run.seed}:{self.name}:{time.time_ns()}")
        position = int(await self.peers.pool.state("grammar") or 0)
        self._grammar = Grammar(self.config.run.seed, position=position)
        novelty = self.config.novelty
        self._rewards = ProposalRewards(novelty.bonus_low, novelty.bonus_high, self.config.admission.penalty)
        self._written = {"policy": 0, "grammar": 0}
        self._admitted = {"policy": 0, "grammar": 0}
        if self.config.grammar.enabled and roster.number_of(self.name) == 0:
            self.background("grammar", self._grammar_once)
        if self.config.generator.enabled:
            self.background("policy", self._policy_once)

    def gauges(self) -> dict[str, float]:
        written = {f"{maker}_written": float(count) for maker, count in self._written.items()}
        return written | {f"{maker}_admitted": float(count) for maker, count in self._admitted.items()}

    async def _grammar_once(self) -> None:
        if not await self._may_write(self.config.grammar.interval_seconds):
            return
        for proposal in self._grammar.write(self.config.grammar.batch):
            verdict = await self.peers.validator.judge(proposal.source, Origin.GRAMMAR.value)
            self._count("grammar", verdict)
        await self.peers.pool.put_state("grammar", self._grammar.position)

    async def _policy_once(self) -> None:
        if not await self._may_write(self.config.generator.interval_seconds):
            return
        generator = self.config.generator
        parents = choose_parents(self.pool_reader, self._rng, generator.few_shot, generator.seed_floor)
        prompt = proposal_prompt(
            [parent.material.source for parent in parents if isinstance(parent.material, Program)]
        )
        self.waiting_for = "solver"
        replies = await self.solvers.generate(
            [prompt], generator.group_size, generator.max_tokens, self.config.policy.temperature, True
        )
        samples = [Sample.from_dict(reply) for reply in replies[0]]
        self.waiting_for = "validator"
        judged = await asyncio.gather(
            *(self._judge(sample, parents) for sample in samples), return_exceptions=True
        )
        pairs = [(s, v) for s, v in zip(samples, judged, strict=True) if not isinstance(v, BaseException)]
        await self._tell([fault for fault in judged if isinstance(fault, BaseException)])
        samples, verdicts = [sample for sample, _ in pairs], [verdict for _, verdict in pairs]
        await self.peers.metrics.proposals(
            [_proposal_row(prompt, parents, s, v) for s, v in zip(samples, verdicts, strict=True)]
        )
        if generator.train and samples:
            id = f"{self.name}-{time.time_ns():x}"
            group = proposal_group(id, self.config.policy.name, samples, verdicts, self._rewards)
            await self.peers.buffer.offer(group.to_dict())

    async def _tell(self, faults: list[BaseException]) -> None:
        """A proposal that the machine failed has no verdict and is nothing to learn from; any other error is raised."""
        for fault in faults:
            if not isinstance(fault, InfrastructureFault):
                raise fault
            await self.peers.metrics.alarm("infrastructure", f"a proposal was not judged: {fault}")

    async def _may_write(self, interval: float) -> bool:
        if not self.working:
            await self.idle("run")
            return False
        await self.idle("", interval)
        if await self.peers.validator.room() == 0:
            await self.idle("validator")
            return False
        return self.working

    async def _judge(self, sample: Sample, parents: list[Member]) -> dict[str, Any]:
        try:
            source = parse_reply(sample.text)
        except ReplyUnparsable as error:
            # The whole reply is what is judged then: the first gate refuses it and the pool records it.
            return await self._verdict(sample.text, parents) | {"reason": f"no program in the reply: {error}"}
        return await self._verdict(source, parents)

    async def _verdict(self, source: str, parents: list[Member]) -> dict[str, Any]:
        verdict = await self.peers.validator.judge(
            source, Origin.POLICY.value, tuple(parent.id for parent in parents)
        )
        self._count("policy", verdict)
        return verdict

    def _count(self, maker: str, verdict: dict[str, Any]) -> None:
        self._written[maker] += 1
        self._admitted[maker] += bool(verdict["admitted"])


def _proposal_row(
    prompt: str, parents: list[Member], sample: Sample, verdict: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": verdict["id"], "prompt": prompt, "parents": [parent.id for parent in parents], "reply": sample.text,
        "version_low": sample.version_low, "version_high": sample.version_high,
        "admitted": verdict["admitted"], "gate": verdict["gate"], "reason": verdict["reason"],
    }  # fmt: skip
