"""A pool as a verifiers taskset (v1, verifiers 0.4): endless tasks, scored in the sandbox.

`source` says where from: the URL of a service (`envolve serve`), and then the pool evolves by what is answered; or a
run's or pool's folder, or a snapshot, and then it stays as it is and nothing is counted.

    import verifiers.v1 as vf
    from envpool.exchange.verifiers_taskset import PoolTaskConfig, PoolTaskset, PoolTasksetConfig

    config = PoolTasksetConfig(task=PoolTaskConfig(source="http://127.0.0.1:8321"))
    for task in PoolTaskset(config).take(8):
        print(task.data.prompt)

Invariants: a task is its recipe, so it is scored wherever its data travels, and no reference answer travels with it. A
trace is counted once, however often it is scored: its id names the request. Without a verdict there is an error on the
trace, which trainers drop, and no reward. A package that verifiers loads by its id is made by
`envolve export verifiers`.
"""

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from envpool.contract import Recipe, Unparsed
from envpool.exchange.rewards import reward_of
from envpool.exchange.task_sources import source_of


class PoolData(vf.TaskData):
    """One question."""

    recipe: dict[str, Any]
    """What it is rebuilt from."""
    family: str = ""
    """Members of one family ask alike."""
    provenance: dict[str, Any] = Field(default_factory=dict)
    """The pool's fingerprint, the member's licence and lineage; of a service, its URL."""


class PoolTaskConfig(vf.TaskConfig):
    """Read where tasks are made, and where they are scored."""

    source: str = ""
    """URL of a service, a run's or pool's folder, or a snapshot (`members.jsonl` or its folder)."""
    client: str = "verifiers"
    """Name in the service's status. Traces are counted once for each name."""
    token_env: str = "ENVOLVE_TOKEN"
    """Environment variable that holds the service's token, where it asks for one."""
    patience: float = 300.0
    """Seconds that a service may be away before a request to it is an error."""
    packages: tuple[str, ...] = ()
    """Of a folder or a snapshot: where a package lies that members import and that is not installed, "name=path"."""


class PoolTask(vf.Task[PoolData, vf.State, PoolTaskConfig]):
    """A question and its verdict."""

    @property
    def key(self) -> str:
        """The recipe: the same question wherever it comes in the stream."""
        return Recipe.from_dict(self.data.recipe).key()

    @vf.reward
    async def verdict(self, trace: vf.Trace) -> float:
        """In [0, 1]; 0 where no answer could be read. Raises NoVerdict, ServiceError."""
        recipe, source = Recipe.from_dict(self.data.recipe), source_of(self.config)
        outcome = await source.score(recipe, trace.last_reply, trace.id)
        reward = reward_of(outcome)
        trace.record_metric("parsed", float(not isinstance(outcome, Unparsed)))
        trace.record_metric("solved", float(reward == 1.0))
        return reward


class PoolTasksetConfig(vf.TasksetConfig):
    """Which tasks."""

    task: PoolTaskConfig = PoolTaskConfig()
    seed: int = 0
    """Of a folder or a snapshot: the same seed asks the same questions. A service has seeds of its own."""
    held_out: bool = False
    """Questions that are set apart for evaluation; of a folder or a snapshot alone."""
    ahead: int = 1
    """Questions that a service is asked for at once; those that wait here do not follow the curriculum."""


class PoolTaskset(vf.Taskset[PoolTask, PoolTasksetConfig]):
    """The tasks, without end."""

    INFINITE = True

    def load(self) -> Iterator[PoolTask]:
        """Raises ServiceError; NoPool, StoreError, SnapshotError; NoQuestion."""
        config: PoolTasksetConfig = self.config
        source = source_of(config.task)
        for question in source.questions(config.seed, config.held_out, config.ahead):
            data = PoolData(
                id=question.recipe.key(),
                name=question.name,
                prompt=question.prompt,
                recipe=question.recipe.to_dict(),
                family=question.family,
                provenance=source.provenance(question.recipe.member),
            )
            yield PoolTask(data, config.task)
