"""The trusted hold on one child: its pipes, its deadlines, and what its end means.

Invariant: whatever a verdict rests on (CPU, wall, bytes, exit) is measured here, outside the child. `Ended` is the
program's doing, `Lost` the machine's.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterator

from envpool.sandbox.inside.frames import CONFINED, HEADER
from envpool.sandbox.results import SEARCH_PATIENCE, Fault, FaultKind, SandboxLimits
from envpool.sandbox.seat import TURN, Seat
from envpool.sandbox.server import ForkServer, Lost, cpu_net

_STALL_SHARE = 0.2  # of the CPU budget: below it, a child at its wall limit was not given time
_MIN_WAIT = 0.005  # seconds between two looks at a CPU clock
_IDLE_CPU = 0.05  # seconds that a child may use between two calls
_EXIT_GRACE = 1.0  # seconds between the end of a pipe and the end of the process that held it
_CHUNK = 1 << 16
_STREAM_BYTES = 1 << 20  # of all replies to a search together


class Ended(Exception):
    """A child that must go, with the fault it earned."""

    def __init__(self, kind: FaultKind, detail: str, *, by_clock: bool = False) -> None:
        super().__init__(detail)
        self.fault = Fault(kind, detail, by_clock=by_clock)


class Child:
    """One confined child. Raises Lost where it cannot be forked.

    `opening` is sent ahead of the first request and shares its deadline. `patience` multiplies both limits on time.
    """

    def __init__(
        self, server: ForkServer, limits: SandboxLimits, opening: bytes, seat: Seat, patience: float = 1.0
    ) -> None:
        self.calls = 0
        self._cpu_replied = 0.0  # CPU seconds when its last reply had come
        self._seat = seat
        self._seated: int | None = None  # the CPU it may run on, where it is one
        self._server = server
        self._limits = limits
        self._patience = patience
        self._cap = (limits.output_kib << 10) + 2 * HEADER  # bytes of a whole reply
        birth = server.fork()
        self.pid = birth.pid
        self._job: int | None = birth.job
        self._request_fd, self._reply_fd = birth.request_fd, birth.reply_fd
        self._confined = False
        self._opening = opening
        self._clock = (~birth.pid << 3) | 2  # the kernel's id for the CPU clock of a process
        for descriptor in (birth.request_fd, birth.reply_fd):
            os.set_blocking(descriptor, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(birth.reply_fd, select.POLLIN)
        self._writable.register(birth.request_fd, select.POLLOUT)

    def exchange(self, request: bytes) -> bytes:
        """Sends framed bytes and returns the body of the one reply. Raises Ended or Lost."""
        self.calls += 1
        limits = self._limits
        deadline = _Deadline(self, limits.cpu_seconds * self._patience, limits.wall_seconds * self._patience)
        reply = self._again(request, deadline) if self._confined else self._first(request, deadline)
        if self._wanted(reply) != len(reply):
            reply = self._rest(reply, deadline)
        self._cpu_replied = self.cpu()
        return reply[HEADER:]

    def stream(self, request: bytes) -> Iterator[bytes]:
        """Sends the first request of a child and gives the body of each reply, for as long as it is asked for one.

        Each has the limits of a call, all together `SEARCH_PATIENCE` times as much. Raises Ended or Lost.
        """
        self.calls += 1
        cpu, wall = self._limits.cpu_seconds * self._patience, self._limits.wall_seconds * self._patience
        whole = _Deadline(self, cpu * SEARCH_PATIENCE, wall * SEARCH_PATIENCE)
        held = bytearray(self._first(request, _Deadline(self, cpu, wall)))
        taken = 0
        while True:
            deadline = _Deadline(self, cpu, wall)
            while (wanted := self._wanted(held[:HEADER])) > len(held):
                held += self._read(deadline)
            taken += wanted
            if taken > _STREAM_BYTES:
                raise Ended(FaultKind.OUTPUT_LIMIT, f"a search of more than {_STREAM_BYTES >> 10} KiB")
            whole.left()
            yield bytes(held[HEADER:wanted])
            del held[:wanted]

    def expect_silence(self) -> None:
        """Raises Ended where a child that was not asked wrote, worked or died, Lost where it was killed."""
        if self._confined and self.speaks():
            if os.read(self._reply_fd, 1):
                raise Ended(FaultKind.PROTOCOL_ERROR, "it wrote without being asked")
            raise self._death()

        if not self.idles():
            raise Ended(FaultKind.CPU_LIMIT, "it worked without being asked")

    def idles(self) -> bool:
        """Whether it has used no CPU time since its last reply but for going back to its input. Raises Lost."""
        return self.calls == 0 or self.cpu() - self._cpu_replied <= _IDLE_CPU

    def speaks(self) -> bool:
        return bool(self._readable.poll(0))

    def cpu(self) -> float:
        """CPU seconds so far. Raises Lost."""
        try:
            return time.clock_gettime(self._clock)
        except OSError as error:
            raise Lost(f"a child has no clock: {error}") from None

    def sleeps(self) -> bool:
        """Whether the child waits of its own accord; a starved or stopped one does not."""
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] == b"S"
        return False

    def end(self) -> None:
        """Has it killed, whatever it does. May be called again."""
        if self._job is not None:
            self._server.drop(self._job)
        self.abandon()

    def abandon(self) -> None:
        """Lets go of the pipes of a child whose zygote is going."""
        if self._job is not None:
            self._job = None
            os.close(self._request_fd)
            os.close(self._reply_fd)

    def _write(self, data: bytes, deadline: "_Deadline") -> None:
        sent = 0
        while sent < len(data):
            try:
                sent += os.write(self._request_fd, memoryview(data)[sent:] if sent else data)
            except BlockingIOError:
                deadline.wait(self._writable, may_sleep=True)
            except BrokenPipeError:
                raise self._death() from None

    def _read(self, deadline: "_Deadline") -> bytes:
        deadline.wait(self._readable, may_sleep=False)
        data = os.read(self._reply_fd, _CHUNK)
        if not data:
            raise self._death()
        return data

    def _again(self, request: bytes, deadline: "_Deadline") -> bytes:
        """Sends a request; the reply, or its beginning."""
        self._seated = self._seat.share(self.pid, self._seated)
        self._write(request, deadline)
        if self._seated is not None and not self._readable.poll(TURN * 1000):
            self._seat.part()
            self._seated = self._seat.share(self.pid, self._seated)
        return self._read(deadline)

    def _first(self, request: bytes, deadline: "_Deadline") -> bytes:
        """As `_again`, after the opening; the child first says that it is confined."""
        self._write(self._opening + request, deadline)
        self._opening = b""
        self._server.fork_ahead()
        said = self._read(deadline)
        if not said.startswith(CONFINED):
            raise Lost("a child did not say that it is confined")
        self._confined = True
        return said[len(CONFINED) :]

    def _wanted(self, reply: bytes | bytearray) -> int:
        """Bytes of the reply that begins so, as far as that is known. Raises Ended over the limit."""
        wanted = HEADER + (int.from_bytes(reply[:HEADER], "big") if len(reply) >= HEADER else 0)
        if max(len(reply), wanted) > self._cap:
            raise Ended(FaultKind.OUTPUT_LIMIT, f"more than {self._limits.output_kib} KiB")
        return wanted

    def _rest(self, begun: bytes, deadline: "_Deadline") -> bytes:
        """A reply that did not come in one piece."""
        reply = bytearray(begun)
        while self._wanted(reply) > len(reply):
            reply += self._read(deadline)
        if self._wanted(reply) < len(reply):
            raise Ended(FaultKind.PROTOCOL_ERROR, "bytes after its reply")
        return bytes(reply)

    def _death(self) -> Exception:
        """What the end of a child means, once its pipe has closed."""
        job = self._job
        self.abandon()
        if job is None:
            return Lost("a child is used after its end")
        burial = self._server.bury(job, _EXIT_GRACE)
        if not self._confined:
            return Lost("a child could not be confined")
        if os.WIFEXITED(burial.status):
            return Ended(FaultKind.CRASH, f"it ended its process with status {os.WEXITSTATUS(burial.status)}")
        number = os.WTERMSIG(burial.status)
        if number == signal.SIGSYS:
            return Ended(FaultKind.POLICY_KILL, "a forbidden system call")
        if number != signal.SIGKILL:
            return Ended(FaultKind.CRASH, f"killed by signal {number}")
        if burial.killed:
            return Ended(FaultKind.PROTOCOL_ERROR, "it closed its channel and went on")
        if burial.cpu >= cpu_net(self._limits):
            return Ended(FaultKind.CPU_LIMIT, "all its calls together")
        return Lost("a child was killed from outside")


class _Deadline:
    """Both time limits of one exchange."""

    __slots__ = ("_begun", "_child", "_cpu_before", "_cpu_seconds", "_wall_end", "_wall_seconds")

    def __init__(self, child: Child, cpu_seconds: float, wall_seconds: float) -> None:
        self._child = child
        self._cpu_seconds, self._wall_seconds = cpu_seconds, wall_seconds
        self._cpu_before = child.cpu()
        self._wall_end = time.monotonic() + wall_seconds
        self._begun = False

    def wait(self, poller: select.poll, may_sleep: bool) -> None:
        """Returns once `poller` has something. Raises Ended or Lost at a limit."""
        asleep_at: float | None = None
        patience = self._cpu_seconds
        if self._begun:  # a program that dribbles its reply gets no new time for each byte
            patience = self.left()
        self._begun = True
        while not poller.poll(max(min(patience, self._wall_end - time.monotonic()), _MIN_WAIT) * 1000):
            used = self._child.cpu() - self._cpu_before
            patience = self._cpu_seconds - used
            if patience <= 0:
                raise Ended(FaultKind.CPU_LIMIT, f"{used:.2f} s of CPU time")
            asleep = not may_sleep and self._child.sleeps()
            if asleep and used == asleep_at and not self._child.speaks():
                raise Ended(FaultKind.CPU_LIMIT, "it waits for what never comes")
            if time.monotonic() >= self._wall_end:
                self._out_of_time(used)
            asleep_at, patience = (used, _MIN_WAIT) if asleep else (None, patience)

    def left(self) -> float:
        """CPU seconds that are left. Raises Ended or Lost at a limit."""
        used = self._child.cpu() - self._cpu_before
        if used >= self._cpu_seconds:
            raise Ended(FaultKind.CPU_LIMIT, f"{used:.2f} s of CPU time")
        if time.monotonic() >= self._wall_end:
            self._out_of_time(used)
        return self._cpu_seconds - used

    def _out_of_time(self, used: float) -> None:
        if used < _STALL_SHARE * self._cpu_seconds:
            raise Lost(f"a child was given {used:.3f} s of CPU time in {self._wall_seconds} s")
        detail = f"{self._wall_seconds} s by the clock, {used:.2f} s of CPU time"
        raise Ended(FaultKind.CPU_LIMIT, detail, by_clock=True)
