"""The configuration of a run: all sections together, and what follows from them.

Invariant: a value that reaches an actor has passed these models; unknown keys are refused with the nearest
right one. Derived values (paths, resource counts) are properties, not keys. The keys are in `cluster.sections`, how
they must agree in `cluster.agreement`; reading presets and overrides is `cluster.resolve`'s work.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pydantic import Field, model_validator

from cluster.agreement import check
from cluster.sections.evolving import (
    AdmissionConfig,
    BricksConfig,
    ComposeConfig,
    ComposerConfig,
    CurationConfig,
    GeneratorConfig,
    GrammarConfig,
    NoveltyConfig,
    PoolConfig,
    ReviewConfig,
    WriterConfig,
)
from cluster.sections.learning import (
    EvaluationConfig,
    LearnerConfig,
    PolicyConfig,
    RewardConfig,
    RunConfig,
    ServeConfig,
    SolverConfig,
)
from cluster.sections.operating import (
    AlarmsConfig,
    MetricsConfig,
    SandboxConfig,
    SupervisionConfig,
)
from cluster.sections.section import Section
from envpool.exchange.brought import brought
from envpool.shipped import Shipped, shipped


class Config(Section):
    """A whole run. Every key can be overridden on the command line as `section.key=value`."""

    preset: str = Field("", description="set by the loader")
    run: RunConfig = RunConfig()
    policy: PolicyConfig = PolicyConfig()
    solver: SolverConfig = SolverConfig()
    learner: LearnerConfig = LearnerConfig()
    sandbox: SandboxConfig = SandboxConfig()
    generator: GeneratorConfig = GeneratorConfig()
    writer: WriterConfig = WriterConfig()
    grammar: GrammarConfig = GrammarConfig()
    compose: ComposeConfig = ComposeConfig()
    composer: ComposerConfig = ComposerConfig()
    admission: AdmissionConfig = AdmissionConfig()
    review: ReviewConfig = ReviewConfig()
    novelty: NoveltyConfig = NoveltyConfig()
    curation: CurationConfig = CurationConfig()
    pool: PoolConfig = PoolConfig()
    bricks: BricksConfig = BricksConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    serve: ServeConfig = ServeConfig()
    reward: RewardConfig = RewardConfig()
    supervision: SupervisionConfig = SupervisionConfig()
    alarms: AlarmsConfig = AlarmsConfig()
    metrics: MetricsConfig = MetricsConfig()

    @property
    def run_folder(self) -> Path:
        """The absolute folder of this run; solvers and learners of all nodes must see it."""
        return self.run.folder.expanduser().resolve() / self.run.name

    @property
    def policy_folder(self) -> Path:
        """Where the weights and checkpoints of the actor's policy lie."""
        return self.run_folder / "policies" / self.policy.name if self.policy.attached else self.run_folder

    @property
    def pool_folder(self) -> Path:
        """Where the pool's LMDB lies, on the head node."""
        folder = self.pool.folder
        return folder.expanduser().resolve() / self.run.name if folder else self.run_folder / "pool"

    def replica_folder(self, node: str) -> Path:
        """Where a node's replica of the pool lies; several Ray nodes may share a machine."""
        folder = self.pool.replica_folder or Path(tempfile.gettempdir()) / f"envolve-{os.getuid()}"
        return folder.expanduser().resolve() / self.run.name / node[:12]

    def own(self, name: str) -> str:
        """The name, of an actor or of a piece of state, that belongs to this actor's policy."""
        return f"{self.policy.name}.{name}" if self.policy.attached else name

    @property
    def policy_writes(self) -> bool:
        """Whether the actor's policy writes environments, not a model in its place."""
        return (
            self.generator.enabled and self.asks_policy and (self.policy.attached or not self.writer.endpoint)
        )

    @property
    def asks_policy(self) -> bool:
        """Whether the run's own policy can be asked from here: a trainer elsewhere need not let it."""
        return self.policy.attached or not self.serve.enabled or bool(self.policy.endpoint)

    @property
    def trains_on_proposals(self) -> bool:
        """Whether what the actor's policy writes goes to a learner here."""
        return self.generator.train and (self.policy.attached or not self.serve.enabled)

    def programs(self) -> list[Shipped]:
        """The programs that the run's pool begins with. Raises UnknownProgram, TooFewBricks, NotBrought."""
        pool = self.pool
        others = brought(pool.imports)
        return shipped(pool.seeds, pool.bricks, pool.held_out, self.bricks.subset, self.run.seed, others)

    @property
    def composes(self) -> bool:
        """Whether composites are made while the run goes."""
        return self.composer.enabled and self.compose.mode != "single"

    @property
    def reviews(self) -> bool:
        """Whether what a policy wrote is reviewed: by another model, or by the run's own where that can be asked."""
        return self.review.enabled and (self.asks_policy or self.review.by not in ("", self.policy.name))

    @property
    def namespace(self) -> str:
        """The Ray namespace that the run's named actors live in."""
        return f"envolve-{self.run.name}"

    @property
    def reviews_itself(self) -> bool:
        """Whether the run's own policy reviews what policies wrote."""
        return self.review.enabled and self.asks_policy and self.review.by in ("", self.policy.name)

    @model_validator(mode="after")
    def _sections_agree(self) -> Config:
        check(self)
        return self
