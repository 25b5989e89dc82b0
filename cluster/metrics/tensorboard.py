"""TensorBoard event files: RUN/tensorboard for the run's own policy, RUN/tensorboard/NAME for each attached one.

Invariant: the x axis is the policy's step. Where weights fell back to a checkpoint, the file says so, and TensorBoard
drops the curve from there on, as the run did. A file is begun for every life of the writer; TensorBoard joins them.
Without torch or TensorFlow: the files are written with tensorboard's own record format.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from cluster.metrics import scalars
from cluster.metrics.sink import Record


class TensorBoardSink:
    """One event file a policy. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, _EventFile] = {}
        self._steps: dict[str, int] = {}
        self._status: Record = {}
        self._file("")

    def step(self, record: Record) -> None:
        """A point of each of the update's curves."""
        policy = scalars.policy_of(record)
        self._steps[policy] = int(record["step"])
        self._file(policy).add(self._steps[policy], scalars.of_step(record, self._status))

    def gauges(self, status: Record) -> None:
        """Kept until the next step."""
        self._status = status
        self._steps.setdefault("", int((status.get("progress") or {}).get("step", 0)))

    def event(self, kind: str, record: Record) -> None:
        """An evaluation is a point; a fallback ends the curves that it undoes."""
        policy = scalars.policy_of(record)
        if kind == "fallback":
            self._steps[policy] = int(record["step"])
            self._file(policy).fall_back(self._steps[policy] + 1)
        elif kind in scalars.CURVES:
            self._file(policy).add(self._steps.get(policy, 0), scalars.flat(record, kind))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()

    def _file(self, policy: str) -> _EventFile:
        if policy not in self._files:
            self._files[policy] = _EventFile(self._folder / policy if policy else self._folder)
        return self._files[policy]


class _EventFile:
    def __init__(self, folder: Path) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._log, self._summary = event_pb2.Event, event_pb2.SessionLog, summary_pb2.Summary
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{time.time_ns() // 10**9:010d}.{socket.gethostname()}.{os.getpid()}"
        path = folder / f"{name}.{time.time_ns()}"
        self._records = RecordWriter(path.open("xb"))
        self._write(file_version="brain.Event:2")

    def add(self, step: int, values: dict[str, float]) -> None:
        points = [self._summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        if points:
            self._write(step=step, summary=self._summary(value=points))

    def fall_back(self, step: int) -> None:
        """Points from this step on are void."""
        self._write(step=step, session_log=self._log(status=self._log.START))

    def close(self) -> None:
        self._records.close()

    def _write(self, **fields: Any) -> None:
        self._records.write(self._event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()
