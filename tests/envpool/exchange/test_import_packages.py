"""Programs that import a package: whose may, and what a pool remembers of it. The sandbox and the package are real."""

from pathlib import Path

from envpool import Pool
from envpool.admission.tryout import Attempt, Tryout
from envpool.exchange.folder import offers
from envpool.exchange.importing import Ended, Standing, bring_in
from envpool.members import Origin
from envpool.store import PoolWriter

SOURCE = """
import random

import numpy

from envpool import Environment


class Spread(Environment):
    rule = "The input is a list of integers. Give the largest number minus the smallest."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(-50, 50) for _ in range(3 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return int(numpy.ptp(numpy.array(x)))
"""


async def test_people_may_import_a_package_that_the_sandbox_has_and_models_may_not() -> None:
    for origin, gate in ((Origin.POLICY, "imports"), (Origin.GRAMMAR, "imports"), (Origin.USER, "")):
        async with Tryout(origin, packages=["numpy"]) as tryout:
            verdict = await tryout.judge(Attempt("spread", SOURCE, True))
        assert verdict.gate == gate, verdict.reason
    assert verdict.member is not None and verdict.member.evidence["packages"] == ["numpy"]


async def test_a_pool_opens_the_sandbox_that_its_members_need(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "spread.py").write_text(SOURCE, encoding="utf-8")
    found = offers(tmp_path / "mine", packages=["numpy"])
    assert [offer.packages for offer in found] == [("numpy",)]
    with PoolWriter.open(tmp_path / "pool", map_size=1 << 24) as pool:
        async with Tryout(Origin.USER, packages=["numpy"]) as tryout:
            door = Standing(pool, tryout, Origin.USER, ["numpy"])
            assert [row.ended async for row in bring_in(door, found)] == [Ended.ADMITTED]
    with Pool.open(tmp_path / "pool") as opened:
        instance = opened.draw(3)
        (reference,) = instance.references
        assert opened.score(instance, f"<answer>{reference}</answer>").success  # type: ignore[union-attr]
