"""The wanted state of a run: how many actors of each kind, which policies are attached, whether it is paused.

Invariant: it is data; the supervisor alone changes it, by the functions here, and keeps it in the pool, so that it
outlives every actor. A change that names an unknown kind or policy is refused with the nearest right one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from cluster.config import Config
from cluster.sections.evolving import WriterConfig
from cluster.sections.learning import PolicyConfig
from cluster.sections.section import Count, Seconds, Section
from cluster.spelling import BaseUrl, Variable

KEY = "wanted"
SCALABLE = ("sandbox", "solver", "composer", "generator")
MOST = 4096
WRITER = "writer"
"""The policy that the configuration's section of that name is."""
REPLY_TOKENS = 4096
"""Of a writer behind an endpoint, where nothing else is said."""
LONGEST_NAME = 64
"""Of a policy: it becomes part of folders, actors and keys of the pool."""


class WantedError(ValueError):
    """The wanted state cannot become what was asked for; the message names the way out."""


class PolicySpec(Section):
    """A policy that is attached to a run: a local model, or a model behind an endpoint. It solves, writes, or both."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=LONGEST_NAME)
    model: str = Field(min_length=1, description="packaged name, folder, hub name; or the endpoint's model")
    endpoint: BaseUrl = Field("", description="base URL of an OpenAI-compatible server")
    key_env: Variable = Field("", description="environment variable that holds the endpoint's key")
    trainable: bool = False
    solves: bool = Field(True, description="it is asked the pool's questions, and each member keeps how it did")
    writes: bool = Field(False, description="it writes environments")
    max_tokens: Annotated[int, Field(ge=0)] = Field(
        0, description=f"longest reply when it writes; 0: {REPLY_TOKENS} behind an endpoint, else generator.max_tokens"
    )
    gpus: Annotated[float, Field(ge=0)] = Field(0.0, description="of each solver")
    solvers: Annotated[int, Field(ge=1, le=MOST)] = 1
    concurrency: Count = Field(16, description="requests to an endpoint at once")
    timeout_seconds: Seconds = Field(120.0, description="of one try of a request to an endpoint")
    retries: Annotated[int, Field(ge=0)] = Field(5, description="of such a request, with back-off")

    @property
    def counts(self) -> dict[str, int]:
        """Its actors that can be scaled."""
        writers = {f"{self.name}.generator": 1} if self.writes else {}
        return {f"{self.name}.solver": self.solvers, **writers}

    @model_validator(mode="after")
    def _kinds_agree(self) -> PolicySpec:
        if not (self.solves or self.writes):
            raise ValueError("a policy that neither solves nor writes has nothing to do")
        if self.trainable and not self.solves:
            raise ValueError("a policy that is trained learns from what it solves: it cannot only write")
        if self.endpoint and (self.trainable or self.gpus):
            raise ValueError("a model behind an endpoint has no weights here: neither trainable nor gpus")
        return self


class Wanted(Section):
    """What the supervisor brings about."""

    counts: dict[str, int]
    policies: tuple[PolicySpec, ...] = ()
    paused: bool = False
    configured: dict[str, int] = Field(description="the counts of the configuration it was last begun with")
    writer: PolicySpec | None = Field(None, description="the writer of that configuration, also if it is detached")
    known: dict[str, str] = Field(
        default_factory=dict, description="what model each attached policy ever was"
    )

    def policy(self, name: str) -> PolicySpec:
        """An attached policy. Raises WantedError."""
        found = {spec.name: spec for spec in self.policies}
        if name not in found:
            raise WantedError(f"no policy {name!r} is attached{_nearest(name, found)}")
        return found[name]


def first(config: Config) -> Wanted:
    """As the configuration says; the policy of a trainer elsewhere is asked only where it has an endpoint."""
    counts = {kind: getattr(config, kind).count for kind in SCALABLE}
    if not config.asks_policy:
        del counts["solver"]
    return _written_by(Wanted(counts=counts, configured=counts), _configured_writer(config))


def kept(state: Mapping[str, Any] | None, config: Config) -> Wanted:
    """As the pool keeps it, or as the configuration says."""
    return Wanted.model_validate(state) if state else first(config)


def begun(wanted: Wanted, config: Config) -> Wanted:
    """A run is taken up: counts and a writer that the configuration changed since win, all else stays."""
    now = first(config)
    changed = {kind: count for kind, count in now.configured.items() if wanted.configured.get(kind) != count}
    kept = {kind: count for kind, count in wanted.counts.items() if kind in now.configured or "." in kind}
    wanted = wanted.model_copy(update={"counts": kept | changed, "configured": now.configured})
    return wanted if wanted.writer == now.writer else _written_by(wanted, now.writer)


def scaled(wanted: Wanted, counts: Mapping[str, int]) -> Wanted:
    """Other counts; kinds that are not named stay. Raises WantedError."""
    for kind, count in counts.items():
        if kind not in wanted.counts:
            raise WantedError(f"{kind!r} cannot be scaled{_nearest(kind, wanted.counts)}")
        if not 1 <= count <= MOST:
            raise WantedError(f"{kind}={count}: a count lies between 1 and {MOST}")
    return wanted.model_copy(update={"counts": wanted.counts | dict(counts)})


def attached(wanted: Wanted, spec: Mapping[str, Any], config: Config) -> Wanted:
    """With another policy; the same one again changes nothing. Raises WantedError."""
    try:
        policy = PolicySpec.model_validate(spec)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors())
        raise WantedError(f"policy {spec.get('name')!r}: {faults}") from error
    if policy in wanted.policies:
        return wanted
    if policy.name == WRITER:
        raise WantedError(f"{WRITER!r} is the writer that the configuration names; choose another name")
    if policy.name in {config.policy.name, *(known.name for known in wanted.policies)}:
        raise WantedError(
            f"there is a policy {policy.name!r} already; detach it first, or choose another name"
        )
    model = f"{policy.model} at {policy.endpoint}" if policy.endpoint else policy.model
    if (before := wanted.known.get(policy.name, model)) != model:
        raise WantedError(
            f"policy {policy.name!r} was {before}: its statistics would be mixed with those of {model}; "
            "choose another name"
        )
    _refuse_unfit(config, policy)
    return _joined(wanted, policy).model_copy(update={"known": wanted.known | {policy.name: model}})


def detached(wanted: Wanted, name: str, config: Config) -> Wanted:
    """Without a policy; its statistics stay in the pool. Raises WantedError."""
    if name == config.policy.name:
        raise WantedError(f"{name!r} is the run's own policy; `envolve stop` ends the run")
    wanted.policy(name)
    return _without(wanted, name)


def for_policy(config: Config, spec: PolicySpec) -> Config:
    """The configuration that the actors of an attached policy get: its model, and all else as the run's own.

    It writes environments only where it is to, earns a gradient for them only where it is trained, and no grammar does.
    """
    policy = PolicyConfig(
        **{
            **config.policy.model_dump(exclude={"endpoint", "key_env"}),
            "name": spec.name,
            "model": spec.model,
            "attached": True,
        }
    )
    solver = config.solver.model_copy(update={"gpus": spec.gpus, "tensor_parallel": 1})
    learner = config.learner
    if spec.trainable:
        learner = learner.model_copy(update={"gpus": spec.gpus, "ranks": learner.ranks if spec.gpus else 1})
    tokens = spec.max_tokens or (REPLY_TOKENS if spec.endpoint else config.generator.max_tokens)
    train = config.generator.train and spec.trainable
    sections = {
        "policy": policy,
        "solver": solver,
        "learner": learner,
        "generator": config.generator.model_copy(
            update={"enabled": spec.writes, "train": train, "max_tokens": tokens}
        ),
        "writer": WriterConfig(endpoint=spec.endpoint, model=spec.model if spec.endpoint else ""),
        "grammar": config.grammar.model_copy(update={"enabled": False}),
    }
    return config.model_copy(update=sections)


def rows(wanted: Wanted, config: Config) -> list[dict[str, Any]]:
    """The run's own policy, then the attached ones: what each is, and how many solvers it is to have."""
    own = {
        "name": config.policy.name, "model": config.policy.model, "endpoint": config.policy.endpoint,
        "trainable": not config.serve.enabled, "solves": True, "writes": config.policy_writes,
    }  # fmt: skip
    return [
        {**own, "own": True, "solvers": wanted.counts.get("solver", 0)},
        *(
            {**spec.model_dump(mode="json"), "own": False, "solvers": wanted.counts[f"{spec.name}.solver"]}
            for spec in wanted.policies
        ),
    ]


def _configured_writer(config: Config) -> PolicySpec | None:
    """The policy that the section `writer` describes; none where it is empty, or nothing is to be written."""
    if not (config.generator.enabled and config.writer.endpoint):
        return None
    return PolicySpec(name=WRITER, solves=False, writes=True, **config.writer.model_dump())


def _written_by(wanted: Wanted, writer: PolicySpec | None) -> Wanted:
    """With this as the configured writer, and no other one."""
    wanted = _without(wanted, WRITER).model_copy(update={"writer": writer})
    return wanted if writer is None else _joined(wanted, writer)


def _joined(wanted: Wanted, policy: PolicySpec) -> Wanted:
    policies, counts = (*wanted.policies, policy), wanted.counts | policy.counts
    return wanted.model_copy(update={"policies": policies, "counts": counts})


def _without(wanted: Wanted, name: str) -> Wanted:
    counts = {kind: count for kind, count in wanted.counts.items() if not kind.startswith(f"{name}.")}
    rest = tuple(spec for spec in wanted.policies if spec.name != name)
    return wanted.model_copy(update={"policies": rest, "counts": counts})


def _refuse_unfit(config: Config, policy: PolicySpec) -> None:
    """What its actors would refuse is refused here. Raises WantedError."""
    try:
        Config.model_validate(for_policy(config, policy).model_dump())
    except ValidationError as error:
        faults = "; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())
        raise WantedError(f"policy {policy.name!r}: {faults}") from error


def _nearest(word: str, words: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(word, list(words), n=1, cutoff=0.4)
    names = ", ".join(words) or "there is none"
    return f"; did you mean {close[0]!r}?" if close else f" ({names})"
