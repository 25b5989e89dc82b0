"""The hint for huge pages changes no byte and no answer, and is a hint: what cannot be had is not missed."""

import mmap

import numpy as np
import pytest

pytest.importorskip("faiss")

from envpool.novelty import huge_pages
from envpool.novelty.embedding import DIMENSION
from envpool.novelty.index import NoveltyIndex


def vectors(count: int) -> list[bytes]:
    drawn = np.random.default_rng(1).normal(size=(count, DIMENSION)).astype("<f4")
    return [row.tobytes() for row in drawn / np.linalg.norm(drawn, axis=1, keepdims=True)]


def test_what_the_memory_holds_stays_as_it_is() -> None:
    held = np.arange(3 * huge_pages.SIZE // 8, dtype=np.int64)
    huge_pages.ask_for(held.ctypes.data, held.nbytes)
    assert (held == np.arange(len(held))).all()


@pytest.mark.parametrize("length", [0, 1, huge_pages.SIZE - 1])
def test_less_than_a_page_is_left_alone(length: int) -> None:
    with mmap.mmap(-1, huge_pages.SIZE) as memory:
        memory.write(b"x" * length)
        huge_pages.ask_for(np.frombuffer(memory, np.uint8).ctypes.data, length)
        assert memory[:length] == b"x" * length


def test_an_index_that_grew_through_several_pages_one_by_one_finds_every_member() -> None:
    given = vectors(6_000)  # 9 MB
    index = NoveltyIndex()
    for place, vector in enumerate(given):
        index.add(str(place), vector)
    for place in range(0, len(given), 97):
        identity, similarity = index.nearest(given[place])
        assert identity == str(place) and similarity == pytest.approx(1)
        assert index.embedding(str(place)) == given[place]
