"""The live half of `envolve serve`: a run that grows its pool while a trainer elsewhere learns on it.

Invariant: it is an ordinary run of the preset `serve` (or of another file that enables the section of that name), so
what is said here is said as `section.key=value`; nothing is decided that `envolve run` could not be told.
"""

from __future__ import annotations

import os

from cluster.cli.run import run
from envpool.exchange.service.messages import TOKEN_VARIABLE

PRESET = "serve"


def serve_run(
    overrides: list[str], *, config: str = PRESET, endpoint: str = "", model: str = "", policy: str = "",
    host: str = "", port: int | None = None, plain: bool = False, detach: bool = False,
) -> None:  # fmt: skip
    """Start, resume or join such a run; what is empty stays as the configuration has it."""
    given = {
        "policy.endpoint": endpoint,
        "policy.model": model,
        "policy.name": policy,
        "serve.host": host,
        "serve.port": "" if port is None else str(port),
        # The name of the variable, whose value is no part of a configuration.
        "serve.token_env": TOKEN_VARIABLE if os.environ.get(TOKEN_VARIABLE) else "",
    }
    said = [f"{key}={value}" for key, value in given.items() if value]
    run([*said, *overrides], config=config, plain=plain, detach=detach)
