"""What a member's numbers lead to, and the words that the journal keeps of it.

Invariant: a decision needs the whole 95 % interval of success on one side of its limit, so that neither a lucky
admission stays for long nor an unlucky hour sends a good member away. Nothing is changed here.
"""

from envpool.curation.decisions import Decision, Promote, Rest, Retire
from envpool.curation.settings import SEEDS, CurationSettings
from envpool.curation.tracks import Recent, Track


def judge(track: Track, limits: CurationSettings, epochs: float) -> Decision | None:
    """What follows for a member that is awake, `epochs` being the curator's; None: it stays as it is."""
    if track.pending or track.wakes_at is not None:
        return None
    if track.retires and (reason := too_old(epochs - track.born, limits)):
        return Retire(track.member, reason)
    seen = in_words(track.recent, track.level)
    may_rise = limits.adaptive_levels and not track.capped
    if may_rise and track.recent.interval.low >= limits.promote_at:
        return Promote(track.member, track.level + 1, seen)
    fault = "" if track.group == SEEDS else _fault(track.recent, limits, may_rise)
    if not fault:
        return None
    if track.retires and track.rests >= limits.rests:
        return Retire(track.member, f"{fault} still after {track.rests} rests: {seen}")
    return Rest(track.member, f"{fault}: {seen}")


def too_old(age: float, limits: CurationSettings) -> str:
    """Why the time of a member that retires is over at this age, in epochs; empty while it is not."""
    if limits.retire_epochs is None or age < limits.retire_epochs:
        return ""
    return f"too old: {age:.1f} epochs in the pool, {limits.retire_epochs:g} are its time"


def in_words(recent: Recent, level: int) -> str:
    """Success and its interval, as a person reads them."""
    interval = recent.interval
    return (
        f"success {recent.rate:.2f} at level {level}, with 95 % confidence between {interval.low:.2f} and "
        f"{interval.high:.2f}, over about {recent.answers:.0f} recent answers"
    )


def _fault(recent: Recent, limits: CurationSettings, may_rise: bool) -> str:
    interval = recent.interval
    if interval.high <= limits.rest_hard:
        return "too hard" if recent.successes else "too hard or broken, never solved"
    if interval.low >= limits.rest_easy and not may_rise:
        return "too easy"
    return ""
