"""Namespaces: a second wall behind seccomp, against files, the network, other processes and shared memory.

Invariant: after `enter` the root is an empty read-only file system and the only mount, no capability is left, and the
next process that is forked becomes process 1 of a new process namespace; it must outlive all that are forked later.
The calling process itself stays outside that one, so it knows its children by the numbers that the owner sees.
Works for any user where unprivileged user namespaces are allowed, and for nobody else: root drops its uid before.
"""

import contextlib
import itertools
import os

from envpool.sandbox.inside import kernel

USER, MOUNT, PROCESS, NETWORK, IPC, NAME = 0x10000000, 0x20000, 0x20000000, 0x40000000, 0x08000000, 0x04000000
HOST_NAME = b"sandbox"

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 8, 32, 4096
_MS_REC, _MS_PRIVATE = 1 << 14, 1 << 18
_MNT_DETACH = 2
_PLAIN = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
_MOUNT_POINT = b"/proc"  # any folder that is always there; what lies on it goes away with the old root
_CAPABILITY_VERSION = (0x20080522).to_bytes(4, "little") + bytes(4)


def enter() -> None:
    """Leaves every namespace of the owner. Raises OSError, which names the step; then the process must end."""
    uid, gid = os.geteuid(), os.getegid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # otherwise the maps belong to root
    kernel.call("unshare", USER | MOUNT | PROCESS | NETWORK | IPC | NAME)
    _write("setgroups", "deny")
    _write("uid_map", f"{uid} {uid} 1")
    _write("gid_map", f"{gid} {gid} 1")
    _empty_root()
    kernel.call("sethostname", HOST_NAME, len(HOST_NAME))
    _drop_capabilities()


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)


def _empty_root() -> None:
    """An empty file system as root, and the old one let go."""
    kernel.call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    kernel.call("mount", b"none", _MOUNT_POINT, b"tmpfs", _PLAIN, b"size=4k,nr_inodes=2,mode=555")
    os.chdir(_MOUNT_POINT)
    kernel.call("pivot_root", b".", b".")
    kernel.call("umount2", b".", _MNT_DETACH)  # both lie on one another; this is the old one
    os.chdir("/")
    kernel.call("mount", None, b"/", None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _PLAIN, None)


def _drop_capabilities() -> None:
    """All that came with the user namespace, also from what could be gained again."""
    with contextlib.suppress(OSError):  # the first number that the kernel does not know ends it
        for capability in itertools.count():
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    kernel.call("capset", _CAPABILITY_VERSION, bytes(24))
