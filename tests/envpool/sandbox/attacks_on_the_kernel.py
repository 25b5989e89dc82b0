"""Attacks through system calls: processes, signals, threads, files, sockets, limits, memory, kernel interfaces."""

import platform

from attack import CODE, CRASH, MEMORY, NOTHING, RLIMITS, SECCOMP, SUPERVISOR, ZYGOTE, attack, killed, refused

X86 = platform.machine() == "x86_64"

PROCESSES = [
    killed("a fork", "os.fork()"),
    killed("a fork without Python", "libc.fork()"),
    killed("a fork bomb behind a catch-all", """
        while True:
            try: os.fork()
            except BaseException: pass
    """.strip().replace("\n        ", "\n")),
    killed("a process that shares its memory", "call('clone', 0x100, 0, 0, 0, 0)"),
    refused("a process by the newer call", "call('clone3', b'\\0' * 88, 88)", harmless=False),
    killed("another program", "os.execv('/bin/sh', ['sh'])"),
    killed("another program by a descriptor", "call('execveat', 3, b'', None, None, 0x1000)"),
    killed("a program spawned", "os.posix_spawn('/bin/sh', ['sh'], {})"),
    killed("a shell", "os.system('true')"),
    killed("a thread", "sys.modules['_thread'].start_new_thread(int, ())"),
    killed("a signal to itself", "os.kill(os.getpid(), 9)"),
    killed("killing the zygote", "os.kill(OTHER, 9)"),
    killed("killing the zygote's group", "os.killpg(OTHER, 9)"),
    killed("killing everything", "os.kill(-1, 9)"),
    killed("killing every number in turn", "[os.kill(pid, 9) for pid in range(2, 40_000)]"),
    killed("queueing a signal", "call('rt_sigqueueinfo', OTHER, 9, b'\\0' * 128)"),
    killed("a signal to a thread", "call('tgkill', OTHER, OTHER, 9)"),
    killed("a signal to a thread by the older call", "call('tkill', OTHER, 9)"),
    killed("a handle on the zygote", "call('pidfd_open', OTHER, 0)"),
    killed("a signal by a handle", "call('pidfd_send_signal', 3, 9, None, 0)"),
    killed("a descriptor of the zygote", "call('pidfd_getfd', 3, 0, 0)"),
    killed("tracing the zygote", "call('ptrace', 16, OTHER, 0, 0)"),
    killed("asking to be traced", "call('ptrace', 0, 0, 0, 0)"),
    killed("reading the zygote", "call('process_vm_readv', OTHER, 0, 0, 0, 0, 0)"),
    killed("writing the zygote", "call('process_vm_writev', OTHER, 0, 0, 0, 0, 0)"),
    killed("advice about the zygote's memory", "call('process_madvise', 3, 0, 0, 0, 0)"),
    killed("a user namespace", "call('unshare', 0x10000000)"),
    killed("the namespace of another", "call('setns', 3, 0)"),
    killed("outliving the zygote", "libc.prctl(1, 0, 0, 0, 0)"),
    killed("becoming dumpable", "libc.prctl(4, 1, 0, 0, 0)"),
    killed("another name in the list of processes", "libc.prctl(15, b'init', 0, 0, 0)"),
    killed("a filter of its own", "call('seccomp', 1, 0, ctypes.create_string_buffer(16))"),
    killed("asking which filters there are", "call('seccomp', 2, 0, ctypes.create_string_buffer(4))"),
    killed("seccomp again through prctl", "libc.prctl(22, 2, ctypes.create_string_buffer(16), 0, 0)"),
    killed("privileges again", "libc.prctl(38, 0, 0, 0, 0)"),
    refused("how long the zygote has worked",
            "call('clock_gettime', (~OTHER << 3) | 2, ctypes.create_string_buffer(16))"),
    refused("who else lives, by their clocks",
            "call('clock_getres', (~1 << 3) | 2, ctypes.create_string_buffer(16))"),
    refused("a session of its own", "libc.setsid()", harmless=False),
    refused("a group of its own", "libc.setpgid(0, 0)", harmless=False),
    refused("waiting for another's child", "call('wait4', -1, None, 1, None) if 'wait4' in NUMBERS.NUMBERS else "
            "raw(61, 260, -1, None, 1, None)", harmless=False),
    refused("lifting its priority", "libc.setpriority(0, 0, -20)", harmless=False),
    refused("lowering the zygote's", "libc.setpriority(0, OTHER, 19)", harmless=False),
    refused("a real-time priority", "raw(144, 119, 0, 1, (ctypes.c_int * 1)(1))", harmless=False),
    refused("choosing its processor", "raw(203, 122, 0, 8, b'\\1' + b'\\0' * 7)"),
    refused("becoming root", "call('setuid', 0)", harmless=False),
    refused("another group", "libc.setgid(0)", harmless=False),
    refused("capabilities", "call('capset', b'\\x22\\5\\x08\\x20' + b'\\0' * 4, b'\\xff' * 24)", harmless=False),
]  # fmt: skip

FILES_AND_NET = [
    attack("importing what is not there", ZYGOTE, CODE, "import subprocess; return 1"),
    attack("importing from a folder of its own", ZYGOTE, CODE, "sys.path.append('/tmp'); import evil; return 1"),
    attack("loading a library", SECCOMP, CODE, "ctypes.CDLL('libm.so.6.does.not.exist'); return 1"),
    refused("reading a file", "os.open('/etc/passwd', os.O_RDONLY)"),
    refused("writing a file", "os.open('/tmp/envolve-was-here', os.O_CREAT | os.O_WRONLY)", harmless=False),
    refused("a file without a name", "os.open('/tmp', os.O_TMPFILE | os.O_RDWR)", harmless=False),
    refused("opening by the newer call", "call('openat2', -100, b'/', ctypes.create_string_buffer(24), 24)"),
    refused("opening from a descriptor it has", "os.open('x', 0, dir_fd=0)", harmless=False),
    refused("its own memory as a file", "os.open('/proc/self/mem', os.O_RDWR)", harmless=False),
    refused("the zygote's environment as a file", "os.open(f'/proc/{OTHER}/environ', 0)", harmless=False),
    refused("a device", "os.open('/dev/null', os.O_RDWR)", harmless=False),
    refused("listing a folder", "len(os.listdir('/'))"),
    refused("looking at a file", "os.stat('/').st_ino"),
    refused("asking who may read it", "libc.access(b'/', 4)"),
    refused("where a link leads", "len(os.readlink('/proc/self/exe'))", harmless=False),
    refused("removing a file", "os.unlink('/etc/passwd')", harmless=False),
    refused("renaming a file", "os.rename('/tmp/a', '/tmp/b') or 0", harmless=False),
    refused("a link to a file", "os.link('/etc/passwd', '/tmp/envolve-was-here') or 0", harmless=False),
    refused("a link by name", "os.symlink('/etc', '/tmp/envolve-was-here') or 0", harmless=False),
    refused("a folder", "os.mkdir('/tmp/envolve-was-here') or 0", harmless=False),
    refused("a pipe with a name", "os.mkfifo('/tmp/envolve-was-here') or 0", harmless=False),
    refused("another mode for a file", "os.chmod('/tmp', 0o777) or 0", harmless=False),
    refused("cutting a file short", "os.truncate('/etc/passwd', 0) or 0", harmless=False),
    refused("going to another folder", "os.chdir('/') or 0"),
    refused("what is free on a disk", "os.statvfs('/').f_bfree and 0", harmless=False),
    refused("watching files", "libc.inotify_init()"),
    refused("a file by its handle", "call('open_by_handle_at', 0, ctypes.create_string_buffer(16), 0)",
            harmless=False),
    refused("nameless memory", "call('memfd_create', b'x', 0)"),
    refused("a pipe", "libc.pipe(ctypes.create_string_buffer(8))"),
    refused("an event counter", "libc.eventfd(0, 0)"),
    refused("a socket", "call('socket', 2, 1, 0)"),
    refused("a local socket", "call('socket', 1, 1, 0)"),
    refused("a socket to the kernel", "call('socket', 16, 3, 0)"),
    refused("a socket for raw packets", "call('socket', 17, 3, 0)", harmless=False),
    refused("a socket to the host of the machine", "call('socket', 40, 1, 0)", harmless=False),
    refused("a pair of sockets", "libc.socketpair(1, 1, 0, ctypes.create_string_buffer(8))"),
    refused("connecting", "call('connect', 3, b'\\2\\0\\0\\x50\\x7f\\0\\0\\1' + b'\\0' * 8, 16)", harmless=False),
    refused("sending a descriptor away", "libc.sendmsg(4, ctypes.create_string_buffer(56), 0)", harmless=False),
    refused("taking one in", "libc.recvmsg(3, ctypes.create_string_buffer(56), 0)", harmless=False),
    refused("copying between descriptors", "libc.splice(3, None, 4, None, 1, 2)", harmless=False),
]  # fmt: skip

LIMITS_AND_MEMORY = [
    refused("raising a limit", "call('prlimit64', 0, 7, b'\\xff' * 16, None)", harmless=False),
    refused("raising a limit through Python", "sys.modules['resource'].setrlimit(0, (-1, -1)) or 0", harmless=False),
    refused("lowering a limit", "sys.modules['resource'].setrlimit(7, (0, 0)) or 0"),
    refused("the CPUs of others", "call('sched_getaffinity', OTHER, 128, ctypes.create_string_buffer(128))",
            harmless=False),
    refused("limits of others", "call('prlimit64', OTHER, 7, None, ctypes.create_string_buffer(16))", harmless=False),
    attack("a limit with half a pointer", SECCOMP, NOTHING, """
        return int(call('prlimit64', 0, 7, 1 << 32, None) == -1 and ctypes.get_errno() == 1)
    """, expect=1),
    attack("more descriptors than it has", RLIMITS, NOTHING, """
        return sum(libc.fcntl(fd, 1) != -1 for fd in range(4096))
    """, expect=5),
    refused("executable memory", "call('mmap', 0, 4096, 7, 0x22, -1, 0)"),
    refused("memory that only executes", "call('mmap', 0, 4096, 4, 0x22, -1, 0)"),
    refused("executable memory with a strange high word", "call('mmap', 0, 4096, (1 << 40) | 7, 0x22, -1, 0)"),
    refused("making memory executable", "call('mprotect', id(os) & ~4095, 4096, 7)"),
    refused("making the heap executable to its end",
            "call('mprotect', ctypes.addressof(ctypes.c_int()) & ~4095, 4096, 0x2000007)", harmless=False),
    refused("making it executable by a key", "raw(329, 288, id(os) & ~4095, 4096, 7, -1)"),
    refused("a memory key", "raw(330, 289, 0, 0)", harmless=False),
    refused("shared memory", "libc.shmget(0, 4096, 0o1600)"),
    refused("attaching shared memory to execute it", "libc.shmat(0, None, 0o100000)", harmless=False),
    refused("pages merged with those of whoever has the same", "call('madvise', id(os) & ~4095, 4096, 12)",
            harmless=False),
    refused("pages sent to the disk, to be waited for", "call('madvise', id(os) & ~4095, 4096, 21)"),
    refused("the pages of libc thrown out of memory",
            "call('madvise', ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095, 4096, 20)"),
    refused("a queue of messages", "libc.msgget(0, 0o1600)"),
    refused("semaphores", "libc.semget(0, 1, 0o1600)"),
    attack("a callback made at run time", SECCOMP, MEMORY, """
        return ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)()
    """),
    attack("code of its own in memory", SECCOMP, CRASH, """
        page = ctypes.create_string_buffer(b'\\xc3' * 8192)
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(page))()
        return 1
    """),
    attack("changing the code of libc", SUPERVISOR, CRASH, """
        ctypes.memset(ctypes.cast(libc.getpid, ctypes.c_void_p), 0xc3, 16)
        return 1
    """),
]  # fmt: skip

INTERFACES = [
    killed("io_uring", "call('io_uring_setup', 1, ctypes.create_string_buffer(120))"),
    killed("a submission to io_uring", "call('io_uring_enter', 3, 1, 0, 0, None, 0)"),
    killed("a program in the kernel", "call('bpf', 0, 0, 0)"),
    killed("counters of the processor", "call('perf_event_open', ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
    killed("handling page faults", "call('userfaultfd', 1)"),
    killed("the kernel's keyring", "call('keyctl', 0, -3, 0)"),
    killed("a key", "call('add_key', b'user', b'x', b'y', 1, -3)"),
    killed("secret memory", "call('memfd_secret', 0)"),
    killed("mounting", "call('mount', b'none', b'/', b'tmpfs', 0, None)"),
    killed("the newer way of mounting", "call('fsopen', b'tmpfs', 0)"),
    killed("unmounting", "call('umount2', b'/', 2)"),
    killed("another root", "call('pivot_root', b'.', b'.')"),
    killed("leaving the root", "call('chroot', b'.')"),
    killed("another personality", "call('personality', 0x0400000)"),
    killed("a module of the kernel", "call('finit_module', 3, b'', 0)"),
    killed("another kernel", "call('kexec_load', 0, 0, None, 0)"),
    killed("a reboot", "call('reboot', 0, 0, 0, None)"),
    refused("setting the clock", "libc.settimeofday(ctypes.create_string_buffer(16), None)", harmless=False),
    refused("another name for the node", "libc.sethostname(b'x', 1)", harmless=False),
    refused("the kernel's log", "libc.klogctl(3, ctypes.create_string_buffer(64), 64)", harmless=False),
    refused("swapping", "libc.swapon(b'/dev/null', 0)", harmless=False),
    refused("accounting", "libc.acct(None)", harmless=False),
    refused("a sandbox of its own", "call('landlock_create_ruleset', None, 0, 1)", harmless=False),
    refused("memory of another node", "raw(237, 235, id(os) & ~4095, 4096, 0, None, 0, 0)", harmless=False),
    refused("a debug register of the scheduler", "raw(334, 293, None, 0, 0, 0)", harmless=False),
    refused("a call that does not exist", "raw(9999, 9999)", harmless=False),
    (killed if X86 else refused)("a call with a negative number", "raw(-7, -7)"),
    (killed if X86 else refused)("a call of the x32 interface", "raw(0x40000000 | 39, -9)"),
]  # fmt: skip
