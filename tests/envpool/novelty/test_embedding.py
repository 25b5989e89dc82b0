import numpy as np
import pytest

from envpool.novelty import Embedder, LocalNovelty
from envpool.novelty.embedding import DIMENSION

COUNT = ("Count the even numbers of the list.", "def solve(self, x):\n    return sum(n % 2 == 0 for n in x)")
REWORDED = (
    "How many numbers of the list are even?",
    "def solve(self, xs):\n    return len([v for v in xs if v % 2 == 0])",
)
GRAPH = (
    "Give the shortest path between two nodes of a weighted graph.",
    "def solve(self, x):\n    heap = [(0, 0)]\n    while heap:\n        d, v = heappop(heap)\n        relax(d, v)",
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def cosine(a: bytes, b: bytes) -> float:
    return float(np.frombuffer(a, "<f4") @ np.frombuffer(b, "<f4"))


def test_a_reworded_program_lies_nearer_than_another_task(embedder: Embedder) -> None:
    count, reworded, graph = embedder.programs([COUNT, REWORDED, GRAPH])
    assert cosine(count, count) == pytest.approx(1.0, abs=1e-5)
    assert cosine(count, reworded) > 0.7 > 0.5 > cosine(count, graph)
    assert len(count) == 4 * DIMENSION


def test_a_program_embeds_alike_alone_and_in_a_batch(embedder: Embedder) -> None:
    batch = embedder.programs([GRAPH, COUNT])
    assert cosine(embedder.program(*COUNT), batch[1]) == pytest.approx(1.0, abs=1e-4)


def test_text_beyond_one_window_still_counts(embedder: Embedder) -> None:
    long = "Count the even numbers of the list. " * 60
    tail = "Then give the shortest path between two nodes of a weighted graph. " * 60
    plain, longer, empty = embedder.texts([long, long + tail, ""])
    assert 0.5 < float(plain @ longer) < 0.98
    assert np.linalg.norm(empty) == pytest.approx(1.0, abs=1e-4)


async def test_local_novelty_finds_what_was_added(embedder: Embedder) -> None:
    novelty = LocalNovelty(embedder=embedder)
    id, similarity, embedding = await novelty.nearest(*COUNT)
    assert (id, similarity) == (None, 0.0)
    await novelty.add("p1", embedding)
    id, similarity, _ = await novelty.nearest(*COUNT)
    assert id == "p1" and similarity == pytest.approx(1.0, abs=1e-4)
