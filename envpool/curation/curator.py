"""The curriculum of one policy: which member it is asked next, at which level, and which members rest.

Invariants: a level rises only when the caller says `promoted`, after the gates held at the new level; no recipe
is ever given twice, since seeds are counted; seed programs never rest; held-out members are never here. A class of
members that the mode leaves out is never drawn, and known by its age alone: what was written gives way to what is
written later, also where only composites of it are asked. A composite's size is no level: of each operator and size
together as much is drawn as its success has variance. The curator lives in memory and decides; the pool remembers what
was decided, and is right where the two differ.
"""

import heapq
import random
from collections.abc import Iterable
from typing import Any

from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.curation.decisions import CurationError, Decision, Promote, Rest, Retire, Wake
from envpool.curation.draws import Pot, Turns, shares
from envpool.curation.judgement import judge, too_old
from envpool.curation.kinds import evened
from envpool.curation.saved import STATE_VERSION, plain, readable
from envpool.curation.settings import COMPOSITES, GROUPS, CurationSettings
from envpool.curation.standings import PLAYING, Standing, standing_in
from envpool.curation.tracks import Family, Recent, Track, above_guessing, learning_signal
from envpool.members import Status
from envpool.store.encoding import JournalEntry
from envpool.store.reading import PoolReads

_TELLING = {"admit", "move", "level"}
SEEDS_A_RUN = 1 << 32
SEEDS_SKIPPED_AT_A_RESUME = 1 << 20
"""More than are given between two saves of the state, so that none of them is given again."""
LONGEST_REST = 8
"""Rests double up to this multiple of `rest_draws`."""
STARVING_EPOCHS = 20.0
"""Twice the time in which the share of those who wait comes round to every member of a class with its part."""


class Curator:
    """Chooses recipes and learns from answers. Belongs to one thread."""

    def __init__(self, settings: CurationSettings | None = None, policy: str = "main", seed: int = 0) -> None:
        self.settings = settings or CurationSettings()
        self.policy = policy
        self._seed = seed
        self._next_seed = seed * SEEDS_A_RUN
        self._draws = 0
        self._epochs = 0.0
        self._turns = Turns()
        self._pots = {group: Pot() for group in GROUPS}
        self._tracks: dict[str, Track] = {}
        self._families: dict[str, Family] = {}
        self._aside: dict[str, float] = {}
        """Of members that the mode leaves out and that retire: the epoch in which each was taken in."""
        self._alarms: list[tuple[int, str]] = []
        self._woken: list[Wake | Retire] = []

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
        """Takes a member as the pool has it; one that is held out, or not in play is forgotten."""
        track = self._tracks.get(standing.member)
        plays = standing.status in PLAYING and not standing.held_out
        if plays and standing.group not in self.settings.groups:
            if standing.retires:
                self._aside.setdefault(standing.member, self._epochs)
        elif not plays:
            if track is not None and standing.status is Status.QUARANTINED:
                for recent in track.levels.values():
                    self._family(track).remove(*above_guessing(recent.weight, recent.successes, track.guess))
            self._forget(standing.member)
        elif track is None:
            self._add(standing)
        else:
            self._reconcile(track, standing)

    def choose(self, n: int) -> list[Recipe]:
        """n recipes with fresh seeds; none while there is no member at all."""
        if not self._tracks:
            return []
        if not any(pot.waiting for pot in self._pots.values()):
            self._wake_everything()
        parts, awake = self._weigh(), self._awake()
        rng = random.Random(f"{self._seed}:{self._draws}")
        return [self._draw(rng, parts, awake) for _ in range(n)]

    def record(self, count: AnswerCount) -> list[Decision]:
        """Learns from answers; what follows for the member, and which members wake meanwhile.

        Answers of members that are gone are ignored. Raises CurationError for another policy's.
        """
        if count.policy != self.policy:
            raise CurationError(f"answers of {count.policy!r} given to the curator of {self.policy!r}")
        decisions: list[Decision] = []
        track = self._tracks.get(count.member)
        if track is not None:
            self._family(track).add(*above_guessing(count.attempts, count.successes, track.guess))
            track.at(count.level).add(count.attempts, count.successes)
            if count.level == track.level and (decision := judge(track, self.settings, self._epochs)):
                self._carry_out(track, decision)
                decisions.append(decision)
        return decisions + self._wakes_due() + self._retired_aside()

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

    def recent(self, member: str) -> dict[int, Recent]:
        """Success of a member by level, older answers weighing less. Raises CurationError if it is not here."""
        if member not in self._tracks:
            raise CurationError(f"{member} is not curated")
        return dict(self._tracks[member].levels)

    def waits(self) -> dict[str, int]:
        """Of each member awake: draws, over all members, since it was last drawn, taken in or woken."""
        return {
            member: self._draws - self._tracks[member].drawn_at
            for pot in self._pots.values()
            for member in pot.waiting
        }

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
        """Draws and epochs so far, members awake, resting and starving, and the present share of each class.

        `composite_size` is the mean size of the composites drawn at present; 0 while there are none.
        """
        parts, waits, awake = (self._weigh() if self._awake() else {}), self.waits(), self._awake()
        return {
            "draws": self._draws,
            "epochs": self._epochs,
            "awake": awake,
            "resting": len(self.resting()),
            "longest_wait": max(waits.values(), default=0),
            "composite_size": self._composite_size(),
            "starving": sum(wait > STARVING_EPOCHS * awake for wait in waits.values()),
            **{f"share_{group}": parts.get(group, 0.0) for group in GROUPS},
        }

    def state_dict(self) -> dict[str, Any]:
        """Plain values. A promotion that is still pending is not kept: it is asked for again."""
        return {
            "version": STATE_VERSION,
            "policy": self.policy,
            "draws": self._draws,
            "epochs": self._epochs,
            "next_seed": self._next_seed,
            "credits": dict(self._turns.credits),
            "families": {name: [each.attempts, each.successes] for name, each in self._families.items()},
            "waiting": {group: list(pot.waiting) for group, pot in self._pots.items()},
            "aside": dict(self._aside),
            "members": {member: plain(track) for member, track in self._tracks.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from `state_dict`, once the members are there. Where the pool moved on since, it is right.

        Raises CurationError for another version, another policy, or keys that are unknown or missing.
        """
        kept = readable(state, self.policy, self.settings.window)
        self._draws, self._epochs = kept["draws"], kept["epochs"]
        self._next_seed = kept["next_seed"] + SEEDS_SKIPPED_AT_A_RESUME
        self._turns.credits.update(kept["credits"])
        for name, sums in kept["families"].items():
            self._families[name] = Family(self.settings.family_window, *sums)
        for group, members in kept["waiting"].items():
            self._pots[group].reorder(members)
        for member, saved in kept["members"].items():
            if member in self._tracks:
                self._restore(self._tracks[member], saved)
        # The mode may be another one now.
        born = {member: saved["born"] for member, saved in kept["members"].items()} | kept["aside"]
        for member in self._tracks.keys() - kept["members"].keys():
            track = self._tracks[member]
            track.born, track.drawn_at = born.get(member, self._epochs), self._draws
        self._aside = {member: born.get(member, self._epochs) for member in self._aside}

    def _add(self, standing: Standing) -> None:
        track = Track(
            standing.member,
            standing.group,
            standing.family,
            standing.level,
            self.settings.window,
            standing.retires,
            standing.size,
            standing.guess,
            born=self._epochs,
            drawn_at=self._draws,
        )
        self._tracks[standing.member] = track
        attempts, successes = self._scaled(standing)
        track.recent.add(attempts, successes)
        self._family(track).add(*above_guessing(attempts, successes, track.guess))
        if standing.status is Status.RESTING:
            self._sleep(track, self._draws + self.settings.rest_draws)
        else:
            self._pots[track.group].put(track.member)

    def _reconcile(self, track: Track, standing: Standing) -> None:
        if standing.level != track.level:
            self._set_level(track, standing.level)
        if standing.status is Status.ACTIVE and track.wakes_at is not None:
            track.wakes_at, track.drawn_at = None, self._draws
            self._pots[track.group].put(track.member)
        elif standing.status is Status.RESTING and track.wakes_at is None:
            self._pots[track.group].take(track.member)
            self._sleep(track, self._draws + self.settings.rest_draws)

    def _retired_aside(self) -> list[Decision]:
        """Those that are not drawn, and whose time is over all the same."""
        over = {member: too_old(self._epochs - born, self.settings) for member, born in self._aside.items()}
        retired: list[Decision] = [Retire(member, reason) for member, reason in over.items() if reason]
        for each in retired:
            self._forget(each.member)
        return retired

    def _forget(self, member: str) -> None:
        self._aside.pop(member, None)
        track = self._tracks.pop(member, None)
        if track is not None:
            self._pots[track.group].take(member)

    def _restore(self, track: Track, saved: dict[str, Any]) -> None:
        for level, sums in saved["levels"].items():
            track.levels[level] = Recent(self.settings.window, *sums)
        if saved["level"] == track.level:
            track.capped, track.rests = saved["capped"], saved["rests"]
        track.born, track.drawn_at = saved["born"], saved["drawn_at"]
        if track.wakes_at is not None:
            wakes_at = saved["wakes_at"]
            self._sleep(track, self._draws + self.settings.rest_draws if wakes_at is None else wakes_at)

    def _draw(self, rng: random.Random, parts: dict[str, float], awake: int) -> Recipe:
        member = self._pots[self._turns.next(parts)].pick(rng, self.settings.waiting_share)
        track = self._tracks[member]
        recipe = Recipe(member, self._next_seed, track.level)
        self._next_seed += 1
        self._draws += 1
        self._epochs += 1 / awake
        track.drawn_at = self._draws
        return recipe

    def _carry_out(self, track: Track, decision: Decision) -> None:
        match decision:
            case Promote():
                track.pending = True
            case Rest():
                length = self.settings.rest_draws * min(2**track.rests, LONGEST_REST)
                track.rests += 1
                self._pots[track.group].take(track.member)
                self._sleep(track, self._draws + length)
            case Retire():
                self._forget(track.member)

    def _sleep(self, track: Track, until: int) -> None:
        track.wakes_at = until
        heapq.heappush(self._alarms, (until, track.member))

    def _wakes_due(self) -> list[Wake | Retire]:
        while self._alarms and self._alarms[0][0] <= self._draws:
            at, member = heapq.heappop(self._alarms)
            track = self._tracks.get(member)
            if track is not None and track.wakes_at == at:
                self._end_rest(track)
        woken, self._woken = self._woken, []
        # Not one that is gone since, nor one that rests again.
        return [each for each in woken if isinstance(each, Retire) or self._is_awake(each.member)]

    def _end_rest(self, track: Track) -> None:
        """It is drawn again, unless its time ran out while it rested."""
        if track.retires and (reason := too_old(self._epochs - track.born, self.settings)):
            self._forget(track.member)
            self._woken.append(Retire(track.member, reason))
        else:
            self._wake(track, "rested long enough, and is judged anew")

    def _wake_everything(self) -> None:
        for track in list(self._tracks.values()):
            self._wake(track, "nothing else was awake")

    def _wake(self, track: Track, reason: str) -> None:
        track.wakes_at, track.drawn_at = None, self._draws
        track.recent.clear()
        self._pots[track.group].put(track.member)
        self._woken.append(Wake(track.member, reason))

    def _awake(self) -> int:
        return sum(len(pot.waiting) for pot in self._pots.values())

    def _is_awake(self, member: str) -> bool:
        return member in self._tracks and self._tracks[member].wakes_at is None

    def _weigh(self) -> dict[str, float]:
        weights = self._weights()
        masses = {group: pot.weigh(weights) for group, pot in self._pots.items() if pot.waiting}
        return shares(masses, self.settings)

    def _weights(self) -> dict[str, float]:
        rates, awake = {name: family.rate for name, family in self._families.items()}, self._awake()
        signals = {
            member: learning_signal(
                track.recent,
                self._trust(track, awake),
                rates[track.family],
                self.settings.family_weight,
                track.guess,
            )
            for member, track in self._tracks.items()
            if track.wakes_at is None
        }
        composites = {member: signals[member] for member in self._pots[COMPOSITES].waiting}
        return signals | evened(composites, {member: self._tracks[member].family for member in composites})

    def _composite_size(self) -> float:
        weights = self._weights() if self._awake() else {}
        drawn = {member: weights[member] for member in self._pots[COMPOSITES].waiting}
        total = sum(drawn.values())
        return (
            sum(self._tracks[each].size * weight for each, weight in drawn.items()) / total if total else 0.0
        )

    def _trust(self, track: Track, awake: int) -> float:
        """The staleness bonus: what was not asked for long is little known, so its weight goes back to its family's."""
        epochs = (self._draws - track.drawn_at) / awake
        return 0.5 ** (epochs / self.settings.stale_epochs)

    def _set_level(self, track: Track, level: int) -> None:
        track.level, track.pending, track.capped, track.rests = level, False, False, 0

    def _family(self, track: Track) -> Family:
        return self._families.setdefault(track.family, Family(self.settings.family_window))

    def _scaled(self, standing: Standing) -> tuple[int, int]:
        """The pool keeps sums for ever; here they count for no more than one window."""
        attempts, successes = standing.counts.attempts, standing.counts.successes
        if attempts <= self.settings.window:
            return attempts, successes
        return self.settings.window, round(successes * self.settings.window / attempts)
