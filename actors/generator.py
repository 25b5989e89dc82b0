"""The generator actor: a policy writes environments, and the grammar writes some without a model.

Invariant: both hand their programs to the same validator, and every proposal of a policy keeps its prompt, parents,
writer, policy version, verdict and reward. A draft is in the pool from before its first reply is judged until its last
one is handed on, so one that a kill cut short goes on where it was: nothing is admitted or trained twice. What a model
did not answer is judged by nobody; it is asked again later, and an alarm stands until it answers. There may be several
generators: the grammar, whose position is one, is the first one's. Prompts, parsing and the grammar are
`envpool.generation`'s.
"""

from __future__ import annotations

import asyncio
import random
import time
import traceback
from collections import Counter
from typing import Any

from actors import roster
from actors.base import Actor
from actors.peers import PeerUnavailable
from cluster.config import Config
from envpool.families import choose_parents
from envpool.generation import Grammar, ReplyUnparsable, parse_reply, proposal_prompt
from envpool.members import Origin, Program
from envpool.sandbox import InfrastructureFault
from envpool.store.encoding import pack, unpack
from training.draft import Draft
from training.policy.errors import EndpointUnavailable, GenerationRefused
from training.proposals import ProposalRewards, proposal_group, proposal_reward
from training.rewards import GeneratorWeights
from training.trajectory import Sample

POLICY, GRAMMAR = Origin.POLICY.value, Origin.GRAMMAR.value
UNASKED = (EndpointUnavailable, GenerationRefused, PeerUnavailable)
"""Why a model could not be asked; says nothing about its programs."""


class GeneratorActor(Actor):
    """Two loops: the policy's proposals and, in the run's first generator, the grammar's."""

    background_nice = 5

    async def start(self) -> None:
        self._rng = random.Random(f"{self.config.run.seed}:{self.name}:{time.time_ns()}")
        position = int(await self.peers.pool.state("grammar") or 0)
        self._grammar = Grammar(self.config.run.seed, position=position)
        self._rewards = rewards_of(self.config)
        self._figures: Counter[str] = Counter()
        self._trouble = ""
        self._asking: asyncio.Task[Any] | None = None
        self._left = await self.peers.pool.groups(self._key(""))
        """keys of drafts that are not handed on yet"""
        if self.config.grammar.enabled and roster.number_of(self.name) == 0:
            self._figures.update(grammar_written=0, grammar_admitted=0)
            self.background("grammar", self._grammar_once)
        if self.config.policy_writes:
            self._figures.update(policy_written=0, policy_admitted=0)
            self.background("policy", self._policy_once)

    def gauges(self) -> dict[str, float]:
        return {name: float(count) for name, count in self._figures.items()} if hasattr(self, "_left") else {}

    def health(self) -> dict[str, Any]:
        return super().health() | {"trouble": getattr(self, "_trouble", "")}

    async def drain(self) -> None:
        self._leaving = True
        if self._asking is not None:
            self._asking.cancel()  # what is not written yet is missed by nobody
        await super().drain()

    async def _grammar_once(self) -> None:
        if not await self._may_write(self.config.grammar.interval_seconds):
            return
        for proposal in self._grammar.write(self.config.grammar.batch):
            verdict = await self.peers.validator.judge(proposal.source, GRAMMAR)
            self._count(GRAMMAR, verdict)
        await self.peers.pool.put_state("grammar", self._grammar.position)

    async def _policy_once(self) -> None:
        if not await self._may_write(self.config.generator.interval_seconds):
            return
        draft = await self._left_over() or await self._drafted()
        if draft is None:
            return
        self.waiting_for = "validator"
        await self._hand_on(draft, await self._judged(draft))
        await self._forget(self._key(draft.id))

    async def _may_write(self, interval: float) -> bool:
        if not self.working:
            await self.idle("run")
            return False
        await self.idle("", interval)
        if await self.peers.validator.room() == 0:
            await self.idle("validator")
            return False
        return self.working

    async def _drafted(self) -> Draft | None:
        """A new draft, which the pool keeps; None where the model could not be asked."""
        generator, policy = self.config.generator, self.config.policy
        far = policy.endpoint or self.config.writer.endpoint
        chosen = choose_parents(self.pool_reader, self._rng, generator.few_shot, generator.seed_floor)
        parents = {each.id: each.material.source for each in chosen if isinstance(each.material, Program)}
        prompt = proposal_prompt(list(parents.values()))
        samples = await self._asked(prompt)
        if not samples:
            return None
        model = f"{policy.model} at {far}" if far else policy.model
        id = f"{self.name}-{time.time_ns():x}"
        draft = Draft(id, policy.name, model, prompt, tuple(parents), samples)
        await self.peers.pool.put_group(self._key(id), pack(draft.to_dict()))
        self._left.append(self._key(id))
        return draft

    async def _asked(self, prompt: str) -> tuple[Sample, ...]:
        generator = self.config.generator
        self.waiting_for = "solver"
        self._asking = asyncio.ensure_future(
            self.solvers.generate(
                [prompt], generator.group_size, generator.max_tokens, self.config.policy.temperature, True
            )
        )
        try:
            [replies] = await self._asking
        except UNASKED as error:
            self._trouble = _said(error)
            return ()
        except asyncio.CancelledError:
            if not self._leaving:
                raise
            return ()
        self._trouble = ""
        return tuple(map(Sample.from_dict, replies))

    async def _left_over(self) -> Draft | None:
        """The draft that was begun first, of those that are not handed on."""
        while self._left:
            kept = await self.peers.pool.group(self._left[0])
            try:
                return Draft.from_dict(unpack(kept))
            except (TypeError, ValueError, KeyError) as error:  # gone, or of another version
                await self.peers.metrics.alarm("draft", f"{self._left[0]} cannot be taken up: {error}")
                await self._forget(self._left[0])
        return None

    async def _judged(self, draft: Draft) -> dict[int, dict[str, Any]]:
        """Verdicts by reply; one that the machine failed has none, and is nothing to learn from."""
        judging = (self._judge(draft, index) for index in range(len(draft.samples)))
        results = await asyncio.gather(*judging, return_exceptions=True)
        if faults := [each for each in results if isinstance(each, BaseException)]:
            await self._tell(faults)
        return {index: each for index, each in enumerate(results) if not isinstance(each, BaseException)}

    async def _judge(self, draft: Draft, index: int) -> dict[str, Any]:
        reply, origin = draft.samples[index].text, draft.origin(index)
        try:
            source = parse_reply(reply)
        except ReplyUnparsable as error:
            verdict = await self.peers.validator.refuse(reply, POLICY, str(error), origin)
        else:
            verdict = await self.peers.validator.judge(source, POLICY, draft.parents, proposal=origin)
        self._count(POLICY, verdict)
        return dict(verdict)

    async def _tell(self, faults: list[BaseException]) -> None:
        """Of replies without a verdict; what is no trouble of the machine is a failure of ours besides."""
        for fault in faults:
            if not isinstance(fault, InfrastructureFault):
                self._note("judging", "".join(traceback.format_exception(fault)))
        self._figures["infrastructure_failures"] += len(faults)
        text = f"{len(faults)} proposals were not judged, the first since {_said(faults[0])}"
        await self.peers.metrics.alarm("infrastructure", text)

    async def _hand_on(self, draft: Draft, verdicts: dict[int, dict[str, Any]]) -> None:
        """Record every judged proposal, and offer the group to the learner where this policy is trained."""
        rows = [
            draft.row(index, verdict, proposal_reward(verdict, self._rewards))
            for index, verdict in verdicts.items()
        ]
        policy = self.config.policy.name
        await self.peers.metrics.proposals(rows, policy)
        if self.config.trains_on_proposals and verdicts:
            samples = [draft.samples[index] for index in verdicts]
            group = proposal_group(draft.id, policy, samples, list(verdicts.values()), self._rewards)
            await self.peers[self.config.own("buffer")].offer(group.to_dict())

    async def _forget(self, key: str) -> None:
        await self.peers.pool.drop_groups([key])
        self._left.remove(key)

    def _key(self, draft: str) -> str:
        return f"{self.name}/draft/{draft}"

    def _count(self, maker: str, verdict: dict[str, Any]) -> None:
        self._figures[f"{maker}_written"] += 1
        self._figures[f"{maker}_admitted"] += bool(verdict["admitted"])


def rewards_of(config: Config) -> ProposalRewards:
    """What proposals earn in a run; without novelty its part is dropped."""
    novelty, reward = config.novelty, config.reward
    weights = GeneratorWeights(
        reward.validation,
        reward.quality,
        reward.novelty if novelty.enabled else 0.0,
        centre=reward.quality_centre,
        width=reward.quality_width,
    )
    return ProposalRewards(novelty.bonus_low, novelty.bonus_high, config.admission.penalty, weights)


def _said(error: BaseException) -> str:
    """What an error says, without Ray's account of how it travelled."""
    cause = getattr(error, "cause", None)
    first = str(cause if isinstance(cause, Exception) else error).strip()
    return first.splitlines()[0] if first else type(error).__name__
