"""An exported pool in reasoning_gym's own hands: made by its factory, scored by its interface as by our pool."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import reasoning_gym
from exchanged import APART, members, write_members
from reasoning_gym.composite import CompositeConfig, DatasetSpec
from reasoning_gym.dataset import ReseedingDataset
from reasoning_gym.factory import create_curriculum, has_curriculum
from reasoning_gym.utils import extract_answer

from envpool import NoVerdict, Pool, reward_of
from envpool.async_pool import NoQuestion
from envpool.contract import Failed, Unparsed
from envpool.exchange.instances import instance_from
from envpool.exchange.reasoning_gym_export import data_sets, register, write_package
from envpool.exchange.snapshot import read_snapshot
from envpool.members import Member
from envpool.split import is_held_out

ROOT = Path(__file__).parents[3]
ITEMS = 1000
"""Of the round trip, over all data sets."""


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture(scope="module")
def folder(found: dict[str, Member], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("small")
    write_members(place, found)
    return place


@pytest.fixture(scope="module")
def pool(folder: Path) -> Iterator[Pool]:
    with Pool.open(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def names(folder: Path, pool: Pool) -> dict[str, str]:
    """Data sets by the member that they ask; the whole pool is the empty one."""
    register(folder, "small")
    return {id: name for name, id in data_sets(pool.snapshot, "small").items()}


def told_apart(answer: str, rng: random.Random) -> list[str | None]:
    """Responses of many kinds, of which the first is right."""
    wrong = [str(rng.randint(-99, 99)), "[]", "true", "zzz", "", "1: 3\n2: abc", "(1, 2)", "{}", "[1, 2, 3]"]
    return [answer, rng.choice(wrong), rng.choice([None, "I do not know", "\ud800", "<answer>", answer[:-1]])]


def test_a_thousand_items_score_as_our_pool_scores_them(pool: Pool, names: dict[str, str]) -> None:
    rng = random.Random(0)
    seen: Counter[float] = Counter()
    for number, name in enumerate(names.values()):
        data = reasoning_gym.create_dataset(name, seed=number, size=-(-ITEMS // len(names)))
        for entry in data:
            instance = instance_from(entry["metadata"]["scoring"], entry["question"])
            for answer in told_apart(entry["answer"], rng):
                theirs = data.score_answer(answer, json.loads(json.dumps(entry)))
                ours = (
                    reward_of(pool.score(instance, f"<answer>{answer}</answer>"))
                    if answer is not None
                    else 0.0
                )
                assert theirs == (ours if answer != "<answer>" else 0.0)
                seen[theirs] += 1
            assert data.score_answer(entry["answer"], entry) == 1.0
    assert sum(seen.values()) >= 3 * ITEMS
    assert seen[1.0] >= ITEMS
    assert seen[0.0] >= ITEMS


def test_a_whole_response_scores_as_what_is_extracted_of_it(names: dict[str, str]) -> None:
    data = reasoning_gym.create_dataset(names[""], seed=5, size=10)
    for entry in data:
        response = f"Well.\n<answer>\n{entry['answer']}\n</answer> That is all."
        assert data.score_answer(response, entry) == 1.0
        assert data.score_answer(extract_answer(response), entry) == 1.0


def test_items_of_neighbouring_seeds_do_not_overlap(names: dict[str, str], found: dict[str, Member]) -> None:
    name = names[found["inversion_count"].id]
    first, second = (reasoning_gym.create_dataset(name, seed=seed, size=6, level=2) for seed in (42, 43))
    assert not {each["question"] for each in first} & {each["question"] for each in second}
    assert first[3] == reasoning_gym.create_dataset(name, seed=42, size=99, level=2)[3]


def test_what_is_held_out_is_asked_only_where_that_is_wanted(
    pool: Pool, names: dict[str, str], found: dict[str, Member]
) -> None:
    trained = reasoning_gym.create_dataset(names[""], seed=1, size=12)
    kept = reasoning_gym.create_dataset(names[""], seed=1, size=12, held_out=True)
    apart = reasoning_gym.create_dataset(names[""], seed=1, size=2, member=found[APART].id, held_out=True)
    for data, held_out in ((trained, False), (kept, True), (apart, True)):
        for entry in data:
            instance = instance_from(entry["metadata"]["scoring"], entry["question"])
            member = pool.get(instance.recipe.member)
            assert (member.held_out or is_held_out(instance)) == held_out
    assert found[APART].id not in names, "no data set asks it by default"
    with pytest.raises(NoQuestion, match="set apart for evaluation"):
        reasoning_gym.create_dataset(names[""], seed=1, size=2, member=found[APART].id)[0]


def test_an_answer_that_is_not_closed_scores_as_with_us(pool: Pool, names: dict[str, str]) -> None:
    data = reasoning_gym.create_dataset(names[""], seed=6, size=3)
    for entry in data:
        instance = instance_from(entry["metadata"]["scoring"], entry["question"])
        unclosed = f"It is <answer>{entry['answer']}"
        assert pool.score(instance, unclosed) == Unparsed("unclosed")
        assert data.score_answer(unclosed, entry) == 0.0


def test_reasoning_gyms_own_wrappers_take_it(names: dict[str, str], found: dict[str, Member]) -> None:
    name = names[found["subset_sum"].id]
    both = reasoning_gym.create_dataset(
        "composite",
        seed=3,
        size=4,
        datasets=[DatasetSpec(name, 1.0, {}), DatasetSpec("chain_sum", 1.0, {})],
    )
    assert isinstance(both.config, CompositeConfig)
    assert {both.score_answer(entry["answer"], entry) for entry in both} == {1.0}
    endless = iter(ReseedingDataset(reasoning_gym.create_dataset(name, seed=3), chunk_size=2))
    assert len({next(endless)["question"] for _ in range(6)}) > 2


def test_a_curriculum_goes_through_the_levels(names: dict[str, str], found: dict[str, Member]) -> None:
    curriculum = create_curriculum(names[found["inversion_count"].id])
    lengths = []
    for level in range(3):
        config = curriculum.generate_configuration({"seed": 2, "size": 8})
        data = reasoning_gym.create_dataset(names[found["inversion_count"].id], **vars(config))
        assert {entry["metadata"]["difficulty"]["level"] for entry in data} == {level}
        lengths.append(sum(len(entry["question"]) for entry in data))
        curriculum.increment_global_level()
    assert lengths == sorted(lengths)
    assert not has_curriculum(names[found["sort"].id]), "a composite has one level"


def test_no_verdict_is_no_score(
    names: dict[str, str], found: dict[str, Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = reasoning_gym.create_dataset(names[found["graph_colouring"].id], seed=1, size=1)
    entry = data[0]
    monkeypatch.setattr(Pool, "score", lambda *_: Failed("infrastructure: gone", culprit="p1"))
    with pytest.raises(NoVerdict, match="infrastructure: gone"):
        data.score_answer(entry["answer"], entry)


def test_a_package_registers_its_data_sets_when_it_is_imported(folder: Path, tmp_path: Path) -> None:
    snapshot = read_snapshot(folder)
    names = write_package(snapshot, tmp_path, "night_pool")
    script = (
        "import reasoning_gym, night_pool\n"
        "data = reasoning_gym.create_dataset('night_pool', seed=1, size=2)\n"
        "print(night_pool.NAMES == " + repr(names) + ", data.score_answer(data[1]['answer'], data[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == ["True", "1.0"], done.stderr
