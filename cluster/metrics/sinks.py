"""Which sinks a run has, by its configuration."""

from __future__ import annotations

from collections.abc import Callable

from cluster.config import Config
from cluster.metrics.jsonl import JsonlSink
from cluster.metrics.prometheus import PrometheusSink
from cluster.metrics.tensorboard import TensorBoardSink
from cluster.metrics.wandb import WandbSink
from cluster.metrics.writer import Failed, Opener, Writer

LINES = "metrics.jsonl"


def writer_for(config: Config, failed: Failed) -> Writer:
    """The run's writer, with its sinks being opened. `failed` is told of each that breaks, on any thread."""
    return Writer({LINES: lambda: JsonlSink(config.run_folder / LINES)}, _others(config), failed)


def _others(config: Config) -> dict[str, Opener]:
    metrics, folder = config.metrics, config.run_folder
    found: dict[str, Callable[[], PrometheusSink | TensorBoardSink | WandbSink]] = {}
    if metrics.prometheus:
        found["prometheus"] = lambda: PrometheusSink(config.run.name, config.policy.name)
    if metrics.tensorboard:
        found["tensorboard"] = lambda: TensorBoardSink(folder / "tensorboard")
    if (mode := metrics.wandb) != "off":
        found["wandb"] = lambda: WandbSink(
            folder, config.run.name, metrics.wandb_project, mode, config.model_dump(mode="json")
        )
    return dict(found)
