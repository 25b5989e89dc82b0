"""The numbers curation goes by. Nothing here acts."""

from dataclasses import dataclass
from typing import Literal

from envpool.answer_counts import wilson

Mode = Literal["single", "composed", "mixed"]
SEEDS, COMPOSITES, OTHERS = GROUPS = ("seeds", "composites", "others")
"""Classes of members that have shares of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationSettings:
    """Defaults are ours unless marked; shares and rates are fractions. Raises ValueError out of range.

    Rates are held against 95 % intervals: a member is above one when the whole interval is.
    """

    mode: Mode = "mixed"
    """What is drawn: single environments, composed ones, or both."""
    seed_floor: float = 0.2
    """Least share of draws that goes to seeds (EvoEnv)."""
    composite_share: float | None = None
    """Share of draws that goes to composites; None: by their weights."""
    waiting_share: float = 0.1
    """Share of draws in each class that goes to the member which waited longest, so that none starves."""
    stale_epochs: float = 5.0
    """Epochs without a draw after which a member's own answers count half; an epoch is a draw for each one awake."""
    adaptive_levels: bool = True
    promote_at: float = 0.9
    """Success above which the next level is asked for (RLVE)."""
    window: int = 64
    """Answers after which an earlier one counts half."""
    rest_easy: float = 0.95
    """Success above which a member that cannot rise rests (EvoEnv's too easy)."""
    rest_hard: float = 0.05
    """Success below which a member rests (EvoEnv's too hard)."""
    rest_draws: int = 2000
    """Draws, over all members, that a first rest lasts; further rests of a member double."""
    rests: int = 2
    """Rests at one level after which a member that is found too easy or too hard again retires."""
    retire_epochs: float | None = 20.0
    """Age at which a member retires (EvoEnv retires after a fixed number of epochs); None: never."""
    family_weight: float = 2.0
    """How many answers the success of its family counts for in a member's own."""
    family_window: int = 512
    """Answers of a family after which the older half is forgotten."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The classes of members that are drawn."""
        return {"single": (SEEDS, OTHERS), "composed": (COMPOSITES,), "mixed": GROUPS}[self.mode]

    def __post_init__(self) -> None:
        fractions = ("seed_floor", "waiting_share", "promote_at", "rest_easy", "rest_hard")
        for name in (*fractions, *(("composite_share",) if self.composite_share is not None else ())):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"curation: {name} is a fraction of 1, not {getattr(self, name)}")
        if self.seed_floor + (self.composite_share or 0) > 1:
            raise ValueError("curation: seed_floor and composite_share are more than all draws together")
        if min(self.window, self.rest_draws, self.family_weight, self.stale_epochs) <= 0 or self.rests < 0:
            raise ValueError(
                "curation: window, rest_draws, family_weight and stale_epochs are positive, rests not negative"
            )
        if self.family_window < 2 or (self.retire_epochs is not None and self.retire_epochs <= 0):
            raise ValueError("curation: family_window is at least 2, and retire_epochs positive or null")
        self._refuse_blindness()

    def _refuse_blindness(self) -> None:
        """A short window holds too few answers for an interval that could ever lie beyond a limit."""
        fade = 0.5 ** (1 / self.window)
        most = (1 + fade) / (1 - fade)
        for name, limit in (
            ("promote_at", self.promote_at),
            ("rest_easy", self.rest_easy),
            ("rest_hard", 1 - self.rest_hard),
        ):
            if limit < 1 and wilson(1.0, most).low <= limit:
                raise ValueError(
                    f"curation: a window of {self.window} answers can never tell that {name} is passed"
                )
