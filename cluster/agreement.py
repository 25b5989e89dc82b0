"""How the sections of a configuration must agree: rules that no single key can hold, said before an actor meets them.

Invariant: each rule raises ValueError with the keys, their values and the way out. What one key may be is its type's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envpool.curation import CurationSettings
from envpool.sandbox import SandboxUnavailable
from envpool.sandbox.ladder import asked_for
from envpool.sandbox.packages import tops
from training.grpo.settings import rank_groups

if TYPE_CHECKING:
    from cluster.config import Config

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Where nobody but this machine's own users can listen or ask."""


def check(config: Config) -> None:
    """Raises ValueError for the first rule that does not hold."""
    CurationSettings(**config.curation.model_dump(), mode=config.compose.mode)
    rank_groups(config.learner.ranks, config.learner.ranks_per_node)
    for rule in (_sandbox, _room, _serving, _writer, _novelty, _admission, _reward, _composing, _pool):
        rule(config)


def _sandbox(config: Config) -> None:
    """A rung that a node can give, and packages by names that are some."""
    sandbox = config.sandbox
    try:
        asked_for(sandbox.rung, allow_unsafe=sandbox.allow_unsafe)
    except SandboxUnavailable as error:
        raise ValueError(f"sandbox.rung={sandbox.rung}: {error}") from None
    try:
        tops(sandbox.packages)
    except SandboxUnavailable as error:
        raise ValueError(f"sandbox.packages: {error}") from None


def _room(config: Config) -> None:
    room = config.policy.max_model_len
    for key, tokens in (
        ("policy.max_tokens", config.policy.max_tokens),
        ("generator.max_tokens", 0 if config.writer.endpoint else config.generator.max_tokens),
        ("review.max_tokens", config.review.max_tokens if config.reviews_itself else 0),
    ):
        if tokens >= room:
            raise ValueError(f"{key}={tokens} leaves no room for a prompt in policy.max_model_len={room}")


def _serving(config: Config) -> None:
    serve = config.serve
    if config.policy.endpoint and not serve.enabled:
        raise ValueError(
            f"policy.endpoint={config.policy.endpoint} is that of a trainer elsewhere: set serve.enabled=true, and "
            "the run has no learner. A model that only answers is attached (`envolve attach`); one that only "
            "writes is writer.endpoint"
        )
    if serve.enabled and serve.host not in LOCAL_HOSTS and not serve.token_env:
        raise ValueError(
            f"serve.host={serve.host} lets other machines ask: name the environment variable of the head node "
            "that holds the token they must send, serve.token_env=ENVOLVE_TOKEN"
        )


def _writer(config: Config) -> None:
    writer = config.writer
    if writer.endpoint and config.policy.name == "writer" and not config.policy.attached:
        raise ValueError("policy.name=writer is the name of the model at writer.endpoint; choose another")
    for key, lacking in (("endpoint", "model"), ("model", "endpoint")):
        if (given := getattr(writer, key)) and not getattr(writer, lacking):
            raise ValueError(f"writer.{key}={given} needs writer.{lacking}, too")


def _novelty(config: Config) -> None:
    if (low := config.novelty.bonus_low) >= (high := config.novelty.bonus_high):
        raise ValueError(f"novelty.bonus_low={low} is not below novelty.bonus_high={high}")


def _admission(config: Config) -> None:
    draws = config.admission.seeds_per_level * config.admission.levels
    if (distinct := config.admission.distinct_answers) > draws:
        raise ValueError(
            f"admission.distinct_answers={distinct} is more than all {draws} draws "
            "(admission.seeds_per_level x admission.levels)"
        )


def _reward(config: Config) -> None:
    if (parts := config.reward.validation + config.reward.quality + config.reward.novelty) > 1 + 1e-9:
        raise ValueError(
            f"reward.validation, reward.quality and reward.novelty are {parts:g} together, above 1"
        )


def _composing(config: Config) -> None:
    if config.compose.mode == "composed" and not config.composer.enabled:
        raise ValueError("compose.mode=composed trains on composites, and composer.enabled=false makes none")
    if config.compose.level >= (levels := config.admission.levels):
        raise ValueError(
            f"compose.level={config.compose.level} is a level that no program was tried at "
            f"(admission.levels={levels} tries 0 to {levels - 1})"
        )


def _pool(config: Config) -> None:
    pool, subset = config.pool, config.bricks.subset
    if subset != "all" and pool.bricks in ("none", ()):
        raise ValueError(f"bricks.subset={subset} is drawn from pool.bricks, which are none")
    if pool.seeds in ("none", ()) and pool.bricks in ("none", ()) and not pool.imports:
        raise ValueError("pool.seeds and pool.bricks are both 'none': there is nothing to train on")
