"""The command line `envolve`: run, look, judge, add. Each command a file; errors of the user end with one line.

Invariant: a command that only looks opens the pool's files read-only and needs no running cluster.
"""

from cluster.cli.app import app

__all__ = ["app"]
