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
    near_duplicate: float = 0.80  # paper; policy-written programs only
    calibration_instances: int = 8  # paper: m

    @property
    def draws(self) -> int:
        """Instances that L2 to L5 look at."""
        return self.seeds_per_level * self.levels
