"""The curriculum of one policy: which member it is asked next, at which level, and which members rest.

Invariants: a level rises only when the caller says `promoted`, after the gates held at the new level; no recipe
is ever given twice, since seeds are counted; seed programs never rest; held-out members are never here. The
curator lives in memory and decides; the pool remembers what was decided, and is right where the two differ.
"""

import heapq
import random
from collections.abc import Iterable
from typing import Any

from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.curation.decisions import CurationError, Decision, Promote, Rest, Wake
from envpool.curation.draws import GROUPS, SEEDS, Pot, Turns, shares
from envpool.curation.settings import CurationSettings
from envpool.curation.standings import PLAYING, Standing, standing_in
from envpool.curation.tracks import Family, Recent, Track, variance
from envpool.members import Status
from envpool.store.encoding import JournalEntry
from envpool.store.reading import PoolReads

STATE_VERSION = 1
_STATE_KEYS = {"version", "policy", "draws", "next_seed", "credits", "families", "waiting", "members"}
_TELLING = {"admit", "move", "level"}
SEEDS_A_RUN = 1 << 32
SEEDS_SKIPPED_AT_A_RESUME = 1 << 20
"""More than are given between two saves of the state, so that none of them is given again."""
LONGEST_REST = 8
"""Rests double up to this multiple of `rest_draws`."""


class Curator:
    """Chooses recipes and learns from answers. Belongs to one thread."""

    def __init__(self, settings: CurationSettings | None = None, policy: str = "main", seed: int = 0) -> None:
        self.settings = settings or CurationSettings()
        self.policy = policy
        self._seed = seed
        self._next_seed = seed * SEEDS_A_RUN
        self._draws = 0
        self._turns = Turns()
        self._pots = {group: Pot() for group in GROUPS}
        self._tracks: dict[str, Track] = {}
        self._families: dict[str, Family] = {}
        self._alarms: list[tuple[int, str]] = []
        self._woken: list[Wake] = []
        self._shares: dict[str, float] | None = None

    @property
    def size(self) -> int:
        """Members held, awake or resting."""
        return len(self._tracks)

    def follow(self, entries: Iterable[JournalEntry], pool: PoolReads) -> None:
        """Catches up with the pool on every member that these entries speak of."""
        for identity in dict.fromkeys(entry.id for entry in entries if entry.kind in _TELLING):
            standing = standing_in(pool, identity, self.policy)
            if standing is not None:
                self.take(standing)

    def take(self, standing: Standing) -> None:
        """Takes a member as the pool has it; one that is held out or not in play is forgotten."""
        track = self._tracks.get(standing.member)
        if standing.held_out or standing.status not in PLAYING:
            self._forget(standing.member)
        elif track is None:
            self._add(standing)
        else:
            self._reconcile(track, standing)
        self._shares = None

    def choose(self, n: int) -> list[Recipe]:
        """n recipes with fresh seeds; none while there is no member at all."""
        if not self._tracks:
            return []
        if not any(pot.waiting for pot in self._pots.values()):
            self._wake_everything()
        if self._shares is None:
            self._shares = self._weigh()
        rng = random.Random(f"{self._seed}:{self._draws}")
        return [self._draw(rng, self._shares) for _ in range(n)]

    def record(self, count: AnswerCount) -> list[Decision]:
        """Learns from answers; what follows for the member, and which members wake meanwhile.

        Answers of members that are gone are ignored. Raises CurationError for another policy's.
        """
        if count.policy != self.policy:
            raise CurationError(f"answers of {count.policy!r} given to the curator of {self.policy!r}")
        decisions: list[Decision] = []
        track = self._tracks.get(count.member)
        if track is not None:
            self._shares = None
            self._family(track).add(count.attempts, count.successes)
            if count.level == track.level:
                track.recent.add(count.attempts, count.successes)
                decisions += self._judge(track)
        return decisions + self._wakes_due()

    def promoted(self, member: str, level: int) -> None:
        """The gates held: the member is at this level from now on, and its answers count anew.

        Idempotent. Raises CurationError for a level that was not asked for.
        """
        track = self._tracks.get(member)
        if track is None or track.level == level:
            return  # retired or quarantined while the gates were at work, or told already
        if not track.pending or level != track.level + 1:
            raise CurationError(f"no promotion of {member} to level {level} was asked for")
        self._set_level(track, level)

    def cap(self, member: str) -> None:
        """The gates fell at the next level: the present one is the member's last. Idempotent."""
        track = self._tracks.get(member)
        if track is not None:
            track.pending, track.capped = False, True

    def postpone(self, member: str) -> None:
        """The gates could not be asked: the promotion is not pending any more, and may be decided again. Idempotent."""
        track = self._tracks.get(member)
        if track is not None:
            track.pending = False

    def level(self, member: str) -> int:
        """The level the member is drawn at. Raises CurationError if it is not here."""
        if member not in self._tracks:
            raise CurationError(f"{member} is not curated")
        return self._tracks[member].level

    def resting(self) -> list[str]:
        """Ids of members that rest."""
        return [member for member, track in self._tracks.items() if track.wakes_at is not None]

    def weights(self) -> dict[str, float]:
        """Share of the draws by weight of each member awake, before the share of those who wait."""
        if not any(pot.waiting for pot in self._pots.values()):
            return {}
        weights = self._weights()
        masses = {group: sum(weights[member] for member in pot.waiting) for group, pot in self._pots.items()}
        parts = shares({group: mass for group, mass in masses.items() if mass}, self.settings)
        return {
            member: parts[group] * weights[member] / masses[group]
            for group in parts
            for member in self._pots[group].waiting
        }

    def metrics(self) -> dict[str, float]:
        """Draws so far, members awake and resting, and the present share of each class."""
        parts = self._weigh() if any(pot.waiting for pot in self._pots.values()) else {}
        return {
            "draws": self._draws,
            "awake": sum(len(pot.waiting) for pot in self._pots.values()),
            "resting": len(self.resting()),
            **{f"share_{group}": parts.get(group, 0.0) for group in GROUPS},
        }

    def state_dict(self) -> dict[str, Any]:
        """Plain values. A promotion that is still pending is not kept: it is asked for again."""
        return {
            "version": STATE_VERSION,
            "policy": self.policy,
            "draws": self._draws,
            "next_seed": self._next_seed,
            "credits": dict(self._turns.credits),
            "families": {name: [each.attempts, each.successes] for name, each in self._families.items()},
            "waiting": {group: list(pot.waiting) for group, pot in self._pots.items()},
            "members": {
                member: {
                    "level": track.level,
                    "portions": [list(portion) for portion in track.recent.portions],
                    "capped": track.capped,
                    "rests": track.rests,
                    "wakes_at": track.wakes_at,
                }
                for member, track in self._tracks.items()
            },
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from `state_dict`, once the members are there. Where the pool moved on since, it is right.

        Raises CurationError for another version, another policy, or keys that are unknown or missing.
        """
        if set(state) != _STATE_KEYS or state["version"] != STATE_VERSION or state["policy"] != self.policy:
            raise CurationError(
                f"state of version {state.get('version')!r} and policy {state.get('policy')!r} with keys "
                f"{sorted(state)} does not fit version {STATE_VERSION} and policy {self.policy!r}"
            )
        self._draws = state["draws"]
        self._next_seed = state["next_seed"] + SEEDS_SKIPPED_AT_A_RESUME
        self._turns.credits.update(state["credits"])
        for name, sums in state["families"].items():
            self._families[name] = Family(self.settings.family_window, *sums)
        for group, members in state["waiting"].items():
            self._pots[group].reorder(members)
        for member, saved in state["members"].items():
            if member in self._tracks:
                self._restore(self._tracks[member], saved)
        self._shares = None

    def _add(self, standing: Standing) -> None:
        recent = Recent(self.settings.window)
        track = Track(standing.member, standing.group, standing.family, standing.level, recent)
        self._tracks[standing.member] = track
        attempts, successes = self._scaled(standing)
        track.recent.add(attempts, successes)
        self._family(track).add(attempts, successes)
        if standing.status is Status.RESTING:
            self._sleep(track, self._draws + self.settings.rest_draws)
        else:
            self._pots[track.group].put(track.member)

    def _reconcile(self, track: Track, standing: Standing) -> None:
        if standing.level != track.level:
            self._set_level(track, standing.level)
        if standing.status is Status.ACTIVE and track.wakes_at is not None:
            track.wakes_at = None
            self._pots[track.group].put(track.member)
        elif standing.status is Status.RESTING and track.wakes_at is None:
            self._pots[track.group].take(track.member)
            self._sleep(track, self._draws + self.settings.rest_draws)

    def _forget(self, member: str) -> None:
        track = self._tracks.pop(member, None)
        if track is not None:
            self._pots[track.group].take(member)

    def _restore(self, track: Track, saved: dict[str, Any]) -> None:
        if saved["level"] == track.level:
            track.recent.replace(saved["portions"])
            track.capped = saved["capped"]
        track.rests = saved["rests"]
        if track.wakes_at is not None:
            wakes_at = saved["wakes_at"]
            self._sleep(track, self._draws + self.settings.rest_draws if wakes_at is None else wakes_at)

    def _draw(self, rng: random.Random, parts: dict[str, float]) -> Recipe:
        member = self._pots[self._turns.next(parts)].pick(rng, self.settings.waiting_share)
        recipe = Recipe(member, self._next_seed, self._tracks[member].level)
        self._next_seed += 1
        self._draws += 1
        return recipe

    def _judge(self, track: Track) -> list[Decision]:
        limits, recent = self.settings, track.recent
        if track.pending or track.wakes_at is not None:
            return []
        success = f"{recent.successes} of {recent.attempts} at level {track.level}"
        may_rise = limits.adaptive_levels and not track.capped
        if may_rise and recent.attempts >= limits.min_answers and recent.rate >= limits.promote_at:
            track.pending = True
            return [Promote(track.member, track.level + 1, success)]
        if track.group == SEEDS or recent.attempts < limits.rest_answers:
            return []
        if recent.rate < limits.rest_hard or (recent.rate > limits.rest_easy and not may_rise):
            return [self._rest(track, f"{'too hard' if recent.rate < 0.5 else 'too easy'}: {success}")]
        return []

    def _rest(self, track: Track, reason: str) -> Rest:
        length = self.settings.rest_draws * min(2**track.rests, LONGEST_REST)
        track.rests += 1
        self._pots[track.group].take(track.member)
        self._sleep(track, self._draws + length)
        return Rest(track.member, reason)

    def _sleep(self, track: Track, until: int) -> None:
        track.wakes_at = until
        heapq.heappush(self._alarms, (until, track.member))

    def _wakes_due(self) -> list[Wake]:
        while self._alarms and self._alarms[0][0] <= self._draws:
            at, member = heapq.heappop(self._alarms)
            track = self._tracks.get(member)
            if track is not None and track.wakes_at == at:
                self._wake(track, "rested long enough")
        woken, self._woken = self._woken, []
        return [wake for wake in woken if wake.member in self._tracks]  # not one that is gone since

    def _wake_everything(self) -> None:
        for track in self._tracks.values():
            self._wake(track, "nothing else was awake")

    def _wake(self, track: Track, reason: str) -> None:
        track.wakes_at = None
        track.recent.replace(())
        self._pots[track.group].put(track.member)
        self._woken.append(Wake(track.member, reason))
        self._shares = None

    def _weigh(self) -> dict[str, float]:
        weights = self._weights()
        masses = {group: pot.weigh(weights) for group, pot in self._pots.items() if pot.waiting}
        return shares(masses, self.settings)

    def _weights(self) -> dict[str, float]:
        rates = {name: family.rate for name, family in self._families.items()}
        trust = self.settings.family_weight
        return {
            member: variance(track.recent, rates[track.family], trust)
            for member, track in self._tracks.items()
            if track.wakes_at is None
        }

    def _set_level(self, track: Track, level: int) -> None:
        track.level, track.pending, track.capped = level, False, False
        track.recent.replace(())
        self._shares = None

    def _family(self, track: Track) -> Family:
        return self._families.setdefault(track.family, Family(self.settings.family_window))

    def _scaled(self, standing: Standing) -> tuple[int, int]:
        """The pool keeps sums for ever; here they count for no more than one window."""
        attempts, successes = standing.counts.attempts, standing.counts.successes
        if attempts <= self.settings.window:
            return attempts, successes
        return self.settings.window, round(successes * self.settings.window / attempts)
