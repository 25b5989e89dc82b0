"""The second implementations that there are, by the name of the brick."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from envpool.bricks import read_bricks

Implementation = Callable[[Any], Any]

HERE = Path(__file__).parent
NAMES = tuple(name for name, _ in read_bricks())
TOPICS = sorted({name.partition("/")[0] for name in NAMES})


def _implemented() -> dict[str, Implementation]:
    written = [topic for topic in TOPICS if (HERE / f"{topic}.py").exists()]
    modules = [import_module(f"tests.envpool.second.{topic}") for topic in written]
    return {name: second for module in modules for name, second in module.IMPLEMENTATIONS.items()}


IMPLEMENTED = _implemented()
