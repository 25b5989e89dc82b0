"""System calls of a child: what is free, what is checked, what is refused and what kills.

Numbers are (x86_64, aarch64); None where an architecture lacks the call. Everything not named here answers
EPERM. Data only; `filter.py` makes the program.
"""

# fmt: off
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "open": (2, None), "close": (3, 57), "stat": (4, None),
    "lstat": (6, None), "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215),
    "brk": (12, 214), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "ioctl": (16, 29), "readv": (19, 65), "writev": (20, 66), "access": (21, None),
    "sched_yield": (24, 124), "mremap": (25, 216), "madvise": (28, 233), "dup": (32, 23),
    "nanosleep": (35, 101), "getpid": (39, 172), "socket": (41, 198), "connect": (42, 203),
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "exit": (60, 93),
    "kill": (62, 129), "uname": (63, 160), "fcntl": (72, 25), "fsync": (74, 82), "getdents": (78, None),
    "chdir": (80, 49), "fchdir": (81, 50), "creat": (85, None), "readlink": (89, None),
    "gettimeofday": (96, 169), "getrusage": (98, 165), "sysinfo": (99, 179), "times": (100, 153),
    "ptrace": (101, 117), "getuid": (102, 174), "getgid": (104, 176), "setuid": (105, 146),
    "geteuid": (107, 175), "getegid": (108, 177), "getppid": (110, 173), "capset": (126, 91),
    "rt_sigqueueinfo": (129, 138),
    "sigaltstack": (131, 132), "personality": (135, 92), "modify_ldt": (154, None), "pivot_root": (155, 41),
    "prctl": (157, 167), "arch_prctl": (158, None), "setrlimit": (160, 164), "chroot": (161, 51),
    "mount": (165, 40), "umount2": (166, 39), "reboot": (169, 142), "sethostname": (170, 161), "iopl": (172, None),
    "ioperm": (173, None), "init_module": (175, 105), "delete_module": (176, 106), "gettid": (186, 178),
    "tkill": (200, 130), "time": (201, None), "futex": (202, 98), "sched_getaffinity": (204, 123),
    "getdents64": (217, 61), "restart_syscall": (219, 128), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "exit_group": (231, 94),
    "tgkill": (234, 131), "kexec_load": (246, 104), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "openat": (257, 56), "newfstatat": (262, 79), "unlinkat": (263, 35),
    "readlinkat": (267, 78), "faccessat": (269, 48), "unshare": (272, 97), "set_robust_list": (273, 99),
    "rt_tgsigqueueinfo": (297, 240), "perf_event_open": (298, 241), "prlimit64": (302, 261),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "setns": (308, 268),
    "getcpu": (309, 168), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "finit_module": (313, 273), "seccomp": (317, 277), "getrandom": (318, 278), "memfd_create": (319, 279),
    "kexec_file_load": (320, 294), "bpf": (321, 280), "execveat": (322, 281), "userfaultfd": (323, 282),
    "statx": (332, 291), "rseq": (334, 293), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "move_mount": (429, 429),
    "fsopen": (430, 430), "pidfd_open": (434, 434), "clone3": (435, 435), "openat2": (437, 437),
    "pidfd_getfd": (438, 438), "faccessat2": (439, 439), "process_madvise": (440, 440),
    "landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446), "memfd_secret": (447, 447),
}

# Memory, clocks, identity, signals to oneself and the two pipes: no way out of the process.
FREE = (
    "read", "write", "readv", "writev", "close", "lseek", "munmap", "mremap", "brk", "rt_sigreturn",
    "rt_sigaction", "rt_sigprocmask", "sigaltstack", "restart_syscall",
    "gettimeofday", "time", "times", "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid",
    "getrusage", "getrandom", "sched_yield", "getcpu", "uname", "sysinfo", "exit", "exit_group",
)
# EACCES, because the import machinery turns it into ModuleNotFoundError.
OPENS = (
    "open", "openat", "openat2", "creat", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getdents", "getdents64", "chdir", "fchdir", "name_to_handle_at", "open_by_handle_at",
)
# ENOSYS, because libc then takes its older way, which the filter judges.
ABSENT = ("clone3", "rseq", "set_robust_list")
# No honest program of the contract comes near these.
KILL = (
    "fork", "vfork", "clone", "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal",
    "pidfd_getfd", "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd",
    "add_key", "request_key", "keyctl", "mount", "umount2", "move_mount", "fsopen", "pivot_root", "chroot", "setns",
    "unshare", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "seccomp",
    "prctl", "arch_prctl", "personality", "memfd_secret", "iopl", "ioperm", "modify_ldt",
)
# fmt: on


def number(name: str, machine: str) -> int | None:
    """The number of a call on "x86_64" or "aarch64"; None where it does not exist."""
    return NUMBERS[name][("x86_64", "aarch64").index(machine)]
