"""What `envolve export jsonl` writes is what Hugging Face's own loader reads, and scores there as it does here."""

import json
from collections.abc import Iterator
from pathlib import Path

import datasets
import pytest
from exchanged import APART, members, write_members

from envpool import Pool
from envpool.contract import Scored
from envpool.exchange.gathering import SPLITS, Gathering
from envpool.exchange.jsonl import Written, card, instance_of, write_jsonl
from envpool.exchange.provenance import Provenance
from envpool.exchange.snapshot import Snapshot
from envpool.members import Member, Origin, Program
from envpool.split import is_held_out

COUNTS = {"train": 30, "held_out_questions": 10, "held_out_families": 6}


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture(scope="module")
def pool(found: dict[str, Member], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with Pool.open(write_members(tmp_path_factory.mktemp("small"), found)) as opened:
        yield opened


@pytest.fixture(scope="module")
def exported(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Written]:
    folder = tmp_path_factory.mktemp("exported")
    return folder, write_jsonl(pool, folder, COUNTS, seed=3, level=1)


@pytest.fixture(scope="module")
def loaded(exported: tuple[Path, Written], tmp_path_factory: pytest.TempPathFactory) -> datasets.DatasetDict:
    cache = tmp_path_factory.mktemp("cache")
    found = datasets.load_dataset(str(exported[0]), cache_dir=str(cache))
    assert isinstance(found, datasets.DatasetDict)
    return found


def test_the_loader_finds_every_split_and_column(loaded: datasets.DatasetDict) -> None:
    assert {name: split.num_rows for name, split in loaded.items()} == COUNTS
    assert all(split.column_names == loaded["train"].column_names for split in loaded.values())
    row = loaded["train"][0]
    assert row["prompt"].count("<answer>") == 1
    assert row["lineage"].keys() == {"origin", "parents", "parts"}


def test_the_answer_of_every_loaded_row_scores_one_in_the_exported_pool(
    exported: tuple[Path, Written], loaded: datasets.DatasetDict
) -> None:
    with Pool.open(exported[0]) as pool:
        for split in loaded.values():
            for row in split:
                instance = instance_of(row)
                assert pool.score(instance, f"<answer>{row['answer']}</answer>") == Scored(1.0)
                assert row["fingerprint"] == pool.fingerprint
        assert pool.build(instance.recipe) == instance


def test_splits_share_no_question_and_keep_to_their_side(
    loaded: datasets.DatasetDict, found: dict[str, Member]
) -> None:
    prompts = [row["prompt"] for split in loaded.values() for row in split]
    assert len(set(prompts)) == len(prompts)
    apart = found[APART].id
    assert {row["member"] for row in loaded["held_out_families"]} == {apart}
    assert apart not in {*loaded["train"]["member"], *loaded["held_out_questions"]["member"]}
    assert not any(is_held_out(instance_of(row)) for row in loaded["train"])
    assert all(is_held_out(instance_of(row)) for row in loaded["held_out_questions"])


def test_rows_say_where_they_come_from_and_under_which_licence(
    loaded: datasets.DatasetDict, found: dict[str, Member]
) -> None:
    rows = {row["member"]: row for row in loaded["train"]}
    sort = rows[found["sort"].id]
    assert (sort["name"], sort["kind"], sort["licence"]) == ("SORT-3", "composite", "Apache-2.0")
    assert sort["lineage"]["parts"] == list(found["sort"].parents)
    assert sort["level"] == 1


def test_the_same_seed_gives_the_same_lines_and_more_of_them_begin_alike(
    pool: Pool, exported: tuple[Path, Written], tmp_path: Path
) -> None:
    write_jsonl(pool, tmp_path, {"train": 12}, seed=3, level=1)
    again = (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert again == (exported[0] / "train.jsonl").read_text(encoding="utf-8").splitlines()[:12]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "members.jsonl", "train.jsonl"]


RUN = Provenance(run="night", policy="main", step=12)


@pytest.mark.parametrize(
    ("said", "levels", "asked", "line"),
    [
        (RUN, (0, 2), None, "of night at step 12; levels are those of the policy main."),
        (RUN, (0, 0), None, "of night at step 12; all levels are 0."),
        (RUN, (0, 2), 1, "of night at step 12; programs were asked at level 1."),
        (Provenance(run="shipped"), (0, 0), None, "of shipped; all levels are 0."),
        (Provenance(policy="main"), (0, 0), None, "members; all levels are 0."),
        (Provenance(), (0, 2), None, "members; levels are the lowest of each member."),
    ],
)
def test_the_card_says_which_levels_were_asked_and_whose_they_are(
    found: dict[str, Member], said: Provenance, levels: tuple[int, int], asked: int | None, line: str
) -> None:
    first, second = (found[name].id for name in ("inversion_count", "sort"))
    snapshot = Snapshot(
        {member.id: member for member in found.values()},
        dict(zip((first, second), levels, strict=True)),
        said,
    )
    assert line in card(snapshot, {"train": 3}, asked)


FEW = """
import random

from envpool import Environment


class Few(Environment):
    rule = "Double the input number."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(0, 3)

    def solve(self, x: int) -> int:
        return 2 * x
"""


def test_a_pool_with_few_questions_gives_those_and_ends(tmp_path: Path) -> None:
    few = Member(Program(FEW, "Few", "Double the input number.", "int", "int"), Origin.USER)
    with Pool.open(write_members(tmp_path, {"few": few})) as pool:
        gathering = Gathering(pool)
        asked = {split: list(gathering.take(split, 9)) for split in SPLITS}
    assert asked["held_out_families"] == []
    assert len(asked["train"]) + len(asked["held_out_questions"]) == 4


def test_a_member_that_breaks_is_left_out_and_named(found: dict[str, Member], tmp_path: Path) -> None:
    source = FEW.replace("return 2 * x", "return 1 // 0")
    broken = Member(Program(source, "Few", "Double the input number.", "int", "int"), Origin.USER)
    small = {"broken": broken, "inversion_count": found["inversion_count"]}
    with Pool.open(write_members(tmp_path, small)) as pool:
        written = write_jsonl(pool, tmp_path, {"train": 8})
    assert written.counts == {"train": 8}
    assert written.left_out[broken.id] > 0
    lines = (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["member"] for line in lines} == {found["inversion_count"].id}
