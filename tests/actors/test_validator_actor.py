"""The validator actor: reviews, calibration, what is set apart, and what a kill leaves; gates and pool are real."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from actors import roster
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from cluster.control import Control
from cluster.wanted import attached, first
from envpool.exchange.offers import Offer
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.sandbox import InfrastructureFault
from envpool.shipped import shipped
from envpool.store import PoolReader
from tests.actors.conftest import kill
from tests.actors.scripted_reader import reader
from tests.envpool.admission.programs import RENAMED, REWRITTEN, SOUND, with_solve

BRICK, OTHER = (each.source for each in shipped("none", ["lists/largest", "lists/count_numbers"]))


@dataclass(frozen=True)
class House:
    """A validator and all that it asks."""

    config: Config
    peers: Peers

    def pool(self) -> PoolReader:
        return PoolReader.open(self.config.pool_folder)

    async def gauges(self) -> dict[str, float]:
        return (await self.peers.validator.health())["gauges"]


def posts() -> Iterator[Post]:
    for name, kind in (("pool", "pool:Pool"), ("metrics", "metrics:Metrics"), ("sandbox-0", "sandbox:Sandbox")):
        yield Post(name, f"actors.{kind}Actor")
    yield Post("novelty", "tests.simulated.novelty:SimulatedNovelty")
    yield reader()
    yield Post("validator", "actors.validator:ValidatorActor")


@contextmanager
def house(folder: Path, **sections: Any) -> Iterator[House]:
    config = Config.model_validate(
        {
            "run": {"name": f"t-{uuid.uuid4().hex[:8]}", "folder": str(folder)},
            "sandbox": {"count": 1},
            "pool": {"map_size_gib": 0.1},
            **sections,
        }
    )
    try:
        for post in posts():  # no supervisor watches here, so Ray itself makes again what a test kills
            roster.make(replace(post, restarts=-1), config)
        yield House(config, Peers(config.namespace, patience=60.0))
    finally:
        roster.end(config)


@pytest.fixture(scope="module")
def one(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("one")) as made:
        yield made


async def test_what_a_policy_wrote_is_calibrated_reviewed_and_kept_with_its_answers(one: House) -> None:
    verdict = await one.peers.validator.judge(SOUND, "policy")
    assert verdict["admitted"], verdict["reason"]
    asked = await one.peers["solver-0"].requests()
    assert asked[-1] == ("review", 3, True) and asked.count(("question", 1, False)) == 8
    with one.pool() as pool:
        member, counts = pool.get(verdict["id"]), pool.stats(verdict["id"], "main")[0]
    assert member is not None and member.evidence["reviews"] == ["sound"] * 3
    assert (counts.attempts, counts.rate) == (8, member.evidence["success_rate"])


async def test_an_offer_to_a_run_that_goes_is_judged_here_and_kept_with_what_it_says_of_itself(one: House) -> None:
    offer = Offer("theirs/squares", with_solve("return sum(n * n for n in x)"), (), {"licence": "MIT"})
    control = Control(one.config.run.name, "")
    verdict = await asyncio.to_thread(control.judge, offer, Origin.IMPORTED)
    with one.pool() as pool:
        member = pool.get(verdict["id"])
    assert (member.origin, member.family, member.evidence["licence"]) == (Origin.IMPORTED, "theirs/squares", "MIT")
    assert "success_rate" not in member.evidence  # no solver and no reviewer is asked
    again = await asyncio.to_thread(control.judge, offer, Origin.IMPORTED)
    assert (again["admitted"], again["gate"]) == (False, "duplicate")


async def test_a_likely_bug_rejects_and_the_pool_keeps_the_reviews_words(one: House) -> None:
    source = with_solve("return sum(n % 2 for n in x)  # not off by one")
    verdict = await one.peers.validator.judge(source, "policy")
    with one.pool() as pool:
        found = pool.rejection(verdict["id"])
    assert (found.gate, verdict["valid"]) == ("review", True), found.reason
    assert found.reason == "1 of 3 reviews find a likely bug: Line 9 is odd."
    assert found.evidence["review"] == "Line 9 is odd.\nVERDICT: likely bug"
    told = await one.gauges()
    assert 1 / 3 <= told["review_agreement"] < 1 and told["reviewed"] >= 1


async def test_a_program_that_the_reviewer_cannot_be_asked_about_falls(one: House) -> None:
    source = with_solve("return sum(n > x[0] for n in x)  # endless")
    verdict = await one.peers.validator.judge(source, "policy")
    assert verdict["gate"] == "review"
    assert verdict["reason"] == "the reviewer main cannot be asked: the prompt does not fit"


async def test_a_model_that_is_away_is_no_verdict(one: House) -> None:
    source = with_solve("return sum(n % 3 == 0 for n in x)")
    await one.peers.validator.ready()
    (one.config.run_folder / "away").touch()
    with pytest.raises(InfrastructureFault, match="the solver does not answer: the server is away"):
        await one.peers.validator.judge(source, "policy")
    with one.pool() as pool:
        assert pool.status(Program(source, "", "", "", "").id) is None
    (one.config.run_folder / "away").unlink()
    assert (await one.peers.validator.judge(source, "policy"))["admitted"]


async def test_a_proposal_asked_about_again_while_it_is_judged_is_judged_once(one: House) -> None:
    source, proposal = with_solve("return 1 + sum(n % 2 == 0 for n in x)"), {"id": "generator-0-1/0"}
    asked = (one.peers.validator.judge(source, "policy", (), proposal=proposal) for _ in range(3))
    verdicts = await asyncio.gather(*asked)
    assert [verdict["admitted"] for verdict in verdicts] == [True] * 3, verdicts
    assert verdicts[0] == verdicts[1] == verdicts[2]
    other = await one.peers.validator.judge(source, "policy", (), proposal={"id": "generator-0-1/1"})
    assert other["gate"] == "duplicate"


async def test_what_was_composed_of_one_that_is_quarantined_by_now_falls_with_that_reason(one: House) -> None:
    parts = [(await one.peers.validator.judge(source, "brick"))["id"] for source in (BRICK, OTHER)]
    pair = Composite("PARALLEL", tuple((part,) for part in parts), "tuple[list[int], list[int]]", "tuple[int, int]")
    late = Member(pair, Origin.COMPOSER)
    await one.peers.pool.transition(parts[1], "quarantined", "it was killed", 0)
    assert await one.peers.validator.judge_composite(late.to_dict()) is False
    with one.pool() as pool:
        found = pool.rejection(late.id)
    assert (found.gate, found.reason) == ("parts", f"made of {parts[1]}, quarantined since it was composed")


async def test_a_reviewer_by_name_is_asked_once_it_is_attached_and_until_then_there_is_no_verdict(
    cluster: None, tmp_path: Path
) -> None:
    with house(tmp_path, review={"by": "critic", "count": 2}) as made:
        with pytest.raises(InfrastructureFault, match=r"critic is no part of the run .*envolve attach critic"):
            await made.peers.validator.judge(SOUND, "policy")
        spec = {"name": "critic", "model": "m", "endpoint": "http://critic/v1"}
        wanted = attached(first(made.config), spec, made.config)
        await made.peers.pool.put_state("wanted", wanted.model_dump(mode="json"))
        roster.make(reader("critic.solver-0"), made.config)
        assert (await made.peers.validator.judge(SOUND, "policy"))["admitted"]
        assert await made.peers["critic.solver-0"].requests() == [("review", 2, True)]
        with made.pool() as pool:
            assert pool.funnel() == {"admitted": 1}


async def test_what_is_set_apart_stays_so_and_nothing_is_admitted_twice_whoever_is_killed(
    cluster: None, tmp_path: Path
) -> None:
    with house(tmp_path) as made:
        judge = made.peers.validator.judge
        apart, part = await judge(SOUND, "brick", (), "counting", True), await judge(BRICK, "brick")
        assert apart["admitted"] and part["admitted"]
        for victim in ("validator", "novelty", "pool"):
            kill((await made.peers[victim].health())["pid"])
            assert (await judge(RENAMED, "policy"))["gate"] == "contamination"
            assert (await judge(REWRITTEN, "grammar"))["gate"] == "contamination"
            assert (await judge(BRICK, "policy"))["gate"] == "duplicate"
        chain = (part["id"],), (apart["id"],)
        composite = Member(
            Composite("PARALLEL", chain, "tuple[list[int], list[int]]", "tuple[int, int]"), Origin.COMPOSER
        )
        assert await made.peers.validator.judge_composite(composite.to_dict()) is False
        assert (await judge(OTHER, "brick"))["admitted"]
        with made.pool() as pool:
            told = [entry.id for entry in pool.journal() if entry.kind == "admit"]
            assert len(told) == len(set(told)) == 3 and set(pool.ids()) == set(told)
            assert pool.funnel() == {"admitted": 3, "contamination": 7, "duplicate": 3}
            assert pool.status(composite.id) is Status.REJECTED
            assert apart["id"] in pool.rejection(composite.id).reason  # type: ignore[union-attr]
