"""What a process that was forked has of its own: connections, sources, locks."""

import gc
import json
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from envpool.exchange import opening, task_sources
from envpool.exchange.scoring import Scoring
from envpool.exchange.service.client import ServiceClient
from envpool.exchange.verifiers_taskset import PoolTaskConfig
from envpool.store import PoolWriter

PATIENCE_SECONDS = 20


def in_a_child(work: Callable[[], object]) -> str:
    """What work returned in a process that was forked here; empty where it failed, or hung."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.alarm(PATIENCE_SECONDS)
            os.write(writing, str(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


class WhoAsks(BaseHTTPRequestHandler):
    """Answers with the port that the connection comes from."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        said = json.dumps({"from": self.client_address[1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), WhoAsks) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_child_asks_over_a_connection_of_its_own_and_leaves_its_parents_alone(url: str) -> None:
    with ServiceClient(url, patience=5) as client:
        ours = client.status()["from"]
        with client._making:  # as if a thread were making a connection
            theirs = in_a_child(lambda: client.status()["from"])
        assert theirs.isdecimal()
        assert int(theirs) != ours
        assert client.status()["from"] == ours, "kept alive"


@contextmanager
def held_up(
    monkeypatch: pytest.MonkeyPatch, place: object, name: str, work: Callable[[], object]
) -> Iterator[threading.Event]:
    """While a thread is in the midst of some work, in the function of that name, until the event; not so in a child."""
    real, here = getattr(place, name), os.getpid()
    within, go_on = threading.Event(), threading.Event()

    def slowly(*arguments: object, **more: object) -> object:
        if os.getpid() == here:
            within.set()
            assert go_on.wait(60)
        return real(*arguments, **more)

    monkeypatch.setattr(place, name, slowly)
    thread = threading.Thread(target=work)
    thread.start()
    assert within.wait(60)
    try:
        yield go_on
    finally:
        go_on.set()
        thread.join()


def night(folder: Path) -> Path:
    """A run's folder, whose pool nobody is in."""
    run = folder / "night"
    run.mkdir()
    (run / "config.yaml").write_text("run: {name: night}\n", encoding="utf-8")
    PoolWriter.open(run / "pool", map_size=1 << 26).close()
    return run


def test_a_child_opens_a_pool_while_a_thread_of_its_parent_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = night(tmp_path)
    with held_up(monkeypatch, opening, "snapshot_of", lambda: opening.read_pool(run)) as go_on:
        threading.Timer(0.3, go_on.set).start()
        assert in_a_child(lambda: opening.read_pool(run).provenance.run) == "night"


def test_a_child_opens_a_source_while_a_thread_of_its_parent_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = PoolTaskConfig(source=str(night(tmp_path)))
    with held_up(monkeypatch, task_sources, "PoolSource", lambda: task_sources.source_of(settings)):
        assert in_a_child(lambda: type(task_sources.source_of(settings)).__name__) == "PoolSource"
    ours = task_sources.source_of(settings)
    assert in_a_child(lambda: task_sources.source_of(settings) is ours) == "False"
    assert task_sources.source_of(settings) is ours


def test_a_child_scores_on_a_pool_of_its_own(tmp_path: Path) -> None:
    scoring = Scoring(night(tmp_path))
    ours = scoring.pool
    with scoring._opening:  # as if a thread were opening it
        assert in_a_child(lambda: scoring.pool is ours) == "False"
    assert scoring.pool is ours
    scoring.close()


def test_nothing_holds_a_scoring_that_nobody_has(tmp_path: Path) -> None:
    gone = weakref.ref(Scoring(tmp_path))
    gc.collect()
    assert gone() is None
