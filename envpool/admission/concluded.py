"""The verdict that a proposal got before, where whoever waited for it died: judged anew, it would be its own copy.

Pure: it reads the pool and judges nothing. A proposal that copies a member leaves no record of its own, and is refused
once more as what it is.
"""

from collections.abc import Mapping
from typing import Any

from envpool.admission.form import bare
from envpool.admission.verdict import Verdict
from envpool.store.reading import PoolReads

PROPOSAL = "proposal"
"""In the evidence of a member or a rejection: who proposed it, under an id that no other proposal has."""


def concluded(pool: PoolReads, source: str, proposal: str) -> Verdict | None:
    """What came of the proposal with this id, if this is its program and it was judged already."""
    identity = bare(source).id
    if (member := pool.get(identity)) is not None:
        admitted = _is_of(member.evidence, proposal)
        return Verdict(identity, member, "", "admitted before", member.evidence, ()) if admitted else None
    fallen = pool.rejection(identity)
    if fallen is None or not _is_of(fallen.evidence, proposal):
        return None
    return Verdict(identity, None, fallen.gate, fallen.reason, fallen.evidence, ())


def _is_of(evidence: Mapping[str, Any], proposal: str) -> bool:
    return bool((evidence.get(PROPOSAL) or {}).get("id") == proposal)
