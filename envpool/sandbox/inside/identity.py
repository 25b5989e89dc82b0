"""Giving up root: an unprivileged user of the zygote's own, and an empty root folder where namespaces give none."""

import os
import tempfile

FIRST_UID, UIDS = 61_184, 4_000  # between systemd's dynamic users and the 16-bit limit; seldom shared by two zygotes


def drop_root() -> int:
    """Becomes a user that owns nothing, if root; returns the user id. Raises OSError where that is not allowed."""
    if os.geteuid() != 0 and os.getuid() != 0:
        return os.getuid()
    uid = FIRST_UID + os.getpid() % UIDS
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    return uid


def empty_root() -> None:
    """Makes a folder without a name the root. Needs root. Raises OSError."""
    empty = tempfile.mkdtemp()
    os.chdir(empty)
    os.rmdir(empty)
    os.chroot(".")
