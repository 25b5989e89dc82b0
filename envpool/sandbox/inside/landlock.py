"""Landlock: a second wall behind seccomp, against files, TCP and signals to processes outside.

Invariant: an empty ruleset that handles every right which the kernel's ABI knows, so all of them are denied, for the
calling process and all it forks. Descriptors that are open already stay usable.
"""

import os
import struct

from envpool.sandbox.inside import kernel

_VERSION = 1  # flag of landlock_create_ruleset: answer with the ABI
# Rights on files that each ABI brought: 13 at first, then REFER, TRUNCATE, and IOCTL_DEV with the fifth.
_FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NET = 0b11  # bind and connect of TCP, since 4
_SCOPES = 0b11  # abstract Unix sockets and signals, since 6


def abi() -> int:
    """The version that the kernel speaks. Raises OSError where it has none or has it switched off."""
    return kernel.call("landlock_create_ruleset", None, 0, _VERSION)


def enter() -> int:
    """Denies everything from now on and returns the ABI. Needs no_new_privs. Raises OSError."""
    version = abi()
    rights = struct.pack(
        "=3Q", _FILES[min(version, 5)], _NET if version >= 4 else 0, _SCOPES if version >= 6 else 0
    )
    ruleset = kernel.call("landlock_create_ruleset", rights, len(rights), 0)
    try:
        kernel.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)
    return version
