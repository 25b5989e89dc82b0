"""The shares past each gate become curves of the policy that wrote the proposals."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from cluster.metrics import scalars
from cluster.metrics.tensorboard import TensorBoardSink

STATUS = {"passing": {"generator": {"L1": 0.75, "L4": 0.5}, "generator coder": {"L1": 1.0}}}


def test_an_update_has_a_point_of_each_stage_of_its_own_policy() -> None:
    own = scalars.of_step({"step": 1, "version": 1}, STATUS)
    assert {name: value for name, value in own.items() if name.startswith("passing/")} == {
        "passing/L1": 0.75,
        "passing/L4": 0.5,
    }
    assert scalars.of_step({"step": 1, "version": 1, "policy": "coder"}, STATUS)["passing/L1"] == 1.0
    assert not any("passing" in name for name in scalars.of_step({"step": 1, "policy": "other"}, STATUS))


def test_an_update_has_a_point_of_each_part_of_what_its_own_proposals_earned() -> None:
    status = STATUS | {"earned": {"generator": {"quality": 0.25, "total": 0.5}, "generator coder": {"total": 0.0}}}
    own = scalars.of_step({"step": 1, "version": 1}, status)
    assert (own["earned/quality"], own["earned/total"]) == (0.25, 0.5)
    assert scalars.of_step({"step": 1, "policy": "coder"}, status)["earned/total"] == 0.0


def test_tensorboard_reads_them(tmp_path: Path) -> None:
    sink = TensorBoardSink(tmp_path)
    for step in (1, 2):
        sink.gauges({"passing": {"generator": {"L4": step / 4}}})
        sink.step({"step": step, "version": step})
    sink.close()
    reader = EventAccumulator(str(tmp_path))
    reader.Reload()
    assert [(point.step, point.value) for point in reader.Scalars("passing/L4")] == [(1, 0.25), (2, 0.5)]
