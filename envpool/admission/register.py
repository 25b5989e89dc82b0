"""What the pool already holds, as far as the duplicate gates ask: ids, code, oracle, behaviour.

Invariant: one program to an id, to a normalised code, to a skeleton and to a fingerprint; the first one stays. A view
of the pool in memory, filled from it at start; it decides nothing and stores nothing.
"""

from collections.abc import Iterable

from envpool.members import Member, Program


class Register:
    """Ids by what makes a program a copy."""

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self._names: dict[str, str] = {}
        self._held_out: set[str] = set()
        self._families: dict[str, dict[str, None]] = {}
        """Their members, in the order in which they came."""
        self._by_code: dict[str, str] = {}
        self._by_skeleton: dict[str, str] = {}
        self._by_behaviour: dict[str, str] = {}
        for member in members:
            self.add(member)

    def __contains__(self, id: object) -> bool:
        return id in self._names

    def __len__(self) -> int:
        return len(self._names)

    def add(self, member: Member) -> None:
        """Take note of a member. Idempotent."""
        self._names[member.id] = member.material.name if isinstance(member.material, Program) else ""
        if member.held_out:
            self._held_out.add(member.id)
        if member.family:
            self._families.setdefault(member.family, {})[member.id] = None
        for known, key in self._keys(member):
            if key:
                known.setdefault(key, member.id)

    def remove(self, member: Member) -> None:
        """Forget a member that was admitted but could not be stored, so that it can be judged again."""
        self._names.pop(member.id, None)
        self._held_out.discard(member.id)
        self._families.get(member.family, {}).pop(member.id, None)
        for known, key in self._keys(member):
            if known.get(key) == member.id:
                del known[key]

    def with_code(self, normal: str) -> str | None:
        """The member with this normalised code."""
        return self._by_code.get(normal)

    def with_skeleton(self, skeleton: str) -> str | None:
        """The member whose oracle is this one but for constants."""
        return self._by_skeleton.get(skeleton)

    def with_behaviour(self, fingerprint: str) -> str | None:
        """The member with this fingerprint."""
        return self._by_behaviour.get(fingerprint)

    def in_family(self, family: str, *, held_out: bool) -> str | None:
        """A member of this family that is set apart, or one that is not: its members are held out together."""
        return next((id for id in self._families.get(family, ()) if self.is_held_out(id) is held_out), None)

    def is_held_out(self, id: str) -> bool:
        """Whether it is set apart for evaluation."""
        return id in self._held_out

    def describe(self, id: str) -> str:
        """How a reason names a member: copying a held-out one is contamination."""
        called = f"{name} ({id})" if (name := self._names.get(id)) else id
        return f"the held-out {called} (contamination)" if self.is_held_out(id) else called

    def _keys(self, member: Member) -> tuple[tuple[dict[str, str], str], ...]:
        return (
            (self._by_code, str(member.evidence.get("normal", ""))),
            (self._by_skeleton, str(member.evidence.get("skeleton", ""))),
            (self._by_behaviour, member.fingerprint),
        )
