"""Parts of packages and the folders in which they lie, from the command line to the pool's sandbox: nothing is lost."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool import Pool
from envpool.exchange.folder import offers
from envpool.sandbox.packages import Package, lacking, placed
from tests.cluster.test_cli_import import bring

NAMES = st.lists(st.sampled_from(["parcel", "parcel.later", "numpy", "numpy.linalg", "box"]), unique=True)
SOURCE = """
import random

import parcel.later

from envpool import Environment


class Spread(Environment):
    rule = "The input is a list of integers. Give the largest number minus the smallest."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(-50, 50) for _ in range(3 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return parcel.later.spread(x)
"""


def test_all_that_is_known_of_a_needed_package_is_said_and_nothing_of_others(tmp_path: Path) -> None:
    at = f"parcel={tmp_path}"
    assert placed(["parcel"], [at, "parcel.later", "box"]) == [at, "parcel.later"]
    assert placed(iter(["parcel.later"]), [at]) == [at, "parcel.later"]
    assert placed(["numpy"], []) == ["numpy"]


@given(needed=NAMES, known=NAMES)
def test_whatever_is_needed_is_said_once_and_what_was_said_before_first(
    needed: list[str], known: list[str]
) -> None:
    said = [Package.parse(text).name for text in placed(needed, known)]
    assert set(needed) <= set(said) and len(set(said)) == len(said)
    assert {Package.parse(text).top for text in said} == {Package.parse(text).top for text in needed}
    assert lacking(needed, said) == []


def test_a_program_of_a_part_of_a_package_is_drawn_from_where_the_part_lies(tmp_path: Path) -> None:
    parcel = tmp_path / "lib" / "parcel"
    parcel.mkdir(parents=True)
    (parcel / "__init__.py").write_text("", encoding="utf-8")
    (parcel / "later.py").write_text("def spread(x):\n    return max(x) - min(x)\n", encoding="utf-8")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "spread.py").write_text(SOURCE, encoding="utf-8")
    part = f"parcel.later={parcel.parent}"
    told = bring("folder", mine, "--package", part, "--into", tmp_path / "pool")
    assert told.exit_code == 0, told.output
    assert f"sandbox.packages={part}" in told.stderr
    for packages in ([part], [f"parcel={parcel.parent}"]):
        with Pool.open(tmp_path / "pool", packages=packages) as pool:
            (id,) = pool.ids()
            assert pool.get(id).evidence["packages"] == ["parcel.later"]
            assert pool.draw(1).references


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("import ai", True),
        ("import random, ai.parts as a", True),
        ("    from ai.parts import one", True),
        ("try: import ai\nexcept ImportError: pass", True),
        ("# aids nobody", False),
        ("import aid", False),
        ("from . import ai", False),
        ("import random  # not ai, ai", False),
    ],
)
def test_a_package_is_needed_where_a_line_imports_it(tmp_path: Path, source: str, imports: bool) -> None:
    (tmp_path / "one.py").write_text(source, encoding="utf-8")
    (offer,) = offers(tmp_path, packages=["ai"])
    assert offer.packages == (("ai",) if imports else ())
