"""The curriculum of one policy: which member it is asked next, at which level, and which members rest.

Invariants: a level rises only when the caller confirms a Promote, after the gates held at the new level; no
recipe is ever given twice, since its seed is the number of the draw; seeds never rest; held-out members are
never here. The curator lives in memory and decides; the pool remembers what was decided.
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
from envpool.curation.standings import PLAYING, Standing
from envpool.curation.tracks import Family, Recent, Track, variance
from envpool.members import Status

STATE_VERSION = 1
_STATE_KEYS = {"version", "policy", "draws", "credits", "families", "waiting", "members"}
LONGEST_REST = 8
"""Rests double up to this multiple of `rest_draws`."""


class Curator:
    """Chooses recipes and learns from answers. Belongs to one thread."""

    def __init__(
        self, settings: CurationSettings | None = None, policy: str = "main", first_seed: int = 0
    ) -> None:
        self.settings = settings or CurationSettings()
        self.policy = policy
        self._first_seed = first_seed
        self._draws = 0
        self._turns = Turns()
        self._pots = {group: Pot() for group in GROUPS}
        self._tracks: dict[str, Track] = {}
        self._families: dict[str, Family] = {}
        self._alarms: list[tuple[int, str]] = []
        self._woken: list[Decision] = []
        self._shares: dict[str, float] | None = None

    def load(self, members: Iterable[Standing]) -> None:
        """Adds members as the pool has them."""
        for standing in members:
            self.add(standing)

    def add(self, standing: Standing) -> None:
        """Takes a member in, anew if it is there; one that is held out or not in play is left out."""
        self.remove(standing.member)
        if standing.held_out or standing.status not in PLAYING:
            return
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
        self._shares = None

    def remove(self, member: str) -> None:
        """Forgets a member: retired, quarantined. Idempotent."""
        track = self._tracks.pop(member, None)
        if track is not None:
            self._pots[track.group].take(member)
            self._shares = None

    def choose(self, rng: random.Random, n: int) -> list[Recipe]:
        """n recipes with fresh seeds. Raises CurationError when there is no member at all."""
        if not any(pot.waiting for pot in self._pots.values()):
            self._wake_everything()
        if self._shares is None:
            self._shares = self._weigh()
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

    def confirm(self, promotion: Promote) -> None:
        """The gates held: the member is at the new level from now on, and its answers count anew."""
        track = self._pending(promotion)
        track.pending = False
        track.level = promotion.level
        track.recent.replace(())
        self._shares = None

    def refuse(self, promotion: Promote) -> None:
        """The gates fell at the new level: the present one is the member's last."""
        track = self._pending(promotion)
        track.pending = False
        track.capped = True

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
        """Goes on from `state_dict`, after `load`. Where the pool moved on since, the pool is right.

        Raises CurationError for another version, another policy, or keys that are unknown or missing.
        """
        if set(state) != _STATE_KEYS or state["version"] != STATE_VERSION or state["policy"] != self.policy:
            raise CurationError(
                f"state of version {state.get('version')!r} and policy {state.get('policy')!r} with keys "
                f"{sorted(state)} does not fit version {STATE_VERSION} and policy {self.policy!r}"
            )
        self._draws = state["draws"]
        self._turns.credits.update(state["credits"])
        for name, sums in state["families"].items():
            self._families[name] = Family(self.settings.family_window, *sums)
        for group, members in state["waiting"].items():
            self._pots[group].reorder(members)
        for member, saved in state["members"].items():
            if member in self._tracks:
                self._restore(self._tracks[member], saved)
        self._shares = None

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
        seed = self._first_seed + self._draws
        self._draws += 1
        return Recipe(member, seed, self._tracks[member].level)

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

    def _wakes_due(self) -> list[Decision]:
        while self._alarms and self._alarms[0][0] <= self._draws:
            at, member = heapq.heappop(self._alarms)
            track = self._tracks.get(member)
            if track is not None and track.wakes_at == at:
                self._wake(track, "rested long enough")
        woken, self._woken = self._woken, []
        return woken

    def _wake_everything(self) -> None:
        if not self._tracks:
            raise CurationError("there is no member to choose from")
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

    def _pending(self, promotion: Promote) -> Track:
        track = self._tracks.get(promotion.member)
        if track is None or not track.pending or promotion.level != track.level + 1:
            raise CurationError(f"no promotion of {promotion.member} to level {promotion.level} is pending")
        return track

    def _family(self, track: Track) -> Family:
        return self._families.setdefault(track.family, Family(self.settings.family_window))

    def _scaled(self, standing: Standing) -> tuple[int, int]:
        """The pool keeps sums for ever; here they count for no more than one window."""
        attempts, successes = standing.counts.attempts, standing.counts.successes
        if attempts <= self.settings.window:
            return attempts, successes
        return self.settings.window, round(successes * self.settings.window / attempts)
