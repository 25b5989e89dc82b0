"""What is set apart for evaluation, and whether a candidate copies it: by embedding, by behaviour, by code.

Invariant: a held-out member stays here whatever became of it since. The reason says what was copied; refusing the
candidate is the gate's.
"""

from envpool.members import Member
from envpool.novelty.index import NoveltyIndex

NEAR = 0.80
"""As the gate of near duplicates (EvoEnv)."""


class HeldOut:
    """The held-out members, by embedding, fingerprint and normalised code."""

    def __init__(self) -> None:
        self._index = NoveltyIndex()
        self._marks: dict[str, tuple[str, str]] = {}
        self.ids: set[str] = set()

    def take(self, member: Member) -> None:
        """Takes note of a member, if it is held out. Idempotent."""
        if not member.held_out:
            return
        self.ids.add(member.id)
        if member.embedding:
            self._index.add(member.id, member.embedding)
        for mark, how in (
            (member.fingerprint, "answers every probe as"),
            (member.evidence.get("normal"), "has the code of"),
        ):
            if mark:
                self._marks.setdefault(str(mark), (how, member.id))

    def copied_by(
        self, embedding: bytes = b"", fingerprint: str = "", normal: str = "", near: float = NEAR
    ) -> str:
        """Why a candidate is contamination; empty where it copies nothing. What is not given is not compared."""
        for mark in (normal, fingerprint):
            if mark in self._marks:
                how, member = self._marks[mark]
                return f"contamination: it {how} the held-out {member}"
        if embedding:
            nearest, similarity = self._index.nearest(embedding)
            if nearest is not None and similarity >= near:
                return f"contamination: rule and code are {similarity:.2f} similar to the held-out {nearest}"
        return ""
