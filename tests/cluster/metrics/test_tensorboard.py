"""TensorBoard's own reader finds the curves, over restarts and fallbacks, and torch is not needed for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from cluster.metrics.tensorboard import TensorBoardSink


def update(step: int, **more: Any) -> dict[str, Any]:
    return {"step": step, "version": step, "loss": step / 10, "pool": {"active": 70 + step}, **more}


def curve(folder: Path, tag: str) -> list[tuple[int, float]]:
    reader = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    reader.Reload()
    return [(point.step, round(point.value, 4)) for point in reader.Scalars(tag)]


def test_updates_are_curves_over_the_step_with_what_the_status_said(tmp_path: Path) -> None:
    sink = TensorBoardSink(tmp_path)
    sink.gauges({"success": {"solver": {"success": 0.25, "parsed": 0.5}}, "funnel": {"L1": 4}})
    sink.step(update(1))
    sink.step(update(2))
    sink.close()
    assert curve(tmp_path, "train/loss") == [(1, 0.1), (2, 0.2)]
    assert curve(tmp_path, "pool/active") == [(1, 71.0), (2, 72.0)]
    assert curve(tmp_path, "success/solver") == [(1, 0.25), (2, 0.25)]
    assert curve(tmp_path, "funnel/L1") == [(1, 4.0), (2, 4.0)]


def test_a_restarted_writer_goes_on_with_the_curve(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        sink = TensorBoardSink(tmp_path)
        sink.step(update(step))
        sink.close()
    assert curve(tmp_path, "train/loss") == [(1, 0.1), (2, 0.2), (3, 0.3)]


def test_a_record_torn_by_a_kill_costs_itself_only(tmp_path: Path) -> None:
    sink = TensorBoardSink(tmp_path)
    sink.step(update(1))
    sink.step(update(2))
    sink.close()
    [file] = tmp_path.glob("events.*")
    file.write_bytes(file.read_bytes()[:-10])
    again = TensorBoardSink(tmp_path)
    again.step(update(3))
    again.close()
    assert curve(tmp_path, "train/loss") == [(1, 0.1), (3, 0.3)]


def test_a_fallback_takes_back_the_points_that_it_undid(tmp_path: Path) -> None:
    sink = TensorBoardSink(tmp_path)
    for step in (1, 2, 3):
        sink.step(update(step))
    sink.event("fallback", {"step": 1, "version": 4, "was": 3, "reopened": 4})
    sink.step(update(2, loss=0.9))
    sink.close()
    assert curve(tmp_path, "train/loss") == [(1, 0.1), (2, 0.9)]


def test_an_attached_policy_is_a_run_of_its_own(tmp_path: Path) -> None:
    sink = TensorBoardSink(tmp_path)
    sink.step(update(5))
    sink.step(update(1, policy="big"))
    sink.event("calibration", {"policy": "big", "members": 12})
    sink.close()
    assert curve(tmp_path / "big", "train/loss") == [(1, 0.1)]
    assert curve(tmp_path / "big", "calibration/members") == [(1, 12.0)]


def test_an_evaluation_stands_at_the_step_it_was_made_after(tmp_path: Path) -> None:
    sink = TensorBoardSink(tmp_path)
    evaluation = {"label": "before", "sets": {"held_out_families": {"success": 0.125}}}
    sink.event("evaluation", evaluation)
    sink.step(update(24))
    sink.event("evaluation", evaluation | {"sets": {"held_out_families": {"success": 0.5}}})
    sink.close()
    assert curve(tmp_path, "evaluation/sets/held_out_families/success") == [(0, 0.125), (24, 0.5)]


def test_neither_torch_nor_tensorflow_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from cluster.metrics.tensorboard import TensorBoardSink; "
        f"TensorBoardSink(Path({str(tmp_path)!r})).step({update(1)!r}); "
        "assert not {'torch', 'tensorflow', 'wandb', 'ray'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
