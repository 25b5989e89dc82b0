"""What the pool already holds, as far as the duplicate gates ask: ids, normalised code, behaviour.

Invariant: one program to an id, to a normalised code and to a fingerprint; the first one stays. A view of the pool
in memory, filled from it at start; it decides nothing and stores nothing.
"""

from collections.abc import Iterable

from envpool.members import Member


class Register:
    """Ids by what makes a program a copy."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self._ids: set[str] = set()
        self._held_out: set[str] = set()
        self._by_code: dict[str, str] = {}
        self._by_behaviour: dict[str, str] = {}
        for member in members:
            self.add(member)

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, member: Member) -> None:
        """Take note of a member. Idempotent."""
        self._ids.add(member.id)
        if member.held_out:
            self._held_out.add(member.id)
        if code := str(member.evidence.get("normal", "")):
            self._by_code.setdefault(code, member.id)
        if member.fingerprint:
            self._by_behaviour.setdefault(member.fingerprint, member.id)

    def remove(self, member: Member) -> None:
        """Forget a member that was admitted but could not be stored, so that it can be judged again."""
        self._ids.discard(member.id)
        for known, key in (
            (self._by_code, member.evidence.get("normal")),
            (self._by_behaviour, member.fingerprint),
        ):
            if known.get(str(key)) == member.id:
                del known[str(key)]

    def with_code(self, normal: str) -> str | None:
        """The member with this normalised code."""
        return self._by_code.get(normal)

    def with_behaviour(self, fingerprint: str) -> str | None:
        """The member with this fingerprint."""
        return self._by_behaviour.get(fingerprint)

    def describe(self, id: str) -> str:
        """How a reason names a member: copying a held-out one is contamination."""
        return f"the held-out {id} (contamination)" if id in self._held_out else id
