"""A wandb run, in RUN/wandb: offline unless the configuration asks for more, so that nothing leaves the machine.

Invariant: all lives of the writer belong to one wandb run, whose id is kept in RUN/wandb/run-id; `wandb sync
RUN/wandb/offline-run-*` uploads them. The x axis is the policy's version, which never falls. wandb-core, the process
behind it, ends with the writer, also when that is killed. Offline, wandb's own error reports are off too.

It costs about 50 MiB here and 35 MiB in wandb-core, and a second to start.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, Literal

from cluster.metrics import scalars
from cluster.metrics.sink import Record

FILE_OF_ID = "run-id"
FLUSH_SECONDS = 2.0
"""What a kill costs at most; updates are further apart."""


class WandbSink:
    """One wandb run. Raises what wandb raises, for example where it is online and knows no key."""

    def __init__(
        self,
        folder: Path,
        name: str,
        project: str,
        mode: Literal["offline", "online"] = "offline",
        config: Record | None = None,
    ) -> None:
        offline = mode == "offline"
        if offline:
            os.environ["WANDB_ERROR_REPORTING"] = "false"  # read when wandb is imported
        import wandb

        self._wandb = wandb
        self._status: Record = {}
        self._versions: dict[str, int] = {}
        self._run: Any = wandb.init(
            project=project, name=name, id=_kept_id(folder / "wandb" / FILE_OF_ID), dir=str(folder),
            mode=mode, config=config, resume=None if offline else "allow",
            settings=wandb.Settings(
                console="off", silent=True, disable_git=True, disable_code=True, x_disable_stats=True,
                x_save_requirements=False, x_disable_machine_info=offline,
                x_transaction_log_flush_interval=FLUSH_SECONDS,
            ),
        )  # fmt: skip

    def step(self, record: Record) -> None:
        """A point of each of the update's curves."""
        policy = scalars.policy_of(record)
        self._axis(policy, int(record["version"]))
        self._log(policy, scalars.of_step(record, self._status))

    def gauges(self, status: Record) -> None:
        """Kept until the next step."""
        self._status = status

    def event(self, kind: str, record: Record) -> None:
        """An evaluation is a point."""
        if kind in scalars.CURVES:
            policy = scalars.policy_of(record)
            self._axis(policy, self._versions.get(policy, self._live(policy)))
            self._log(policy, scalars.flat(record, kind))

    def close(self) -> None:
        """Finish the run and end wandb-core. Online, this waits for the upload."""
        self._run.finish()
        self._wandb.teardown()

    def _live(self, policy: str) -> int:
        return 0 if policy else int((self._status.get("progress") or {}).get("version", 0))

    def _axis(self, policy: str, version: int) -> None:
        if policy not in self._versions:
            axis = f"{policy}/version" if policy else "version"
            self._run.define_metric(axis, hidden=True)
            for section in (policy,) if policy else scalars.SECTIONS:
                self._run.define_metric(f"{section}/*", step_metric=axis)
        self._versions[policy] = version

    def _log(self, policy: str, values: dict[str, float]) -> None:
        values = values | {"version": float(self._versions[policy])}
        self._run.log({f"{policy}/{key}" if policy else key: value for key, value in values.items()})


def _kept_id(path: Path) -> str:
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".tmp")
        scratch.write_text(uuid.uuid4().hex[:12], encoding="utf-8")
        os.replace(scratch, path)
    return path.read_text(encoding="utf-8").strip()
