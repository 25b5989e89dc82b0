"""What `doctor` and the ladder say in a process of its own, as JSON; for `profiles.run_as`."""

import json
import logging
import sys
from typing import Any

from hostile import HONEST

from envpool.sandbox import Call, Sandbox, SandboxUnavailable
from envpool.sandbox.doctor import examine


class Lines(logging.Handler):
    """Keeps what the sandbox logs."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append((record.levelname, record.getMessage()))


def main(what: str, rung: str = "auto", allow: str = "") -> None:
    told = examine().to_dict() if what == "doctor" else _start(rung, bool(allow))
    sys.stdout.write(json.dumps(told))


def _start(rung: str, allow_unsafe: bool) -> dict[str, Any]:
    """A sandbox on a rung, one job, and what was said."""
    lines = Lines()
    log = logging.getLogger("envpool.sandbox")
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    try:
        with Sandbox(rung=rung, allow_unsafe=allow_unsafe) as sandbox:
            [result] = sandbox.run(HONEST, [Call("solve", ([1, 2],))])
            said = {"rung": sandbox.rung, "layers": sandbox.layers(), "value": result.value, "unsafe": result.unsafe}
    except SandboxUnavailable as error:
        said = {"refused": str(error), "missing": error.missing}
    return {**said, "log": lines.kept}
