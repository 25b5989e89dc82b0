"""wandb, offline: a run folder with the curves, one id for all lives, no network, and no process left behind."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

STEPS = (
    "sink.gauges({'progress': {'step': 0, 'version': 0}, 'success': {'solver': {'success': 0.25}}});"
    "sink.event('evaluation', {'label': 'before', 'sets': {'held_out': {'success': 0.125}}});"
    "sink.step({'step': 1, 'version': 1, 'loss': 0.5, 'pool': {'active': 71}});"
    "sink.step({'step': 1, 'version': 1, 'loss': 0.75, 'policy': 'big'})"
)


def script(folder: Path, *statements: str, mode: str = "offline") -> str:
    """A process with a sink of its own, as the metrics actor is one."""
    opened = f"sink = WandbSink(Path({str(folder)!r}), 'demo', 'envolve', {mode!r}, {{'seed': 1}})"
    imports = "import time; from pathlib import Path; from cluster.metrics.wandb import WandbSink"
    return "; ".join((imports, opened, *statements))


def run(code: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | (env or {}))


def history(file: Path) -> list[dict[str, str]]:
    """What a `.wandb` file holds: a LevelDB log of protocol buffers behind seven bytes."""
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]

    rows, parts = [], b""
    for kind, data in records(file.read_bytes()):
        parts = parts + data if kind in (3, 4) else data
        if kind in (1, 4):
            record = Record.FromString(parts)
            if record.HasField("history"):
                items = record.history.item
                rows.append({"/".join(item.nested_key) or item.key: item.value_json for item in items})
    return rows


def records(raw: bytes, block: int = 1 << 15) -> Iterator[tuple[int, bytes]]:
    place = 7
    while place + 7 <= len(raw):
        if block - place % block < 7:
            place += block - place % block
            continue
        _, length, kind = struct.unpack_from("<IHB", raw, place)
        yield kind, raw[place + 7 : place + 7 + length]
        place += 7 + length


def cores_of(pid: int) -> list[psutil.Process]:
    """wandb-core processes that serve a process, whether it lives or not."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if line and line[0].endswith("wandb-core") and str(pid) in line:
            found.append(process)
    return found


def offline_files(folder: Path) -> list[Path]:
    return sorted((folder / "wandb").glob("offline-run-*/run-*.wandb"))


def test_a_run_folder_holds_the_curves_by_policy(tmp_path: Path) -> None:
    done = run(script(tmp_path, STEPS, "sink.close()"))
    assert done.returncode == 0, done.stderr
    [file] = offline_files(tmp_path)
    evaluation, own, other = history(file)
    assert evaluation["evaluation/sets/held_out/success"] == "0.125"
    assert (own["train/loss"], own["pool/active"], own["success/solver"], own["version"]) == (
        "0.5", "71", "0.25", "1",
    )  # fmt: skip
    assert (other["big/train/loss"], other["big/version"]) == ("0.75", "1")


def test_all_lives_of_the_writer_are_one_run(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(script(tmp_path, STEPS, "sink.close()")).returncode == 0
    files = offline_files(tmp_path)
    assert len(files) == 2
    known = (tmp_path / "wandb" / "run-id").read_text()
    assert {file.name for file in files} == {f"run-{known}.wandb"}


def test_offline_nothing_is_sent(tmp_path: Path) -> None:
    """Whatever wandb might reach, it would have to go through this proxy."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.settimeout(0.0)
        url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), url)
        given = {"NO_PROXY": "", "no_proxy": "", "WANDB_BASE_URL": url, "WANDB_API_KEY": "0" * 40}
        assert run(script(tmp_path, STEPS, "sink.close()"), proxies | given).returncode == 0
        with pytest.raises(BlockingIOError):
            proxy.accept()


def test_online_without_a_key_is_an_error_and_no_question(tmp_path: Path) -> None:
    url = {"WANDB_BASE_URL": "http://127.0.0.1:1", "WANDB_API_KEY": "", "HOME": str(tmp_path)}
    done = run(script(tmp_path, STEPS, mode="online"), url)
    assert done.returncode != 0
    assert "No API key configured" in done.stderr


def test_no_process_is_left_after_the_end(tmp_path: Path) -> None:
    code = script(tmp_path, STEPS, "sink.close()", "print('closed', flush=True)", "time.sleep(600)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "closed\n"
        left = cores_of(process.pid)
        process.kill()
    assert left == []


def test_after_a_kill_no_process_is_left_and_what_was_logged_before_is_there(tmp_path: Path) -> None:
    code = script(tmp_path, STEPS, "print('logged', flush=True)", "time.sleep(600)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "logged\n"
        assert len(cores_of(process.pid)) == 1
        [file] = offline_files(tmp_path)
        while len(history(file)) < 3:  # a kill costs what was logged since the last flush
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGKILL)
    while cores_of(process.pid):  # the test's own limit is the one for it
        time.sleep(0.1)
    assert [row["train/loss"] for row in history(file) if "train/loss" in row] == ["0.5"]
