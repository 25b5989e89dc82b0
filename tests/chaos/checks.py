"""What must hold after a run, whatever was killed while it went: invariants 1, 3 and 6 of the architecture; replicas.

Invariant: each check yields a sentence for each violation and nothing else; it believes files, never a summary. That
each of them can fail is shown on doctored stores in `tests/chaos/test_checks.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from cluster import wanted
from envpool.members import Status
from envpool.store import integrity
from tests.chaos.evidence import Evidence, dropped_in
from tests.simulated.engine import right_answer
from training.grpo import checkpoints

Check = Callable[[Evidence], Iterator[str]]


def pool_is_whole(evidence: Evidence) -> Iterator[str]:
    """Records, indexes, counters and the journal folded from its beginning tell one story (invariant 1)."""
    for finding in integrity.check(evidence.pool):
        yield f"the pool contradicts itself: {finding}"


def admitted_once(evidence: Evidence) -> Iterator[str]:
    """No id is admitted twice, and none that was admitted is gone (invariant 1)."""
    admissions = Counter(entry.id for entry in evidence.journal if entry.kind == "admit")
    there = set(evidence.pool.ids())
    yield from (f"{id} was admitted {count} times" for id, count in admissions.items() if count > 1)
    yield from (f"{id} was admitted and is not in the pool" for id in admissions.keys() - there)
    yield from (f"{id} is in the pool and was never admitted" for id in there - admissions.keys())


def acknowledged_admissions_stay(evidence: Evidence) -> Iterator[str]:
    """What was said to be admitted, or seen in the pool, is there for ever (invariant 1)."""
    told = evidence.lines("admit")
    new = Counter(line["id"] for line in told if line["new"])
    yield from (f"{id} was acknowledged as new {count} times" for id, count in new.items() if count > 1)
    for id in {line["id"] for line in told} | evidence.seen.ids:
        if evidence.pool.get(id) is None or evidence.pool.status(id) in (None, Status.REJECTED):
            yield f"{id} was acknowledged as admitted, or seen, and is not in the pool"


def rewards_are_verdicts(evidence: Evidence) -> Iterator[str]:
    """Every reward that was trained on is a finite number in [0, 1], one for each answer asked for (invariant 3)."""
    most = max(evidence.config.learner.group_size, evidence.config.generator.group_size)
    for line in evidence.lines("update"):
        for group in line["groups"]:
            rewards = group["rewards"]
            for reward in rewards:
                if not (isinstance(reward, int | float) and math.isfinite(reward) and 0 <= reward <= 1):
                    yield f"group {group['id']} was trained with the reward {reward!r}"
            if not group["successes"] <= len(rewards) <= most:
                yield f"group {group['id']} has {group['successes']} successes in {len(rewards)} of {most} answers"


def verdicts_are_right(evidence: Evidence) -> Iterator[str]:
    """A right answer to a question of a known rule has the reward 1, any other 0 (invariant 3)."""
    for row in evidence.responses():
        if (known := right_answer(row["prompt"])) is not None:
            right = float(row["response"] == f"<answer>{known}</answer>")
            if row["reward"] != right:
                yield f"group {row['group']} has the reward {row['reward']} for {row['response']!r}, not {right}"


def answers_were_asked(evidence: Evidence) -> Iterator[str]:
    """No more answers are counted than were asked for, nor more successes than answers (invariant 3)."""
    most = max(evidence.config.learner.group_size, evidence.config.admission.calibration_instances)
    for entry in evidence.journal:
        for member, policy, level, attempts, successes, parsed, failures in entry.evidence.get("counts", ()):
            if not (0 <= successes <= parsed <= attempts and failures >= 0 and attempts + failures <= most):
                yield (
                    f"journal {entry.seq} counts {successes} successes, {parsed} parsed, {attempts} attempts and "
                    f"{failures} failures of {policy} on {member} at level {level}; {most} were asked"
                )


def versions_only_rise(evidence: Evidence) -> Iterator[str]:
    """In the surviving weights, in the metrics, and in what was published (invariant 6)."""
    stories = {"metrics": [step["version"] for step in evidence.steps() if not step.get("policy")]}
    for learnt in evidence.learners():
        stories[f"surviving {learnt.config.own('weights')}"] = [version for version, _ in learnt.updates]
    for name, versions in stories.items():
        for before, after in pairwise(versions):
            if after <= before:
                yield f"{name}: version {after} follows {before}"
    for name, versions in evidence.seen.versions.items():
        for before, after in pairwise(versions):
            if after < before:
                yield f"published {name}: version {after} follows {before}"


def groups_count_once(evidence: Evidence) -> Iterator[str]:
    """No group is twice in the weights that survive, nor in them and waiting to be trained (invariant 6)."""
    for learnt in evidence.learners():
        name = learnt.config.own("learner")
        counts = Counter(learnt.trained)
        yield from (f"{name}: group {id} is {n} times in the weights" for id, n in counts.items() if n > 1)
        yield from (
            f"{name}: group {id} is in the weights, and waits" for id in learnt.waiting & counts.keys()
        )


def no_group_is_skipped(evidence: Evidence) -> Iterator[str]:
    """A group that a buffer accepted is in the weights that survive, waits, or was dropped for a counted reason.

    That a buffer calls it trained proves nothing (invariant 6).
    """
    for learnt in evidence.learners():
        buffer = learnt.config.own("buffer")
        accepted = {
            line["group"]
            for what in ("put", "offer")
            for line in evidence.lines(what)
            if line["by"] == buffer and line["state"] != "dropped"
        }
        dropped = dropped_in(learnt.state) | evidence.seen.dropped.get(buffer, set())
        for id in accepted - {*learnt.trained} - learnt.waiting - dropped:
            yield f"{buffer}: group {id} was accepted and is nowhere"
        reasons = learnt.state.get("dropped", {})
        if "" in reasons or any(count < 1 for count in reasons.values()):
            yield f"{buffer}: drops without a reason: {reasons}"


def groups_are_fresh(evidence: Evidence) -> Iterator[str]:
    """No group was trained by weights further from those that wrote it than the bound (invariant 6)."""
    config = evidence.config
    most = {"solver": config.learner.max_staleness, "generator": config.generator.max_staleness}
    for line in evidence.lines("update"):
        for group in line["groups"]:
            if line["version"] - 1 - group["low"] > most[group["role"]]:
                yield f"group {group['id']}, begun at version {group['low']}, was trained to {line['version']}"


def checkpoint_is_what_was_trained(evidence: Evidence) -> Iterator[str]:
    """The pool names a whole checkpoint, and its step is the number of updates in it (invariant 6)."""
    for learnt in evidence.learners():
        told, name = evidence.pool.state(learnt.config.own("checkpoint")), learnt.config.own("learner")
        if learnt.saved is None:
            if told:
                yield f"{name}: the pool names {told}, and there is no whole checkpoint"
            continue
        extra = learnt.saved.extra["step"]
        if len(learnt.updates) != extra:
            yield f"{name}: {len(learnt.updates)} updates are in the weights of step {extra}"
        if told != {"step": extra, "version": learnt.saved.version}:
            yield f"{name}: the pool names {told}, saved is step {extra}, version {learnt.saved.version}"
        if checkpoints.read(learnt.saved.folder) is None:
            yield f"{name}: the checkpoint {learnt.saved.folder.name} is not whole"
        if learnt.updates and learnt.updates[-1][0] > learnt.saved.version:
            yield f"{name}: version {learnt.updates[-1][0]} is in the weights of {learnt.saved.version}"


def orders_hold(evidence: Evidence) -> Iterator[str]:
    """What an operator was told is wanted, is."""
    counts = (evidence.pool.state(wanted.KEY) or {}).get("counts", {})
    for kind, possible in evidence.seen.counts.items():
        if counts.get(kind) not in possible:
            yield f"{kind}={counts.get(kind)} is wanted; acknowledged was one of {sorted(possible)}"


def replicas_are_equal(evidence: Evidence) -> Iterator[str]:
    """Each node's replica is the writer's pool, row by row."""
    if not evidence.seen.replicas:
        yield "no replica was compared"
    for replica in evidence.seen.replicas:
        if replica.differs:
            yield f"the replica of node {replica.node} at change {replica.position}: {replica.differs}"


def progress_was_made(evidence: Evidence) -> Iterator[str]:
    """Updates in the surviving weights of each policy, and members that nobody shipped."""
    for learnt in evidence.learners():
        if not learnt.updates:
            yield f"{learnt.config.own('learner')}: no update survives"
    if len(evidence.pool.ids()) <= evidence.seen.shipped:
        yield "nothing was admitted but what was shipped"


CHECKS: tuple[Check, ...] = (
    pool_is_whole,
    admitted_once,
    acknowledged_admissions_stay,
    rewards_are_verdicts,
    verdicts_are_right,
    answers_were_asked,
    versions_only_rise,
    groups_count_once,
    no_group_is_skipped,
    groups_are_fresh,
    checkpoint_is_what_was_trained,
    orders_hold,
    replicas_are_equal,
    progress_was_made,
)


def violations(evidence: Evidence) -> list[str]:
    """Whatever does not hold, each with the check that found it."""
    return [f"{check.__name__}: {text}" for check in CHECKS for text in check(evidence)]
