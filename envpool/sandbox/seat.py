"""One CPU for two processes that take turns: the thread that asks, and the child that answers.

Waking a process on another CPU costs more than an ordinary call, and the kernel likes to spread the two. So they
share a CPU, until a call takes longer than a turn: for the rest of that job both may run anywhere again. A matter of
speed only: where the node forbids it (to root without SYS_NICE, over a child of another user) all else is the same.
"""

import ctypes
import os

TURN = 0.005  # seconds; a call that takes longer has more to gain from a CPU of its own


class Seat:
    """The CPU that a thread keeps to during a job. Used by that thread alone.

    Whatever the thread starts meanwhile would inherit it: leave before starting a process.
    """

    def __init__(self) -> None:
        self._anywhere: set[int] = set()  # the CPUs of the thread, as it was found
        self._cpu: int | None = None
        self._offered = True

    def share(self, pid: int, seated: int | None) -> int | None:
        """Seats the thread, and beside it a child that was last left at `seated`. Where the child is now."""
        if self._cpu is None and self._offered:
            self._sit()
        if self._cpu != seated and not _move(pid, {self._cpu} if self._cpu is not None else self._anywhere):
            self.part()
            return None
        return self._cpu

    def part(self) -> None:
        """The thread may run anywhere, and is not seated again in this job."""
        self.leave()
        self._offered = False

    def leave(self) -> None:
        """The job is over."""
        if self._cpu is not None:
            self._cpu = None
            _move(0, self._anywhere)
        self._offered = True

    def _sit(self) -> None:
        self._anywhere = self._anywhere or os.sched_getaffinity(0)
        if len(self._anywhere) > 1:
            cpu = ctypes.CDLL(None).sched_getcpu()
            if cpu >= 0 and _move(0, {cpu}):
                self._cpu = cpu


def _move(pid: int, cpus: set[int]) -> bool:
    try:
        os.sched_setaffinity(pid, cpus)
    except OSError:
        return False
    return True
