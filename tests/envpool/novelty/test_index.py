from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envpool.novelty import NoveltyIndex, bonus
from envpool.novelty.embedding import DIMENSION, to_bytes
from envpool.novelty.index import IndexMismatch


def vector(seed: int) -> bytes:
    drawn = np.random.default_rng(seed).normal(size=DIMENSION)
    return to_bytes(drawn / np.linalg.norm(drawn))


def filled(*seeds: int) -> NoveltyIndex:
    index = NoveltyIndex()
    index.extend((f"p{seed}", vector(seed)) for seed in seeds)
    return index


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30, unique=True), st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_the_nearest_is_the_one_a_plain_search_finds(seeds: list[int], asked: int) -> None:
    cosines = {
        seed: float(np.frombuffer(vector(seed), "<f4") @ np.frombuffer(vector(asked), "<f4"))
        for seed in seeds
    }
    id, similarity = filled(*seeds).nearest(vector(asked))
    assert id == f"p{max(cosines, key=lambda seed: cosines[seed])}"
    assert similarity == pytest.approx(max(cosines.values()), abs=1e-5)


def test_an_empty_index_has_no_neighbour() -> None:
    assert NoveltyIndex().nearest(vector(1)) == (None, 0.0)


def test_adding_twice_keeps_one() -> None:
    index = filled(1, 2)
    index.add("p1", vector(3))
    assert len(index) == 2 and "p1" in index
    assert index.nearest(vector(1))[1] == pytest.approx(1.0, abs=1e-5)


def test_a_vector_of_another_size_or_without_numbers_is_refused() -> None:
    for broken in (b"", vector(1)[:-4], to_bytes(np.full(DIMENSION, np.nan))):
        with pytest.raises(ValueError, match="finite numbers"):
            NoveltyIndex().add("p1", broken)


def test_a_saved_index_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "novelty.npz"
    index = filled(*range(20))
    index.save(path)
    again = NoveltyIndex.load(path)
    assert len(again) == 20
    assert again.nearest(vector(7)) == index.nearest(vector(7))
    assert [file.name for file in tmp_path.iterdir()] == ["novelty.npz"]
    NoveltyIndex().save(path)
    assert len(NoveltyIndex.load(path)) == 0


@pytest.mark.parametrize("content", [b"", b"no index", b"PK\x03\x04 broken"])
def test_a_broken_file_is_a_mismatch_and_opening_rebuilds(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "novelty.npz"
    path.write_bytes(content)
    with pytest.raises(IndexMismatch):
        NoveltyIndex.load(path)
    assert NoveltyIndex.open(path, [("p1", vector(1))]).nearest(vector(1))[0] == "p1"


def test_opening_rebuilds_where_the_saved_ids_are_not_the_members(tmp_path: Path) -> None:
    path = tmp_path / "novelty.npz"
    filled(1, 2).save(path)
    assert len(NoveltyIndex.open(path, [(f"p{n}", vector(n)) for n in (1, 2)])) == 2
    more = NoveltyIndex.open(path, [(f"p{n}", vector(n)) for n in (2, 3, 4)])
    assert len(more) == 3 and "p1" not in more
    assert len(NoveltyIndex.open(tmp_path / "absent.npz", [])) == 0


def test_the_bonus_falls_linearly_between_its_bounds() -> None:
    assert [bonus(similarity) for similarity in (-1.0, 0.45, 0.55, 0.65, 1.0)] == pytest.approx(
        [1, 1, 0.5, 0, 0]
    )
