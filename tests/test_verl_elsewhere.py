"""verl's own trainer, none of our training code, trains on an exported pool for two steps, and its rewards are ours."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from cluster.cli import app
from envpool import Pool
from envpool.contract import Instance
from envpool.exchange.instances import instance_from
from envpool.exchange.rewards import reward_of
from envpool.exchange.shipped_pool import shipped_snapshot
from envpool.exchange.snapshot import write_snapshot
from training.policy.source import resolve_model

ROOT = Path(__file__).parents[1]
STEPS, PROMPTS, RESPONSES = 2, 4, 4
EASY = ("lists/is_sorted", "lists/largest", "strings/contains_e", "strings/same_ends")
"""Some answers of a model of 135M parameters are right, so that rewards of a group differ."""


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Through the command, from a snapshot of a few shipped programs."""
    snapshot = asyncio.run(shipped_snapshot("none", EASY))
    write_snapshot(tmp_path, snapshot.members.values(), snapshot.levels, snapshot.provenance)
    arguments = ["export", "verl", str(tmp_path), str(tmp_path / "exported"), "--train=32", "--questions=4"]
    done = CliRunner().invoke(app, [*arguments, "--families=0", "--chat=local"])
    assert done.exit_code == 0, done.output
    return tmp_path / "exported"


def test_verl_trains_on_an_exported_pool(exported: Path, tmp_path: Path) -> None:
    arguments = [
        f"trainer.total_training_steps={STEPS}", f"data.train_batch_size={PROMPTS}",
        f"actor_rollout_ref.rollout.n={RESPONSES}", f"trainer.rollout_data_dir={tmp_path / 'rollouts'}",
        f"hydra.run.dir={tmp_path / 'hydra'}",
        "data.max_prompt_length=320", "data.max_response_length=24",
    ]  # fmt: skip
    script = ROOT / "examples" / "verl" / "train_on_cpu.sh"
    environment = {"PYTHON": sys.executable, "VERL_FILE_LOGGER_PATH": str(tmp_path / "metrics.jsonl")}
    done = subprocess.run(
        [script, exported, resolve_model("smollm2-135m"), *arguments],
        env=os.environ | environment, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    steps = [json.loads(line)["data"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == STEPS
    rollouts = [
        json.loads(line)
        for file in sorted((tmp_path / "rollouts").glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    assert len(rollouts) == STEPS * PROMPTS * RESPONSES
    scores = [rollout["score"] for rollout in rollouts]
    assert scores == ours(exported, rollouts)
    assert 0 < sum(scores) < len(scores)
    assert any(step["actor/grad_norm"] > 0 for step in steps)


def ours(exported: Path, rollouts: list[dict[str, Any]]) -> list[float]:
    """Our verdicts on the responses that verl wrote down."""
    rows = pyarrow.parquet.read_table(exported / "train.parquet").to_pylist()
    instances = {
        row["prompt"][-1]["content"]: instance_from(json.loads(row["extra_info"]["scoring"]), prompt="")
        for row in rows
    }
    with Pool.open(exported) as pool:
        return [reward_of(pool.score(asked(instances, each["input"]), each["output"])) for each in rollouts]


def asked(instances: dict[str, Instance], rendered: str) -> Instance:
    """The instance whose question stands in what the model was given."""
    (found,) = [instance for question, instance in instances.items() if question in rendered]
    return found
