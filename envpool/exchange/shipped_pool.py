"""The seeds and bricks that ship with Envolve as a snapshot, for whoever has no run of their own yet.

Their sources are inspected in the sandbox; they were put through the gates when they were written, and are not again.
"""

from collections.abc import Callable, Iterable

from envpool.admission.form import read
from envpool.exchange.provenance import OURS, Provenance
from envpool.exchange.snapshot import Snapshot
from envpool.members import Member
from envpool.sandbox.executor import LocalExecutor
from envpool.shipped import Choice, shipped


async def shipped_snapshot(
    seeds: Choice = "all",
    bricks: Choice = "all",
    held_out: Iterable[str] = (),
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Snapshot:
    """All at level 0; those that `held_out` names, by pattern as well, are set apart.

    Raises UnknownProgram, SandboxUnavailable, InfrastructureFault.
    """
    chosen = shipped(seeds, bricks, held_out)
    members: dict[str, Member] = {}
    executor = LocalExecutor()
    try:
        for done, each in enumerate(chosen, 1):
            program = (await read(executor, each.source)).program
            members[program.id] = Member(program, each.origin, held_out=each.held_out)
            tell(done, len(chosen))
    finally:
        executor.close()
    return Snapshot(members, dict.fromkeys(members, 0), Provenance(run="shipped", licence=OURS))
