"""A pool as a data set that lies still: a JSON Lines file a split, a card, and the pool itself.

    train.jsonl, held_out_questions.jsonl, held_out_families.jsonl    a question a line, with its answer
    README.md                                                         the card: splits, columns, licence, origin
    members.jsonl                                                     the programs that judge

The folder is what `datasets.load_dataset` of Hugging Face reads, and what its hub takes as it is; `Pool.open` opens it
as well. The splits are those of `gathering`. With `scoring`, which is in each line, `instance_of` makes a line an
instance again, whose responses the pool scores offline.
"""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from envpool.contract import Instance
from envpool.exchange.gathering import SPLITS, Gathering, Split
from envpool.exchange.instances import answer_of, instance_from, plain
from envpool.exchange.provenance import UNSAID, Provenance, licence_of, lineage_of
from envpool.exchange.snapshot import FILE, Snapshot, write_snapshot
from envpool.members import Composite, Member
from envpool.pool import Pool

CARD = "README.md"
_TEXT, _NUMBER = {"dtype": "string"}, {"dtype": "int64"}
_TEXTS = {"list": "string"}
FEATURES = [
    {"name": "id", **_TEXT},
    {"name": "prompt", **_TEXT},
    {"name": "answer", **_TEXT},
    {"name": "member", **_TEXT},
    {"name": "name", **_TEXT},
    {"name": "kind", **_TEXT},
    {"name": "level", **_NUMBER},
    {"name": "answer_types", **_TEXTS},
    {
        "name": "lineage",
        "struct": [{"name": "origin", **_TEXT}, {"name": "parents", **_TEXTS}, {"name": "parts", **_TEXTS}],
    },
    {"name": "licence", **_TEXT},
    {"name": "fingerprint", **_TEXT},
    {"name": "scoring", **_TEXT},
]
"""Columns. `scoring` is JSON, because values of different members have different types."""
MEANING: Mapping[Split, str] = {
    "train": "to be trained on",
    "held_out_questions": "other questions of the same members, from the held-out side of the split",
    "held_out_families": "of members that are set apart whole",
}
TEXT = """---
{head}---

# A pool of Envolve as a data set

| split | questions | |
| --- | --- | --- |
{splits}

Out of {members} members{source}; {levels}. Fingerprint of the pool: `{fingerprint}`.
Licences of the members: {licences}; each line says its own. Written by Envolve {envolve}, {created}.

`prompt` is what a solver sees, `answer` what a right response holds between `<answer>` and `</answer>`. Where several
answers are right it is one of them, so compare by the programs that judge, which are in `{file}`:

```python
from datasets import load_dataset

from envpool import Pool
from envpool.exchange.jsonl import instance_of

row = load_dataset("FOLDER", split="train")[0]
with Pool.open("FOLDER") as pool:
    print(pool.score(instance_of(row), f"<answer>{{row['answer']}}</answer>"))
```
"""


@dataclass(frozen=True, slots=True)
class Written:
    """What an export holds."""

    counts: Mapping[Split, int]
    left_out: Mapping[str, int]
    """Draws that were passed over, by the member whose program broke on them."""


def write_jsonl(
    pool: Pool,
    folder: Path,
    counts: Mapping[Split, int],
    *,
    seed: int = 0,
    level: int | None = None,
    tell: Callable[[int], None] = lambda _: None,
) -> Written:
    """Writes the files into a folder that exists; `tell` hears of each question. The same seed, the same lines.

    A split that nothing is wanted of, or that has nothing, has no file. Raises SandboxUnavailable, InfrastructureFault,
    OSError.
    """
    gathering = Gathering(pool, seed, level)
    written: Counter[Split] = Counter()
    for split in SPLITS:
        questions = gathering.take(split, counts.get(split, 0))
        if (first := next(questions, None)) is None:
            continue
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8") as file:
            for instance in itertools.chain([first], questions):
                file.write(json.dumps(line(pool, instance)) + "\n")
                written[split] += 1
                tell(written.total())
    write_snapshot(folder, pool.snapshot.members.values(), pool.snapshot.levels, pool.snapshot.provenance)
    (folder / CARD).write_text(card(pool.snapshot, written, level), encoding="utf-8")
    return Written(dict(written), dict(gathering.left_out))


def line(pool: Pool, instance: Instance) -> dict[str, Any]:
    """An instance as it is written, with where it comes from."""
    member = pool.get(instance.recipe.member)
    return {
        "id": instance.recipe.key(),
        "prompt": instance.prompt,
        "answer": answer_of(instance),
        "member": member.id,
        "name": _name(member),
        "kind": member.kind,
        "level": instance.recipe.level,
        "answer_types": list(instance.answer_types),
        "lineage": lineage_of(member),
        "licence": licence_of(member, pool.get, pool.snapshot.provenance.licence),
        "fingerprint": pool.fingerprint,
        "scoring": json.dumps(plain(instance)),
    }


def instance_of(row: Mapping[str, Any]) -> Instance:
    """The instance of a line, to be scored by a pool that has its member."""
    return instance_from(json.loads(row["scoring"]), row["prompt"])


def card(snapshot: Snapshot, counts: Mapping[Split, int], level: int | None = None) -> str:
    """The card of the data set, asked at the pool's own levels or at `level`: its head is what Hugging Face reads."""
    licences = {
        licence_of(snapshot.members[id], snapshot.members.__getitem__, snapshot.provenance.licence)
        for id in snapshot.levels
    }
    head = {
        "license": licences.copy().pop().lower() if len(licences) == 1 and UNSAID not in licences else "other",
        "tags": ["reinforcement-learning", "reasoning", "verifiable", "envolve"],
        "configs": [{
            "config_name": "default",
            "data_files": [{"split": split, "path": f"{split}.jsonl"} for split in counts],
        }],
        "dataset_info": {"config_name": "default", "features": FEATURES},
    }  # fmt: skip
    said = snapshot.provenance
    return TEXT.format(
        head=yaml.safe_dump(head, sort_keys=False),
        splits="\n".join(f"| {split} | {count:,} | {MEANING[split]} |" for split, count in counts.items()),
        members=len(snapshot.levels),
        source=_source(said),
        levels=_levels(snapshot, level),
        fingerprint=snapshot.fingerprint,
        licences=", ".join(sorted(licences)),
        envolve=said.envolve,
        created=said.created,
        file=FILE,
    )


def _source(said: Provenance) -> str:
    """Where the pool is from, as the card goes on; empty where no run is named."""
    if not said.run:
        return ""
    return f" of {said.run} at step {said.step}" if said.policy else f" of {said.run}"


def _levels(snapshot: Snapshot, level: int | None) -> str:
    """Which levels the questions have."""
    if level is not None:
        return f"programs were asked at level {level}"
    if len(found := set(snapshot.levels.values())) == 1:
        return f"all levels are {found.pop()}"
    policy = snapshot.provenance.policy
    return f"levels are those of the policy {policy}" if policy else "levels are the lowest of each member"


def _name(member: Member) -> str:
    material = member.material
    return f"{material.operator}-{material.size}" if isinstance(material, Composite) else material.name
