"""The composer actor: what is admitted is composed, and what is quarantined takes what is composed of it along.

Gates, pool, curator and sandbox are real.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from actors.composer import ComposerActor, choices
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from cluster.sections.evolving import ComposeConfig
from envpool.curation.shown import Answered, Shown
from envpool.curation.tracks import Recent
from envpool.members import Composite, Origin, Status
from envpool.shipped import shipped
from envpool.store import PoolReader
from tests.actors.conftest import Raise
from tests.actors.test_pool_actor import POOL
from tests.actors.writing import until

ACTORS = (
    POOL,
    Post("metrics", "actors.metrics:MetricsActor"),
    Post("sandbox-0", "actors.sandbox:SandboxActor"),
    Post("novelty", "tests.simulated.novelty:SimulatedNovelty"),
    Post("validator", "actors.validator:ValidatorActor"),
    Post("curator", "actors.curator:CuratorActor"),
    Post("composer-0", "actors.composer:ComposerActor"),
)
FIRST = ("strings/upper_case", "strings/first_word", "strings/reverse_text", "strings/in_brackets")
LATER = "strings/count_characters"
SOURCES = {each.name: each.source for each in shipped("none", [*FIRST, LATER])}


def composites(pool: PoolReader, part: str = "") -> dict[str, Composite]:
    """Those that were admitted, or those that show a part."""
    members = [pool.get(identity) for identity in pool.ids(origin=Origin.COMPOSER)]
    found = {each.id: each.material for each in members if each and isinstance(each.material, Composite)}
    return {identity: each for identity, each in found.items() if not part or part in each.parts}


def test_where_no_success_is_sought_sizes_are_alike_whatever_was_answered() -> None:
    hopeless = tuple(Answered("SEQUENTIAL", tuple("abcdef"), Recent(64.0, 60.0, 0.0, 60.0)) for _ in range(4))
    drawn: dict[float | None, Counter[int]] = {}
    for success in (None, 0.3):
        compose = ComposeConfig(operators=("SEQUENTIAL",), size=(2, 6), success=success)
        kinds, aim = choices(compose, Shown({}, hopeless), random.Random(0), 1000)
        drawn[success] = Counter(size for _, size in kinds)
        assert (aim is None) == (success is None)
    assert 450 < drawn[None][6] < 550
    assert drawn[0.3][6] < 200


class Local(ComposerActor):
    """A composer without a run around it; its alarms are kept."""

    def __init__(self) -> None:
        self.name, self.alarms = "composer-0", list[str]()
        self._proposed = self._admitted = 0
        self._distrust = ""
        self._composer: Any = SimpleNamespace(distrust="")
        self.peers: Any = SimpleNamespace(metrics=self)

    async def alarm(self, kind: str, text: str) -> None:
        self.alarms.append(text)

    async def told(self, distrust: str) -> tuple[float, int]:
        """The gauge and the number of alarms, once the search says this."""
        self._composer.distrust = distrust
        await self._tell()
        return self.gauges()["apart"], len(self.alarms)


async def test_that_a_brick_falsifies_its_neighbours_is_told_once_and_shown_while_it_is_so() -> None:
    composer = Local()
    told = [await composer.told(distrust) for distrust in ("", "pa lies", "pa lies", "", "pb lies")]
    assert told == [(0.0, 0), (1.0, 1), (1.0, 1), (0.0, 1), (1.0, 2)]
    assert "pa lies" in composer.alarms[0]


async def test_a_program_is_composed_once_it_is_active_and_no_more_once_it_is_quarantined(
    cluster: None, tmp_path: Path, make: Raise
) -> None:
    config = Config.model_validate({
        "run": {"name": f"t-{uuid.uuid4().hex[:8]}", "folder": str(tmp_path)},
        "compose": {"size": "2-3"},
        "composer": {"interval_seconds": 0.1, "batch": 2},
        "sandbox": {"count": 1},
        "review": {"enabled": False},
        "pool": {"map_size_gib": 0.1},
    })  # fmt: skip
    peers = Peers(config.namespace, patience=60.0)
    for post in ACTORS:
        make(post, config)
    for name in FIRST:
        assert (await peers.validator.judge(SOURCES[name], "grammar"))["admitted"]
    await peers.pool.put_state("phase", "training")
    with PoolReader.open(config.pool_folder) as pool:

        async def any_of(part: str = "") -> dict[str, Composite]:
            return composites(pool, part)

        made = await until(any_of, 60)
        assert all(2 <= each.size <= 3 for each in made.values())

        later = (await peers.validator.judge(SOURCES[LATER], "grammar"))["id"]
        fused = await until(lambda: any_of(later), 60)
        await peers.pool.put_state("phase", "done")  # it makes nothing new meanwhile
        await peers.pool.transition(later, "quarantined", "it was killed", 0)
        assert {pool.status(identity) for identity in fused} == {Status.QUARANTINED}
        reasons = {entry.reason for entry in pool.journal() if entry.id in fused and entry.kind == "move"}
        assert reasons == {f"its part {later}: it was killed"}

        seen = set(composites(pool))
        await peers.pool.put_state("phase", "training")
        for name in ("strings/last_word", "strings/add_mark"):
            (other,) = shipped("none", [name])
            assert (await peers.validator.judge(other.source, "grammar"))["admitted"]

        async def new() -> set[str]:
            return composites(pool).keys() - seen

        assert (await until(new, 60)).isdisjoint(composites(pool, later))
