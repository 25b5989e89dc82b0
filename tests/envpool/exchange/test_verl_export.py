"""An export for verl, taken in by verl's own data set, reward loader and reward manager."""

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
import torch
from exchanged import members, perfect, write_members
from hydra import compose, initialize_config_module
from omegaconf import DictConfig, open_dict
from tensordict import TensorDict
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.registry import REWARD_MANAGER
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils.dataset.rl_dataset import RLHFDataset

from envpool import Pool
from envpool.contract import Failed, Instance, Outcome, Scored
from envpool.exchange.gathering import Split
from envpool.exchange.instances import instance_from
from envpool.exchange.rewards import NoVerdict, reward_of
from envpool.exchange.snapshot import SnapshotError
from envpool.exchange.verl import FILES, REWARD_FILE, SCHEMA, export
from envpool.exchange.verl_reward import Rewards, rewards_of
from envpool.split import is_held_out_prompt
from training.policy.source import resolve_model

COUNTS: dict[Split, int] = {"train": 800, "held_out_questions": 120, "held_out_families": 80}
WRONG = ("<answer>-7</answer>", "no idea", "<answer>[1, 2", "<answer>nonsense</answer>", "")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    found = members()
    levels = {member.id: 1 for member in found.values()}
    with Pool.open(write_members(tmp_path_factory.mktemp("pool"), found, levels)) as opened:
        yield opened


@pytest.fixture(scope="module")
def exported(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verl")
    assert export(pool, folder, COUNTS).counts == COUNTS
    return folder


@pytest.fixture(scope="module")
def rows(exported: Path) -> list[Row]:
    return [row for name in FILES for row in pyarrow.parquet.read_table(exported / name).to_pylist()]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(resolve_model("smollm2-135m"))


@pytest.fixture(scope="module")
def config(exported: Path) -> DictConfig:
    """verl's own configuration with the reward function of the export."""
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", [
            f"reward.custom_reward_function.path={exported / REWARD_FILE}",
            "data.max_prompt_length=4096",
            "data.filter_overlong_prompts=true",
        ])  # fmt: skip
    with open_dict(config):
        config.data.cache_dir = str(exported / "cache")
    return config


@pytest.fixture
def rewards(exported: Path) -> Iterator[Rewards]:
    scored_by = Rewards(exported, pauses=(0.0, 0.0))
    yield scored_by
    scored_by.close()


def plain_instance(row: Row) -> Instance:
    return instance_from(json.loads(row["extra_info"]["scoring"]), row["prompt"][0]["content"])


def right(row: Row) -> str:
    return perfect(plain_instance(row))


def reward(rewards: Rewards, row: Row, response: str) -> dict[str, float]:
    """As verl calls the function."""
    return rewards.compute_score(
        data_source=row["data_source"],
        solution_str=response,
        ground_truth=row["reward_model"]["ground_truth"],
        extra_info=row["extra_info"],
    )


def as_batch(row: Row, response: str, tokenizer: PreTrainedTokenizerBase) -> DataProto:
    """One row and its response, as verl's agent loop hands them to the reward manager."""
    ids = [*tokenizer.encode(response, add_special_tokens=False), tokenizer.eos_token_id]
    tensors = {"responses": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.int64)}
    fields = ("data_source", "reward_model", "extra_info")
    return DataProto(
        batch=TensorDict(tensors, batch_size=1),
        non_tensor_batch={key: np.array([row[key]], dtype=object) for key in fields},
    )


def asked_of_verl(
    config: DictConfig, tokenizer: PreTrainedTokenizerBase, asked: list[tuple[Row, str]]
) -> list[dict[str, Any]]:
    """What verl's reward manager makes of each response, all at once, as a reward worker has them."""
    manager = load_reward_manager(config, tokenizer)

    async def score_all() -> list[dict[str, Any]]:
        manager.loop = asyncio.get_running_loop()
        batches = [as_batch(row, response, tokenizer) for row, response in asked]
        return await asyncio.gather(*map(manager.run_single, batches))

    return asyncio.run(score_all())


def managed_by(name: str, config: DictConfig) -> DictConfig:
    """verl's configuration with another of its reward managers."""
    changed = deepcopy(config)
    changed.reward.reward_manager.name = name
    return changed


def test_a_thousand_rows_score_in_verl_as_they_score_here(
    pool: Pool, exported: Path, config: DictConfig, tokenizer: PreTrainedTokenizerBase
) -> None:
    taken_in = RLHFDataset([str(exported / name) for name in FILES], tokenizer, config.data)
    theirs = [taken_in[place] for place in range(len(taken_in))]
    assert len(theirs) == 1000
    asked: list[tuple[Row, str]] = []
    expected: list[Outcome] = []
    for place, row in enumerate(theirs):
        instance = pool.build(plain_instance(row).recipe)
        assert row["raw_prompt"] == [{"role": "user", "content": instance.prompt}]
        responses = [perfect(instance), WRONG[place % len(WRONG)]]
        asked += [(row, response) for response in responses]
        expected += pool.score_all(instance, responses)
    scored = asked_of_verl(config, tokenizer, asked)
    assert [each["reward_score"] for each in scored] == [reward_of(outcome) for outcome in expected]
    assert all(outcome == Scored(1.0) for outcome in expected[::2])
    told = [each["reward_extra_info"] for each in scored]
    assert [each["parsed"] for each in told] == [float(isinstance(outcome, Scored)) for outcome in expected]
    assert [each["acc"] for each in told] == [float(outcome == Scored(1.0)) for outcome in expected]


def test_the_columns_are_those_that_verl_documents(exported: Path) -> None:
    for name in FILES:
        assert pyarrow.parquet.read_schema(exported / name) == SCHEMA


def test_nothing_that_is_held_out_is_trained_on(pool: Pool, rows: list[Row]) -> None:
    apart = set(pool.ids(held_out=True))
    assert {row["data_source"] for row in rows} == {f"envolve/{split}" for split in COUNTS}
    for row in rows:
        split, question = row["extra_info"]["split"], row["prompt"][0]["content"]
        assert row["data_source"] == f"envolve/{split}"
        assert (row["extra_info"]["member"] in apart) == (split == "held_out_families")
        assert split == "held_out_families" or is_held_out_prompt(question) == (split == "held_out_questions")
    assert len({row["prompt"][0]["content"] for row in rows}) == len(rows)


def test_each_row_says_where_it_comes_from(pool: Pool, rows: list[Row]) -> None:
    for row in rows:
        info, member = row["extra_info"], pool.get(row["extra_info"]["member"])
        assert info["fingerprint"] == pool.fingerprint
        assert json.loads(info["lineage"])["origin"] == member.origin
        assert info["licence"] == "Apache-2.0"
        assert row["reward_model"]["ground_truth"] in right(row)
    assert {"SORT", "SELECT", "PARALLEL", "SEQUENTIAL"} <= {row["ability"] for row in rows}
    assert [row["extra_info"]["index"] for row in rows[:800]] == list(range(800))


def test_threads_of_one_process_share_a_sandbox(rewards: Rewards, rows: list[Row]) -> None:
    with ThreadPoolExecutor(8) as threads:
        scored = list(threads.map(lambda row: reward(rewards, row, right(row)), rows[:24]))
    assert scored == [{"score": 1.0, "acc": 1.0, "parsed": 1.0}] * 24


def test_a_process_that_is_forked_after_the_first_call_has_a_sandbox_of_its_own(
    exported: Path, rows: list[Row]
) -> None:
    # whose answers only the program can judge
    row = next(
        row for row in rows if "Choose numbers from the list that add up" in row["prompt"][0]["content"]
    )
    rewards = rewards_of(exported)
    assert reward(rewards, row, right(row))["score"] == 1.0
    with multiprocessing.get_context("fork").Pool(2) as children:
        tasks = [(rewards, row, right(row)), (rewards, row, "<answer>[]</answer>")] * 2
        assert [each["score"] for each in children.starmap(reward, tasks)] == [1.0, 0.0, 1.0, 0.0]
    assert reward(rewards, row, right(row))["score"] == 1.0
    rewards.close()


def test_a_machine_that_fails_is_asked_again(
    rewards: Rewards, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = iter([Failed("the sandbox is gone"), Failed("the sandbox is gone"), Scored(1.0)])
    monkeypatch.setattr(Pool, "score", lambda *_: next(outcomes))
    assert reward(rewards, rows[0], "") == {"score": 1.0, "acc": 1.0, "parsed": 1.0}


def test_where_there_is_no_verdict_there_is_no_reward(
    rewards: Rewards, rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pool, "score", lambda *_: Failed("the sandbox is gone"))
    with pytest.raises(NoVerdict, match=f"{rows[0]['extra_info']['member']}: the sandbox is gone"):
        reward(rewards, rows[0], right(rows[0]))


@pytest.mark.parametrize("manager", ["naive", "dapo", "gdpo"])
def test_verl_hears_of_a_missing_verdict_as_an_error(
    manager: str, rows: list[Row], config: DictConfig, tokenizer: PreTrainedTokenizerBase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(Pool, "score", lambda *_: Failed("it raised", culprit="p1"))
    with pytest.raises(NoVerdict, match="it raised"):
        asked_of_verl(managed_by(manager, config), tokenizer, [(rows[0], right(rows[0]))])


def test_the_documentation_warns_of_the_manager_that_makes_a_reward_of_a_missing_verdict(
    rows: list[Row], config: DictConfig, tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pool, "score", lambda *_: Failed("it raised", culprit="p1"))
    (given,) = asked_of_verl(managed_by("rate_limited", config), tokenizer, [(rows[0], right(rows[0]))])
    assert given["reward_score"] == 0.0 and "it raised" in given["reward_extra_info"]["error"]


def test_verl_has_no_reward_manager_of_which_the_documentation_says_nothing() -> None:
    assert set(REWARD_MANAGER) == {"naive", "dapo", "gdpo", "remote", "rate_limited"}


def test_rows_of_another_export_are_refused(rewards: Rewards, rows: list[Row]) -> None:
    other = {**rows[0], "extra_info": {**rows[0]["extra_info"], "fingerprint": "0123"}}
    with pytest.raises(SnapshotError, match="take the data files and the reward function from one export"):
        reward(rewards, other, right(rows[0]))


def test_the_same_seed_exports_the_same_rows(pool: Pool, tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        export(pool, tmp_path / name, {"train": 12, "held_out_questions": 4}, seed=5)
        written.append([(tmp_path / name / file).read_bytes() for file in (*FILES, REWARD_FILE)])
    assert written[0] == written[1]
