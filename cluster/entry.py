"""What starts the command line: `envolve`, and `launch.py` for `envolve run`.

Invariant: Ctrl-C while the commands load, which takes a second, ends without a traceback and with the exit code of an
interrupt, as it does later. It knows no command.
"""

import sys

INTERRUPTED = 130
"""As a shell says it of a command that SIGINT ended."""


def main(*before: str) -> None:
    """The command line; `before` stands in front of what was typed."""
    try:
        from cluster.cli import app
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    app([*before, *sys.argv[1:]], prog_name="envolve")
