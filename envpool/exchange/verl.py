"""A pool as a data set for verl: `train.parquet`, `test.parquet`, `envolve_reward.py`, and the pool itself.

    data_source    envolve/train, envolve/held_out_questions or envolve/held_out_families: verl reports each by itself
    prompt         what opens each conversation, if anything does, and the question as the user's message
    ability        the member's family or maker, or the operator of a composite
    reward_model   style "rule"; ground_truth: a right answer, as it stands between the tags
    extra_info     index, split, member, level, lineage, licence, the pool's fingerprint, `scoring` (with the recipe)

The splits are those of `gathering`; the two that are held out are in `test.parquet`. `scoring` is what the reward
function judges by, so that no question is drawn again in verl's reward workers; `ground_truth` is for people. verl
itself is not imported here.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from envpool.contract import Instance
from envpool.exchange.gathering import Gathering, Split
from envpool.exchange.instances import answer_of, plain
from envpool.exchange.provenance import licence_of, lineage_of
from envpool.exchange.snapshot import write_snapshot
from envpool.members import Composite, Member
from envpool.pool import Pool

Message = Mapping[str, str]
"""A turn of a conversation: role and content."""
FILES: Mapping[str, tuple[Split, ...]] = {
    "train.parquet": ("train",),
    "test.parquet": ("held_out_questions", "held_out_families"),
}
REWARD_FILE = "envolve_reward.py"
REWARD = '''\
"""The reward function of this export: reward.custom_reward_function.path is this file, its name compute_score."""

from pathlib import Path

from envpool.exchange.verl_reward import rewards_of

PACKAGES = {packages!r}  # where a package that members import lies on this machine: "name=path"
compute_score = rewards_of(Path(__file__).resolve().parent, PACKAGES).compute_score
'''
TOLD = {
    "data.train_files": "train.parquet",
    "data.val_files": "test.parquet",
    "reward.custom_reward_function.path": REWARD_FILE,
}
"""What verl is told, and the file that it means."""
_TEXT, _NUMBER = pyarrow.string(), pyarrow.int64()
SCHEMA = pyarrow.schema({
    "data_source": _TEXT,
    "prompt": pyarrow.list_(pyarrow.struct({"role": _TEXT, "content": _TEXT})),
    "ability": _TEXT,
    "reward_model": pyarrow.struct({"style": _TEXT, "ground_truth": _TEXT}),
    "extra_info": pyarrow.struct({
        "index": _NUMBER,
        "split": _TEXT,
        "member": _TEXT,
        "level": _NUMBER,
        "lineage": _TEXT,
        "licence": _TEXT,
        "fingerprint": _TEXT,
        "scoring": _TEXT,
    }),
})  # fmt: skip
"""Columns as verl reads them; `lineage` and `scoring` are JSON, because a column of Parquet has one type."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    counts: Mapping[Split, int]
    left_out: Mapping[str, int]
    """Draws that were passed over, by the member whose program broke on them."""


def export(
    pool: Pool,
    folder: Path,
    counts: Mapping[Split, int],
    *,
    seed: int = 0,
    level: int | None = None,
    packages: Sequence[str] = (),
    opening: Sequence[Message] = (),
    tell: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Writes the four files into a folder that exists; `tell` hears how many questions there are so far.

    The same members, levels and seed give the same rows; where the pool has fewer questions there are fewer. The reward
    function gets `packages`; `opening` stands before each question. Raises SandboxUnavailable, InfrastructureFault,
    OSError.
    """
    gathering = Gathering(pool, seed, level)
    written: dict[Split, int] = {}
    for name, splits in FILES.items():
        found: list[dict[str, Any]] = []
        for split in splits:
            before, done = len(found), sum(written.values())
            for row in rows(pool, gathering.take(split, counts.get(split, 0)), split, before, opening):
                found.append(row)
                tell(done + len(found) - before)
            written[split] = len(found) - before
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(found, schema=SCHEMA), folder / name)
    write_snapshot(folder, pool.snapshot.members.values(), pool.snapshot.levels, pool.snapshot.provenance)
    (folder / REWARD_FILE).write_text(REWARD.format(packages=tuple(packages)), encoding="utf-8")
    return Exported(written, dict(gathering.left_out))


def rows(
    pool: Pool, instances: Iterable[Instance], split: Split, first: int = 0, opening: Sequence[Message] = ()
) -> Iterator[dict[str, Any]]:
    """A row an instance, in order, their indices from `first` on."""
    fingerprint, unsaid = pool.fingerprint, pool.snapshot.provenance.licence
    for index, instance in enumerate(instances, first):
        member = pool.get(instance.recipe.member)
        yield {
            "data_source": f"envolve/{split}",
            "prompt": [*opening, {"role": "user", "content": instance.prompt}],
            "ability": _ability(member),
            "reward_model": {"style": "rule", "ground_truth": answer_of(instance)},
            "extra_info": {
                "index": index,
                "split": split,
                "member": member.id,
                "level": instance.recipe.level,
                "lineage": json.dumps(lineage_of(member)),
                "licence": licence_of(member, pool.get, unsaid),
                "fingerprint": fingerprint,
                "scoring": json.dumps(plain(instance)),
            },
        }


def _ability(member: Member) -> str:
    material = member.material
    return material.operator if isinstance(material, Composite) else member.family or str(member.origin)
