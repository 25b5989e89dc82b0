"""Writing the pool: the one handle that admits, rejects, moves and counts.

Invariants: each call writes, in one transaction of `transactions`, the record, its indexes, its counters and one
journal entry; an admitted id is never admitted again. What is admissible is judged elsewhere.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any

from envpool.answer_counts import AnswerCount, Counts
from envpool.members import Composite, Member, Origin, Status
from envpool.store import distrust, encoding
from envpool.store.encoding import JournalEntry, Rejection, StatusRow
from envpool.store.errors import StoreError
from envpool.store.reading import ADMITTED_GATE
from envpool.store.transactions import Transactions

MOVES: dict[Status, frozenset[Status]] = {
    Status.ACTIVE: frozenset({Status.RESTING, Status.RETIRED, Status.QUARANTINED}),
    Status.RESTING: frozenset({Status.ACTIVE, Status.RETIRED, Status.QUARANTINED}),
    Status.RETIRED: frozenset({Status.QUARANTINED}),
    Status.QUARANTINED: frozenset(),
    Status.REJECTED: frozenset(),
}


REQUESTS = "request/"
"""Beginning of the keys of groups that hold the names of requests, not answers: by name, and in a ring by age."""
REQUESTS_KEPT = 1 << 18
"""Ours; some 40 MB."""


class PoolWriter(Transactions):
    """The only write handle."""

    def admit(self, member: Member, status: Status = Status.ACTIVE, reason: str = "", step: int = 0) -> bool:
        """Takes a member in; False if its id was admitted before, whatever became of it since.

        Raises StoreError if a parent or part is unknown, or held out while the member is not, or a part quarantined.
        """
        if status is Status.REJECTED:
            raise StoreError("a member is not admitted as rejected; use reject()")
        with self.batch():
            identity = member.id
            before = self.status_row(identity)
            if before is not None and before.status is not Status.REJECTED:
                return False
            lineage = self._checked_lineage(member)
            self._put("members", identity.encode(), encoding.pack_member(member))
            self._stand(identity, before, StatusRow(status, member.origin, member.held_out))
            domain, codomain = member.material.domain, member.material.codomain
            key = encoding.type_key(domain) + encoding.type_key(codomain) + identity.encode()
            self._put("by_signature", key, b"")
            for name in lineage:
                self._put("children", encoding.joined(name, identity), b"")
            self._drop("rejections", identity.encode())
            self._count("funnel", ADMITTED_GATE, member.origin)
            frm = before.status if before else ""
            self._write("admit", step, id=identity, origin=member.origin, frm=frm, to=status, reason=reason)
            return True

    def reject(
        self,
        identity: str,
        origin: Origin,
        gate: str,
        reason: str,
        evidence: Mapping[str, Any] | None = None,
        source: str = "",
        step: int = 0,
    ) -> None:
        """Records that a candidate fell. One that repeats an admitted member is counted; the member stays."""
        if not gate or "\0" in gate + identity:
            raise StoreError(f"a gate has a name, and ids and gates no zero bytes: {gate!r}, {identity!r}")
        with self.batch():
            before = self.status_row(identity)
            admitted = before is not None and before.status is not Status.REJECTED
            facts = dict(evidence or {})
            if not admitted:
                rejection = Rejection(identity, origin, gate, reason, facts, source, step, time.time())
                self._put("rejections", identity.encode(), encoding.pack_rejection(rejection))
                self._stand(identity, before, StatusRow(Status.REJECTED, origin))
            self._count("funnel", gate, origin)
            frm = before.status if before else ""
            to = before.status if before and admitted else Status.REJECTED
            event = {"id": identity, "origin": origin, "frm": frm, "to": to, "gate": gate, "reason": reason}
            self._write("reject", step, **event, evidence=facts)

    def transition(self, identity: str, to: Status, reason: str, step: int = 0) -> bool:
        """Moves a member; False if it is there already. Raises StoreError for a move not in `MOVES`.

        What is composed of a quarantined member goes with it: it would fail at every draw.
        """
        with self.batch():
            before = self.status_row(identity)
            if before is None or before.status is Status.REJECTED:
                raise StoreError(f"{identity} was never admitted")
            if before.status is to:
                return False
            if to not in MOVES[before.status]:
                raise StoreError(f"{identity} cannot go from {before.status} to {to}")
            self._stand(identity, before, StatusRow(to, before.origin, before.held_out))
            event = {"id": identity, "origin": before.origin, "frm": before.status, "to": to}
            self._write("move", step, **event, reason=reason)
            if to is Status.QUARANTINED:
                for composite in distrust.composed_of(self, identity):
                    self.transition(composite, to, f"its part {identity}: {reason}", step)
            return True

    def distrust(
        self, identity: str, reason: str, evidence: Mapping[str, Any] | None = None, step: int = 0
    ) -> list[str]:
        """Quarantines a member that was found to lie, and what is composed of it, and forgets all their answers.

        The ids of those it had an effect on; none the second time. The first finding about a member is in the journal,
        also where nothing of it was left to let go. Raises StoreError if it was never admitted.
        """
        with self.batch():
            lost = [identity, *distrust.all_composed_of(self, identity)]
            standing = {each: self.status(each) for each in lost}
            self.transition(identity, Status.QUARANTINED, reason, step)
            touched = []
            for each, rows in distrust.answer_rows(self, lost).items():
                for key, _ in rows:
                    self._drop("answers", key)
                new = rows or standing[each] is not Status.QUARANTINED
                if new or (each == identity and not distrust.was_found(self, identity)):
                    facts = (evidence or {}) if each == identity else {distrust.PART: identity}
                    dropped = [fields for _, fields in rows]
                    self._write(distrust.KIND, step, id=each, reason=reason, evidence={**facts, "dropped": dropped})
                    touched.append(each)
            return touched

    def record(self, answers: Iterable[AnswerCount], step: int = 0) -> None:
        """Adds answer counts, in one journal entry; those to a quarantined member are let go.

        Raises StoreError if one of them contradicts itself.
        """
        with self.batch():
            trusted = [each for each in answers if self.status(each.member) is not Status.QUARANTINED]
            rows = [_answer_row(answer) for answer in trusted]
            for key, counts, _ in rows:
                raw = self._fetch("answers", key)
                total = counts if raw is None else encoding.unpack_counts(raw) + counts
                self._put("answers", key, encoding.pack_counts(total))
            if rows:
                self._write("answers", step, evidence={"counts": [fields for _, _, fields in rows]})

    def record_once(self, request: str, answers: Iterable[AnswerCount], step: int = 0) -> bool:
        """As `record`, once for each name of a request; False where it was there before.

        The last `REQUESTS_KEPT` names are remembered.
        """
        mark = hashlib.sha256(request.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        with self.batch():
            if self.group(f"{REQUESTS}name/{mark}") is not None:
                return False
            self.record(answers, step)
            self._remember(mark)
            return True

    def set_level(self, identity: str, policy: str, level: int, reason: str, step: int = 0) -> bool:
        """Sets the level a policy is at; False if it is there already."""
        with self.batch():
            was = self.level(identity, policy)
            if was == level:
                return False
            self._put("levels", encoding.policy_key(policy, identity), encoding.level_bytes(level))
            event = {"id": identity, "frm": str(was), "to": str(level), "reason": reason}
            self._write("level", step, **event, evidence={"policy": policy})
            return True

    def put_state(self, key: str, value: Any) -> None:
        """Keeps a piece of the run's state; tuples come back as lists. Not journalled."""
        with self.batch():
            self._put("state", encoding.state_key(key), encoding.pack(value))

    def delete_state(self, key: str) -> bool:
        """Whether there was one."""
        with self.batch():
            return self._drop("state", encoding.state_key(key))

    def put_group(self, key: str, value: bytes) -> None:
        """Keeps a group of answers until it is dropped; a key has 1 to 400 bytes. Not journalled, not replicated."""
        with self.batch():
            self._put("groups", encoding.group_key(key), value)

    def drop_groups(self, keys: Iterable[str]) -> int:
        """How many of them there were."""
        with self.batch():
            return sum(self._drop("groups", encoding.group_key(key)) for key in keys)

    def _remember(self, mark: str) -> None:
        """Keeps a request's name in the place of the oldest."""
        turns = self.group(f"{REQUESTS}turns")
        turn = encoding.number(turns) if turns else 0
        place = f"{REQUESTS}ring/{turn % REQUESTS_KEPT}"
        if oldest := self.group(place):
            self.drop_groups([f"{REQUESTS}name/{oldest.decode()}"])
        self.put_group(place, mark.encode())
        self.put_group(f"{REQUESTS}name/{mark}", b"")
        self.put_group(f"{REQUESTS}turns", encoding.sequence(turn + 1))

    def _checked_lineage(self, member: Member) -> tuple[str, ...]:
        parts = member.material.parts if isinstance(member.material, Composite) else ()
        lineage = tuple(dict.fromkeys((*member.parents, *parts)))
        for name in lineage:
            row = self.status_row(name)
            if row is None or row.status is Status.REJECTED:
                raise StoreError(f"{member.id} names {name}, which was never admitted")
            if row.status is Status.QUARANTINED and name in parts:
                raise StoreError(f"{member.id} is made of {name}, which is quarantined")
            if row.held_out and not member.held_out:
                raise StoreError(f"{member.id} is built on {name}, which is held out")
        return lineage

    def _stand(self, identity: str, before: StatusRow | None, now: StatusRow) -> None:
        if before is not None:
            self._drop("by_status", encoding.joined(before.status, before.origin, identity))
            self._count("status", before.status, change=-1)
        self._put("status", identity.encode(), encoding.pack_status_row(now))
        self._put("by_status", encoding.joined(now.status, now.origin, identity), b"")
        self._count("status", now.status)

    def _count(self, *name: str, change: int = 1) -> None:
        key = encoding.joined(*name)
        raw = self._fetch("counters", key)
        self._put("counters", key, encoding.sequence((encoding.number(raw) if raw else 0) + change))

    def _write(self, kind: str, step: int, **facts: Any) -> None:
        entry = JournalEntry(self.last_sequence() + 1, time.time(), step, kind, **facts)
        key, value = encoding.sequence(entry.seq), encoding.pack_entry(entry)
        self._pinned.txn.put(key, value, db=self._dbs["journal"], append=True)
        self._operations.append(("journal", key, value))


def _answer_row(answer: AnswerCount) -> tuple[bytes, Counts, tuple[Any, ...]]:
    """Key, counts and the fields that are journalled."""
    key = encoding.policy_key(answer.policy, answer.member, "") + encoding.level_bytes(answer.level)
    try:
        return key, answer.counts, astuple(answer)
    except ValueError as error:
        raise StoreError(f"answers of {answer.policy} to {answer.member}: {error}") from error
