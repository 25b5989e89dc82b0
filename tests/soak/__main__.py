"""`python -m tests.soak`: one sandbox through many jobs, most of them hostile, then what must have stayed flat.

Exits with 1 and names what did not.
"""

from __future__ import annotations

import argparse
import sys
import time

from envpool.sandbox import Sandbox
from tests.soak.footprint import table
from tests.soak.marathon import LIMITS, run


def main(arguments: list[str] | None = None) -> int:
    """Run one soak; 0 where all stayed flat."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=500, help="jobs between two looks at the footprint")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    start = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {text}", flush=True)

    with Sandbox(LIMITS) as sandbox:
        print(f"rung {sandbox.rung}: {', '.join(sandbox.layers())}", flush=True)
        outcome = run(sandbox, given.jobs, given.every, given.seed, tell)
    print(table(outcome.footprints))
    violations = outcome.violations()
    for text in violations[:50]:
        print(f"VIOLATED {text}")
    print(f"{len(violations)} violations" if violations else "all stayed flat")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
