"""What of a curator is kept in the pool, and reading it back.

Invariant: a state is read whole or refused; one of the version before is brought to the present one. Nothing of the
pool is kept here: levels and statuses are the pool's, and it is right where the two differ.
"""

from collections.abc import Mapping
from typing import Any

from envpool.curation.decisions import CurationError
from envpool.curation.tracks import Recent, Track

STATE_VERSION = 2
KEYS = {
    "version",
    "policy",
    "draws",
    "epochs",
    "next_seed",
    "credits",
    "families",
    "waiting",
    "members",
    "aside",
}


def plain(track: Track) -> dict[str, Any]:
    """What is kept of one member."""
    return {
        "level": track.level,
        "levels": {level: recent.sums for level, recent in track.levels.items()},
        "capped": track.capped,
        "rests": track.rests,
        "wakes_at": track.wakes_at,
        "born": track.born,
        "drawn_at": track.drawn_at,
    }


def told(state: Mapping[str, Any] | None, member: str) -> tuple[dict[int, Recent], int | None]:
    """What a kept state says of a member: success by level, and draws since it was last drawn; None while it rests."""
    if not state or state.get("version") != STATE_VERSION or member not in state["members"]:
        return {}, None
    saved = state["members"][member]
    return _levels(saved), state["draws"] - saved["drawn_at"] if saved["wakes_at"] is None else None


def recents(state: Mapping[str, Any] | None) -> dict[str, dict[int, Recent]]:
    """What a kept state says of all members: success by level; nothing where it is none of this version."""
    if not state or state.get("version") != STATE_VERSION:
        return {}
    return {member: _levels(saved) for member, saved in state["members"].items()}


def readable(state: Mapping[str, Any], policy: str, half_life: float) -> Mapping[str, Any]:
    """The state in the present version. Raises CurationError for another one, another policy, or other keys."""
    version = state.get("version")
    state = {"aside": {}, **state}  # none in states from before there were some
    if version == 1 and set(state) == KEYS - {"epochs"}:
        state = _from_portions(state, half_life)
    if set(state) != KEYS or state["version"] != STATE_VERSION or state["policy"] != policy:
        raise CurationError(
            f"state of version {version!r} and policy {state.get('policy')!r} with keys {sorted(state)} does not fit "
            f"version {STATE_VERSION} and policy {policy!r}"
        )
    return state


def _levels(saved: Mapping[str, Any]) -> dict[int, Recent]:
    return {level: Recent(1.0, *sums) for level, sums in saved["levels"].items()}


def _from_portions(state: Mapping[str, Any], half_life: float) -> dict[str, Any]:
    """Version 1 kept the newest answers at the present level as they came, and neither age nor waiting."""
    members = {}
    for member, saved in state["members"].items():
        recent = Recent(half_life)
        for attempts, successes in saved["portions"]:
            recent.add(attempts, successes)
        kept = {name: saved[name] for name in ("level", "capped", "rests", "wakes_at")}
        members[member] = {
            **kept,
            "levels": {saved["level"]: recent.sums},
            "born": 0.0,
            "drawn_at": state["draws"],
        }
    return {**state, "version": STATE_VERSION, "epochs": 0.0, "members": members}
