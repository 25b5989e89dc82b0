"""What the gates are set to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionSettings:
    """Limits of the gates; the paper (EvoEnv) leaves open what is marked ours."""

    seeds_per_level: int = 5  # ours
    levels: int = 3  # ours; levels 0 to 2
    perturbations: int = 12  # ours; to each instance, as far as the type has that many
    guess_limit: float = 0.6  # ours
    distinct_answers: int = 3  # ours; of 15, two where the codomain has but two values
    near_duplicate: float | None = 0.80  # paper; policy-written programs only; None: near copies pass
    constants_make_new: bool = False  # ours; whether a policy's copy with other numbers is one
    fewest_levels: int = 2  # ours; that hold, of a program from a collection, whose levels are what they are
    headroom: int = 1  # ours; levels above those that must run, so that the first ones are not the last
    prompt_characters: int = 8_000  # ours; of a question, up to the headroom
    answer_characters: int = 2_000  # ours; of a reference as text, up to the headroom
    calibration_instances: int = 8  # paper: m
    reviews: int = 3  # paper; policy-written programs only

    @property
    def draws(self) -> int:
        """Instances that L2 to L5 look at."""
        return self.seeds_per_level * self.levels
