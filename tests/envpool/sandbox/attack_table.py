"""The attacks: what each tries, and the faults it may earn. Read as a table."""

from dataclasses import dataclass

from hostile import KERNEL, program

from envpool.sandbox import FaultKind

CODE, ILLEGAL = (FaultKind.CODE_ERROR,), (FaultKind.ILLEGAL_VALUE,)
CPU, MEMORY = (FaultKind.CPU_LIMIT,), (FaultKind.MEM_LIMIT,)
OUTPUT, PROTOCOL = (FaultKind.OUTPUT_LIMIT,), (FaultKind.PROTOCOL_ERROR,)
CRASH, POLICY = (FaultKind.CRASH,), (FaultKind.POLICY_KILL,)
NOTHING = ()  # no fault: the program may at most have falsified its own result, which admission judges


@dataclass(frozen=True, slots=True)
class Attack:
    """`solve` runs the lines of `body`; without `kinds` any value is fine, `refused` ones must return 1."""

    name: str
    kinds: tuple[FaultKind, ...]
    body: str
    codomain: str = "int"
    top: str = ""
    refused: bool = False

    def source(self) -> str:
        return program(self.body, top=KERNEL + self.top, codomain=self.codomain)


def refused(name: str, attempt: str) -> Attack:
    """An attempt that the kernel must answer with an error the program can see."""
    body = f"""
        try:
            failed = {attempt} == -1
        except (OSError, ValueError):
            failed = True
        return int(failed)
    """
    return Attack(name, NOTHING, body, refused=True)


TIME = [
    Attack("an endless loop", CPU, "while True: pass"),
    Attack("an endless loop in C", CPU, "return sum(iter(int, 1))"),
    Attack("an endless loop while loading", CPU, "return 1", top="while True: pass"),
    Attack("an endless loop behind a catch-all", CPU, """
        while True:
            try:
                while True: pass
            except BaseException: pass
    """),
    Attack("a power tower", CPU + MEMORY + CODE, "return len(str(9 ** 9 ** 9))"),
    Attack("a catastrophic expression", CPU, "import re; return int(bool(re.match('(a+)+b', 'a' * 40)))"),
    Attack("hash flooding", CPU, "return len({k * (2 ** 61 - 1) for k in range(100_000)})"),
    Attack("sleeping", CODE, "import time; time.sleep(100)"),
    Attack("waiting for the next request", CPU, "os.read(3, 1); return 1"),
    Attack("a deadlock with itself", CRASH + CPU, """
        lock = sys.modules['_thread'].allocate_lock()
        lock.acquire()
        lock.acquire()
    """),
    Attack("stopping itself", POLICY, "sys.modules['signal'].raise_signal(19); return 1"),
    refused("waiting for a signal", "libc.pause()"),
    refused("a timer", "libc.setitimer(0, b'\\0' * 32, None)"),
]  # fmt: skip

MEMORY_AND_DEPTH = [
    Attack("one huge allocation", MEMORY, "return len(bytearray(1 << 40))"),
    Attack("many small objects", MEMORY + CPU, """
        kept = []
        while True: kept.append([0])
    """),
    Attack("deep recursion", CODE, """
        def down(n): return down(n + 1)
        return down(0)
    """),
    Attack("deep recursion without a limit", CRASH + MEMORY + CPU + CODE, """
        sys.setrecursionlimit(10 ** 9)
        def down(n): return max([n], key=down)
        return down(0)
    """),
    Attack("a parser bomb", CODE + MEMORY + CRASH, "return 1", top="x = " + "(" * 5000 + ")" * 5000),
    Attack("an operator bomb", CODE + MEMORY + CRASH, "return 1", top="x = " + "-" * 50_000 + "1"),
]  # fmt: skip

CHANNEL = [
    Attack("a flood of its channel", OUTPUT + PROTOCOL, """
        while True: os.write(4, b'x' * 65536)
    """),
    Attack("a flood of standard output", NOTHING, """
        for fd in (1, 2): os.write(fd, b'x' * 100_000)
        return 1
    """),
    Attack("a result too large", ILLEGAL + OUTPUT, "return ['x' * 9000] * 30", codomain="list[str]"),
    Attack("a legal value with a frame too large", OUTPUT, "return ['\\u00e9' * 19_000]", codomain="list[str]"),
    Attack("half a frame, then the end", CRASH, "os.write(4, b'\\0\\0'); os._exit(0)"),
    Attack("a frame that promises four GiB", OUTPUT, "os.write(4, b'\\xff' * 4)"),
    Attack("a frame of garbage", PROTOCOL, "os.write(4, b'\\0\\0\\0\\5hello'); return 1"),
    Attack("a forged reply to another call", PROTOCOL, """
        os.write(4, b'\\0\\0\\0\\x0d[1,"value",7]')
        return 1
    """),
    Attack("closing its channel and going on", PROTOCOL, """
        os.close(4)
        while True: pass
    """),
    Attack("leaving with status 0", CRASH, "os._exit(0)"),
    Attack("leaving by SystemExit", CODE, "raise SystemExit(0)"),
    Attack("a null pointer", CRASH, "ctypes.string_at(0)"),
    Attack("an abort", CRASH, "os.abort()"),
    refused("duplicating its channel", "call('dup', 4)"),
    refused("a longer pipe", "libc.fcntl(4, 1031, 1 << 20)"),
]  # fmt: skip

VALUES = [
    Attack("a subclass of int", ILLEGAL, """
        class Sly(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        return Sly(3)
    """),
    Attack("an object that claims to be an int", ILLEGAL, """
        class Sly:
            __class__ = int
            def __reduce__(self): return (os.system, ('true',))
        return Sly()
    """),
    Attack("a float where an int belongs", ILLEGAL, "return 1.0"),
    Attack("a bool where an int belongs", ILLEGAL, "return True"),
    Attack("an integer of 5,000 digits", ILLEGAL, "return 10 ** 5000"),
    Attack("a list 100,000 deep", ILLEGAL, """
        deep = []
        for _ in range(100_000): deep = [deep]
        return deep
    """, codomain="list[int]"),
    Attack("a list that holds itself", ILLEGAL, """
        loop = []
        loop.append(loop)
        return loop
    """, codomain="list[int]"),
    Attack("a lone surrogate", ILLEGAL, "return '\\ud800'", codomain="str"),
    Attack("an exception that cannot be shown", CODE, """
        class Bad(Exception):
            def __str__(self): raise self
        raise Bad()
    """),
    Attack("an exception with a lone surrogate", CODE, "raise ValueError('\\ud800')"),
    Attack("a patched encoder", PROTOCOL, "sys.modules['json'].JSONEncoder.encode = lambda *a: '[[['; return 1"),
    Attack("a patched check", PROTOCOL, """
        sys.modules['envpool.sandbox.inside.program'].to_wire = lambda value: {'t': 'no list'}
        return 1
    """),
    Attack("walking the frames", NOTHING, """
        frame = sys._getframe()
        while frame.f_back: frame = frame.f_back
        return len(frame.f_globals)
    """),
]  # fmt: skip

PROCESSES = [
    Attack("a fork", POLICY, "os.fork()"),
    Attack("a fork bomb behind a catch-all", POLICY, """
        while True:
            try: os.fork()
            except BaseException: pass
    """),
    Attack("another program", POLICY, "os.execv('/bin/sh', ['sh'])"),
    Attack("a thread", POLICY, "sys.modules['_thread'].start_new_thread(int, ()); return 1"),
    Attack("killing the zygote", POLICY, "os.kill(OTHER, 9); return 1"),
    Attack("killing everything", POLICY, "os.kill(-1, 9); return 1"),
    Attack("queueing a signal", POLICY, "call('rt_sigqueueinfo', OTHER, 9, b'\\0' * 128); return 1"),
    Attack("a signal to a thread", POLICY, "call('tgkill', OTHER, OTHER, 9); return 1"),
    Attack("tracing the zygote", POLICY, "call('ptrace', 16, OTHER, 0, 0); return 1"),
    Attack("reading the zygote", POLICY, "call('process_vm_readv', OTHER, 0, 0, 0, 0, 0); return 1"),
    Attack("a user namespace", POLICY, "call('unshare', 0x10000000); return 1"),
    Attack("io_uring", POLICY, "call('io_uring_setup', 1, b'\\0' * 120); return 1"),
    Attack("outliving the zygote", POLICY, "libc.prctl(1, 0, 0, 0, 0); return 1"),
    Attack("a filter of its own", POLICY, "call('seccomp', 0, 0, 0); return 1"),
    Attack("a program in the kernel", POLICY, "call('bpf', 0, 0, 0); return 1"),
    Attack("the kernel's keyring", POLICY, "call('keyctl', 0, -3, 0); return 1"),
]  # fmt: skip

WORLD = [
    Attack("importing what is not there", CODE, "import subprocess; return 1"),
    refused("reading a file", "os.open('/etc/passwd', os.O_RDONLY)"),
    refused("writing a file", "os.open('/tmp/envolve-was-here', os.O_CREAT | os.O_WRONLY)"),
    refused("listing a folder", "len(os.listdir('/'))"),
    refused("looking at a file", "os.stat('/').st_ino"),
    refused("removing a file", "os.unlink('/etc/passwd')"),
    refused("a socket", "call('socket', 2, 1, 0)"),
    refused("a pair of sockets", "libc.socketpair(1, 1, 0, ctypes.create_string_buffer(8))"),
    refused("nameless memory", "call('memfd_create', b'x', 0)"),
    refused("executable memory", "call('mmap', 0, 4096, 7, 0x22, -1, 0)"),
    refused("making memory executable", "call('mprotect', id(os) & ~4095, 4096, 7)"),
    refused("raising a limit", "call('prlimit64', 0, 7, b'\\xff' * 16, None)"),
    refused("limits of others", "call('prlimit64', OTHER, 7, None, ctypes.create_string_buffer(16))"),
    refused("lifting its priority", "libc.setpriority(0, 0, -20)"),
    refused("becoming root", "call('setuid', 0)"),
]  # fmt: skip

ATTACKS = TIME + MEMORY_AND_DEPTH + CHANNEL + VALUES + PROCESSES + WORLD
