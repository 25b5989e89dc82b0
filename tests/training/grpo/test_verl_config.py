"""Our settings in verl's words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from training.grpo.settings import LearnerSettings
from training.grpo.verl_config import actor_config, passes_in, rank_environment

SETTINGS = LearnerSettings(Path("model"), threads=3)


def test_the_loss_clips_as_the_papers_do_and_has_no_kl_term() -> None:
    config = actor_config(SETTINGS)
    assert (config.clip_ratio_low, config.clip_ratio_high) == (0.2, 0.28)
    assert (config.use_kl_loss, config.entropy_coeff, config.loss_agg_mode) == (False, 0.0, "token-mean")


def test_threads_of_a_rank_sleep_while_they_wait() -> None:
    environment = rank_environment(SETTINGS)
    assert (environment["OMP_NUM_THREADS"], environment["OMP_WAIT_POLICY"]) == ("3", "PASSIVE")


def test_the_cpu_platform_is_chosen_for_ranks_without_a_gpu_only() -> None:
    assert rank_environment(SETTINGS)["VERL_PLATFORM"] == "cpu"
    assert rank_environment(replace(SETTINGS, gpus=True))["VERL_PLATFORM"] == "nvidia"


@pytest.mark.parametrize(
    ("flags", "passes"), [("fma avx512f", "fp32"), ("avx512f avx512_bf16", "bf16"), ("amx_bf16", "bf16")]
)
def test_passes_are_in_bf16_where_the_processor_multiplies_it(
    tmp_path: Path, flags: str, passes: str
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags : {flags}\n")
    assert passes_in(SETTINGS, cpuinfo) == passes
    assert passes_in(replace(SETTINGS, precision="fp32"), cpuinfo) == "fp32"
    assert passes_in(replace(SETTINGS, gpus=True), cpuinfo) == "bf16"
