"""A process that vLLM starts must not outlive the process that asked for it."""
from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection

import psutil

from training.policy import file_weights


def _child(report: Connection) -> None:
    file_weights._end_with_parent()
    file_weights._end_with_parent()
    report.send(os.getpid())
    time.sleep(600)


def _parent(report: Connection) -> None:
    context = multiprocessing.get_context("spawn")
    context.Process(target=_child, args=(report,)).start()
    time.sleep(600)


def test_a_child_ends_when_its_parent_is_killed() -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    parent = context.Process(target=_parent, args=(there,))
    parent.start()
    child = psutil.Process(here.recv())
    os.kill(parent.pid, signal.SIGKILL)
    psutil.wait_procs([child], timeout=30)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_process_without_a_parent_of_its_own_kind_is_left_alone() -> None:
    file_weights._end_with_parent()
    assert multiprocessing.parent_process() is None
