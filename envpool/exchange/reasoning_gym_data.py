"""The classes that reasoning_gym makes its data sets of a pool from. `reasoning_gym_export` registers them.

A class of its own for each name, because reasoning_gym tells data sets apart by their classes alone.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
from reasoning_gym.dataset import ProceduralDataset

from envpool.exchange.draws import item_seed
from envpool.exchange.instances import answer_of, instance_from, plain, response_with
from envpool.exchange.provenance import licence_of, lineage_of
from envpool.exchange.scoring import Scoring

LEVELS = (0, 1, 2)
"""What the gates look at when they admit a program; the curriculum goes through them."""


class PoolData(ProceduralDataset):
    """Questions of a pool, or of one member; any index has one, whatever the size."""

    name: ClassVar[str]
    scoring: ClassVar[Scoring]

    def __init__(self, config: Any) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        pool, config = self.scoring.pool, self.config
        instance = pool.draw(
            item_seed(self.seed, idx),
            member=config.member or None,
            level=config.level,
            held_out=config.held_out,
        )
        member = pool.get(instance.recipe.member)
        return {
            "question": instance.prompt,
            "answer": answer_of(instance),
            "metadata": {
                "source_dataset": self.name,
                "source_index": idx,
                "difficulty": {"level": instance.recipe.level},
                "member": member.id,
                "lineage": lineage_of(member),
                "licence": licence_of(member, pool.get, pool.snapshot.provenance.licence),
                "fingerprint": pool.fingerprint,
                "scoring": plain(instance),
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """The verdict in [0, 1] on what stood between the tags, or on a whole response. Raises NoVerdict."""
        if not isinstance(answer, str):
            return 0.0
        instance = instance_from(entry["metadata"]["scoring"], entry["question"])
        return self.scoring.score(instance, response_with(answer))


def data_of(name: str, scoring: Scoring) -> type[PoolData]:
    """The data set of that name."""
    return type("PoolData", (PoolData,), {"name": name, "scoring": scoring})


def config_of(asked: str) -> type:
    """The configuration of the data set that asks one member, or with an empty id the pool."""

    @dataclass
    class PoolConfig:
        seed: int | None = None
        size: int = 500
        level: int | None = None  # of programs; None: where the run's policy stands
        held_out: bool = False  # questions that are never trained on, in place of those that may be
        member: str = asked

        def validate(self) -> None:
            """Raises AssertionError, as those of reasoning_gym do."""
            assert self.size > 0, "size must be positive"
            assert self.level is None or self.level >= 0, "level must be None or not negative"

    return PoolConfig


def curriculum_of(name: str, config: type) -> type[BaseCurriculum]:
    """Levels one after the other."""

    class PoolCurriculum(BaseCurriculum):
        def __init__(self) -> None:
            super().__init__(name, config)
            self._define_attributes(
                ScalarAttributeDefinition(
                    name="level", field_name="level", levels=list(LEVELS), description="Level of the programs"
                )
            )

    return PoolCurriculum
