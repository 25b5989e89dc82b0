"""The numbers curation goes by. Nothing here acts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationSettings:
    """Defaults are ours unless marked; shares and rates are fractions. Raises ValueError out of range."""

    seed_floor: float = 0.2
    """Least share of draws that goes to seeds (EvoEnv)."""
    composite_share: float | None = None
    """Share of draws that goes to composites; None: by their weights."""
    waiting_share: float = 0.1
    """Share of draws in each class that goes to the member which waited longest, so that none starves."""
    adaptive_levels: bool = True
    promote_at: float = 0.9
    """Success at which the next level is asked for (RLVE)."""
    min_answers: int = 16
    """Fewest answers at the present level before it may rise."""
    window: int = 64
    """Answers at the present level that count; older ones are forgotten."""
    rest_easy: float = 0.95
    """Success above which a member that cannot rise rests (EvoEnv's too easy)."""
    rest_hard: float = 0.02
    """Success below which a member rests (EvoEnv's too hard)."""
    rest_answers: int = 64
    """Fewest answers at the present level before a member may rest; at most `window`."""
    rest_draws: int = 2000
    """Draws, over all members, that a first rest lasts; further rests of a member double."""
    family_weight: float = 2.0
    """How many answers the success of its family counts for in a member's own."""
    family_window: int = 512
    """Answers of a family after which the older half is forgotten."""

    def __post_init__(self) -> None:
        fractions = ("seed_floor", "waiting_share", "promote_at", "rest_easy", "rest_hard")
        for name in (*fractions, *(("composite_share",) if self.composite_share is not None else ())):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"curation: {name} is a fraction of 1, not {getattr(self, name)}")
        if self.seed_floor + (self.composite_share or 0) > 1:
            raise ValueError("curation: seed_floor and composite_share are more than all draws together")
        if not 1 <= self.min_answers <= self.window or not 1 <= self.rest_answers <= self.window:
            raise ValueError("curation: min_answers and rest_answers lie between 1 and window")
        if self.rest_draws < 1 or self.family_weight <= 0 or self.family_window < 2:
            raise ValueError("curation: rest_draws, family_weight and family_window are positive")
