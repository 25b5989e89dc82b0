"""Attacks on time, memory and depth: loops, waiting, huge and many objects, recursion, parser bombs, hash flooding."""

from attack import (
    CODE,
    CPU,
    CRASH,
    ILLEGAL,
    MEMORY,
    PYTHON,
    RLIMITS,
    SECCOMP,
    SUPERVISOR,
    attack,
    killed,
    refused,
)

TIME = [
    attack("an endless loop", SUPERVISOR, CPU, "while True: pass"),
    attack("an endless loop in C", SUPERVISOR, CPU, "return sum(iter(int, 1))"),
    attack("an endless loop while loading", SUPERVISOR, CPU, "return 1", top="while True: pass"),
    attack("an endless loop behind a catch-all", SUPERVISOR, CPU, """
        while True:
            try:
                while True: pass
            except BaseException: pass
    """),
    attack("an endless loop with the CPU signal ignored", SUPERVISOR, CPU, """
        signal = sys.modules["signal"]
        for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM): signal.signal(number, signal.SIG_IGN)
        while True: pass
    """),
    attack("an endless loop in the words of its own error", SUPERVISOR, CPU, """
        class Bad(Exception):
            def __str__(self):
                while True: pass
        raise Bad()
    """),
    attack("an endless loop in a destructor", SUPERVISOR, CPU, """
        class Bad:
            def __del__(self):
                while True: pass
        del [Bad()][0]
        Bad()
        return 1
    """),
    attack("a comparison that never ends", SUPERVISOR, CPU, """
        class Odd:
            def __lt__(self, other):
                while True: pass
        return len(sorted([Odd(), Odd()]))
    """),
    attack("an oracle whose verdict never comes", SUPERVISOR, CPU, "while True: pass", method="verify"),
    attack("giving the processor away for ever", SUPERVISOR, CPU, "while True: os.sched_yield()"),
    attack("a power tower", SUPERVISOR, CPU + MEMORY + CODE, "return len(str(9 ** 9 ** 9))"),
    attack("a factorial of a million", SUPERVISOR, CPU + ILLEGAL, "import math; return math.factorial(1_000_000)"),
    attack("a catastrophic expression", SUPERVISOR, CPU, "import re; return int(bool(re.match('(a+)+b', 'a' * 40)))"),
    attack("hash flooding with integers", SUPERVISOR, CPU, "return len({k * (2 ** 61 - 1) for k in range(100_000)})"),
    attack("hash flooding with objects", SUPERVISOR, CPU, """
        class Same:
            def __hash__(self): return 1
        return len({Same() for _ in range(20_000)})
    """),
    attack("sleeping", SECCOMP, CODE, "import time; time.sleep(100)"),
    refused("sleeping without Python", "raw(230, 115, 0, 0, (ctypes.c_long * 2)(0, 1), None)"),
    refused("waiting for a descriptor", "libc.poll(None, 0, 1)"),
    refused("waiting for several", "libc.select(0, None, None, None, (ctypes.c_long * 2)(0, 1))"),
    refused("an event queue", "libc.epoll_create1(0)"),
    attack("waiting for the next request", SUPERVISOR, CPU, "os.read(3, 1); return 1"),
    attack("waiting in an uninterruptible loop of reads", SUPERVISOR, CPU, """
        while True:
            try: os.read(3, 1)
            except OSError: pass
    """),
    attack("a deadlock with itself", SECCOMP, CRASH + CPU, """
        lock = sys.modules['_thread'].allocate_lock()
        lock.acquire()
        lock.acquire()
    """),
    killed("stopping itself", "sys.modules['signal'].raise_signal(19)"),
    killed("stopping itself by its number", "os.kill(os.getpid(), 19)"),
    killed("suspending like a terminal", "sys.modules['signal'].raise_signal(20)"),
    refused("waiting for a signal", "libc.pause()", harmless=False),
    refused("a timer", "libc.setitimer(0, b'\\0' * 32, None)"),
    refused("a clock that signals", "libc.timer_create(0, None, ctypes.create_string_buffer(64))", harmless=False),
]  # fmt: skip

MEMORY_AND_DEPTH = [
    attack("one huge allocation", RLIMITS, MEMORY, "return len(bytearray(1 << 40))"),
    attack("a huge list", RLIMITS, MEMORY, "return len([None] * (1 << 36))"),
    attack("a text doubled for ever", RLIMITS, MEMORY + CPU, """
        text = 'x'
        while True: text += text
    """),
    attack("many small objects", RLIMITS, MEMORY + CPU, """
        kept = []
        while True: kept.append([0])
    """),
    attack("memory behind Python's back", RLIMITS, CPU + MEMORY + CRASH, """
        libc.malloc.restype = ctypes.c_void_p
        while True: ctypes.memset(ctypes.c_void_p(libc.malloc(1 << 20)), 1, 1 << 20)
    """),
    refused("mapping a terabyte", "call('mmap', 0, 1 << 40, 3, 0x22, -1, 0)", layer=RLIMITS, harmless=False,
            error="ENOMEM"),
    refused("locking memory", "raw(149, 228, id(os) & ~4095, 4096)", harmless=False),
    attack("deep recursion", PYTHON, CODE, """
        def down(n): return down(n + 1)
        return down(0)
    """),
    attack("deep recursion without a limit", RLIMITS, CRASH + MEMORY + CPU + CODE, """
        sys.setrecursionlimit(10 ** 9)
        def down(n): return max([n], key=down)
        return down(0)
    """),
    attack("a deep copy of what is deep", PYTHON, CODE, """
        import copy
        deep = []
        for _ in range(50_000): deep = [deep]
        return len(copy.deepcopy(deep))
    """),
    attack("two deep lists compared", PYTHON, CODE, """
        one, two = [], []
        for _ in range(50_000): one, two = [one], [two]
        return int(one == two)
    """),
    attack("a parser bomb", PYTHON, CODE + MEMORY + CRASH, "return 1", top="x = " + "(" * 5000 + ")" * 5000),
    attack("an operator bomb", PYTHON, CODE + MEMORY + CRASH, "return 1", top="x = " + "-" * 50_000 + "1"),
    attack("a chain of attributes", PYTHON, CODE + MEMORY + CRASH, "return 1", top="x = a" + ".a" * 30_000),
    attack("a deep f-string", PYTHON, CODE, "return 1", top="x = " + "f'{" * 200 + "1" + "}'" * 200),
    attack("a literal of 5,000 digits", PYTHON, CODE, "return 1", top="x = " + "9" * 5000),
    attack("a parser bomb at work", PYTHON, CODE + MEMORY + CRASH, "return len(eval('(' * 5000 + ')' * 5000))"),
    attack("indented a hundred and one times", PYTHON, CODE, "return 1",
           top="\n".join(" " * n + "if 1:" for n in range(101)) + "\n" + " " * 101 + "pass"),
    attack("a source with a null byte", PYTHON, CODE, "return 1", top="x = '\0'"),
    attack("a source in another encoding", PYTHON, CODE, "return (", top="# -*- coding: utf-7 -*-"),
]  # fmt: skip
