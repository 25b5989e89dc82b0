"""The programs that fell at calibration or review, so that what copies them falls as what copies a member does.

A review guards the pool and must not decide what a proposal earns (EvoEnv). Were members alone known, copies of an
admitted program would earn nothing and copies of a refused one would earn again and again. Held for as long as the
validator lives, and read anew from the pool's journal at start: the newest ones, so that what fell long ago, say at
calibration to a policy that has learnt since, may be judged again (ours). Known by source, code, oracle and behaviour;
not by embedding, so that a near copy with other behaviour is judged as new. Nothing here is a member.
"""

from envpool.admission.form import bare
from envpool.admission.register import Register
from envpool.members import Member, Origin
from envpool.store.reading import PoolReads

TURNED_DOWN = ("calibration", "review")
"""Where a program falls that passed every mechanical gate."""
BEHAVIOUR = "behaviour"
"""In the evidence of a rejection: the fingerprint, which only members have a field for."""
MOST = 1_000  # ours
ENTRIES = 20_000  # ours; of the journal, read at start


class Fallen(Register):
    """A register of the newest of them."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self._most = most
        self._fell: dict[str, tuple[Member, str]] = {}

    def fell(self, member: Member, gate: str) -> None:
        """Take note of a program that would be this member, and forget the oldest of those too many. Idempotent."""
        self._fell.setdefault(member.id, (member, gate))
        self.add(member)
        while len(self._fell) > self._most:
            self.forget(next(iter(self._fell)))

    def forget(self, id: str) -> None:
        """As if it had never been judged: its rejection could not be stored."""
        if id in self._fell:
            self.remove(self._fell.pop(id)[0])

    def describe(self, id: str) -> str:
        """How a reason names it."""
        return f"{super().describe(id)} (which fell at {self._fell[id][1]})"


def fallen_before(pool: PoolReads, most: int = MOST, entries: int = ENTRIES) -> Fallen:
    """Those that the pool's newest journal entries tell of; the store keeps only the last rejection of a source."""
    fallen = Fallen(most)
    for entry in pool.journal(max(0, pool.last_sequence() - entries), entries):
        if entry.kind != "reject" or entry.gate not in TURNED_DOWN or entry.origin != Origin.POLICY:
            continue
        if (rejection := pool.rejection(entry.id)) is not None:  # else it was admitted since
            behaviour = str(entry.evidence.get(BEHAVIOUR, ""))
            program = bare(rejection.source)
            fallen.fell(Member(program, Origin.POLICY, fingerprint=behaviour, evidence=entry.evidence), entry.gate)
    return fallen
