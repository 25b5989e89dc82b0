"""Forking and burying children on request, in the zygote.

Invariant: a message carries its job, so a late one cannot hit another child, and a child that is not buried keeps its
number, so a kill cannot hit another process.
"""

import array
import json
import os
import signal
import socket
import time
from typing import Any

from envpool.sandbox.inside.child import Cage
from envpool.sandbox.inside.child import run as run_child

_MESSAGE = 4096


class Nursery:
    """The children of a zygote, by job. With `namespaced` the first is process 1 of theirs, and is asked nothing."""

    def __init__(self, control: socket.socket, cage: Cage, *, namespaced: bool) -> None:
        self._control = control
        self._cage = cage
        self._children: dict[int, int] = {}  # job -> pid, not yet waited for
        self._first = self._fork_first() if namespaced else None

    def serve(self) -> None:
        """Until the supervisor's end closes; then every child is ended."""
        try:
            while (message := self._receive())[0]:
                self._handle(*message)
        finally:
            self.close()

    def close(self) -> None:
        """Ends and buries every child; process 1 comes last, since it ends only after all others are buried."""
        for pid in self._children.values():
            os.kill(pid, signal.SIGKILL)
        for pid in self._children.values():
            os.waitpid(pid, 0)
        self._children.clear()
        if self._first is not None:
            os.kill(self._first, signal.SIGKILL)
            os.waitpid(self._first, 0)
            self._first = None

    def _fork_first(self) -> int:
        """A child like any other, whose input neither brings anything nor ends before the zygote does."""
        request, self._held = os.pipe()
        pid = os.fork()
        if pid == 0:
            run_child(self._cage, request, os.dup(self._cage.null_fd))
        os.close(request)
        return pid

    def _receive(self) -> tuple[bytes, list[int]]:
        data, ancillary, _, _ = self._control.recvmsg(_MESSAGE, socket.CMSG_SPACE(8))
        descriptors = array.array("i")
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(payload)
        return data, descriptors.tolist()

    def _handle(self, data: bytes, descriptors: list[int]) -> None:
        message = json.loads(data)
        job = message["job"]
        if message["do"] == "fork":
            self._fork(job, *descriptors)
        elif message["do"] == "end":
            self._end(job, message["grace"])
        elif message["do"] == "drop":
            self._drop(job)

    def _fork(self, job: int, request_fd: int, reply_fd: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            self._answer({"job": job, "error": str(error)})
        else:
            if pid == 0:
                run_child(self._cage, request_fd, reply_fd)
            self._children[job] = pid
            self._answer({"job": job, "pid": pid})
        os.close(request_fd)
        os.close(reply_fd)

    def _end(self, job: int, grace: float) -> None:
        """Kills and buries, but first waits `grace` seconds for a child that seems to be ending by itself."""
        pid = self._children.pop(job)
        deadline = time.monotonic() + grace
        buried, status, usage = os.wait4(pid, os.WNOHANG)
        while not buried and time.monotonic() < deadline:
            time.sleep(0.001)
            buried, status, usage = os.wait4(pid, os.WNOHANG)
        killed = not buried
        if killed:
            os.kill(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
        cpu = usage.ru_utime + usage.ru_stime
        self._answer({"job": job, "status": status, "cpu": cpu, "killed": killed})

    def _drop(self, job: int) -> None:
        pid = self._children.pop(job)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def _answer(self, message: dict[str, Any]) -> None:
        self._control.send(json.dumps(message).encode())
