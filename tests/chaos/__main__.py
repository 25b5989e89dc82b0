"""`python -m tests.chaos`: kill a simulated run's processes at random for a time, then check what must always hold.

Exits with 1 and names what does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.harness import Chaos, Outcome, Plan
from tests.runs import descendants, ending_what_is_left, left_of


def main(arguments: list[str] | None = None) -> int:
    """Run one plan; 0 where everything held."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two strokes")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keeps the run's folder there; else a temporary one")
    parser.add_argument("--alone", action="store_true", help="no second policy joins")
    given = parser.parse_args(arguments)
    for name, value in (
        ("RAY_AUTH_MODE", "disabled"),
        ("RAY_USAGE_STATS_ENABLED", "0"),
        ("RAY_memory_monitor_refresh_ms", "0"),
    ):
        os.environ.setdefault(name, value)
    folder = given.folder or Path(tempfile.mkdtemp(prefix="chaos-"))
    plan = Plan(60 * given.minutes, given.every, given.nodes, given.seed, folder.resolve(), not given.alone)
    with ending_what_is_left():
        before = set(descendants())
        outcome = Chaos(plan, lambda text: print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)).execute()
        outcome.violations.extend(f"left behind: {process}" for process in left_of(before))
    print(report(outcome), flush=True)
    print(f"the run's folder: {outcome.config.run_folder}")
    return 1 if outcome.violations else 0


def report(outcome: Outcome) -> str:
    """Kills, outages, figures and violations, in lines."""
    tally = outcome.tally
    lines = [f"{'kind':<20} {'kills':>6} {'back':>6} {'median s':>9} {'longest s':>10}"]
    for kind, kills in sorted(tally.kills.items()):
        times = sorted(tally.seconds.get(kind, [0.0]))
        lines.append(
            f"{kind:<20} {kills:>6} {tally.recoveries[kind]:>6} {times[len(times) // 2]:>9.1f} {times[-1]:>10.1f}"
        )
    longest, kind = tally.longest
    lines.append(
        f"{tally.kills.total()} kills, {tally.recoveries.total()} recoveries, longest outage {longest:.1f} s ({kind})"
    )
    lines += [f"{name}: {value:.0f}" for name, value in outcome.figures.items()]
    if outcome.violations:
        lines += [f"VIOLATED {text}" for text in outcome.violations[:50]]
        lines.append(f"{len(outcome.violations)} violations")
    else:
        lines.append("everything held")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
