"""Ray's token, in a process that joins a cluster by its address: who is shown the one that this machine has.

A Ray that a command starts asks for a token, which it makes where there is none (`~/.ray/auth_token`), and presents it
by itself only to a cluster that it finds by itself. Here it is presented also to an address of this machine where
nobody but this user listens, for as long as this process is in the cluster. To others it is not: who listens there
could use it, and the way to another machine may be read. Where RAY_AUTH_MODE is set, it alone decides. A cluster that
asks for no token minds none. Between the look at who listens and the joining nothing is held.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from ray._private.authentication import authentication_token_setup as setup
from ray.exceptions import AuthenticationError

MODE = "RAY_AUTH_MODE"
TABLES = Path("/proc/net/tcp"), Path("/proc/net/tcp6")
STATE, OWN_END, USER = 3, 1, 7
"""Columns of these tables."""
LISTENS = "0A"


@contextmanager
def presented(address: str) -> Iterator[None]:
    """Around all that this process does in a cluster, from joining to leaving; afterwards no token is presented."""
    if MODE in os.environ or not is_own(address):
        yield
        return
    _present()
    try:
        yield
    finally:
        os.environ.pop(MODE, None)
        setup.Config.initialize("")  # Ray reads the variable only then


def is_own(address: str) -> bool:
    """Whether an address is this machine's, and this user is the only one who listens at its port."""
    try:
        url = urlsplit(address if "://" in address else f"//{address}")
        if not url.hostname or not url.port:
            return False
        ends = {str(end[0]) for *_, end in socket.getaddrinfo(url.hostname, url.port)}
    except (OSError, ValueError):
        return False
    here = {known.address for card in psutil.net_if_addrs().values() for known in card}
    if not all(end in here or ip_address(end).is_loopback for end in ends):
        return False
    return _listen(url.port) == {os.getuid()}


def refusal(address: str, error: BaseException) -> str:
    """What to say, within `presented`, of a cluster that could not be joined for its token; empty if not for that."""
    shown = setup.get_authentication_mode() == setup.AuthenticationMode.TOKEN
    if isinstance(error, AuthenticationError) and shown:
        return f"the cluster at {address} wants another token: {str(error).splitlines()[-1]}"
    refused = any("AuthenticationError" in f"{type(each).__name__} {each}" for each in _causes(error))
    if shown:
        return f"the cluster at {address} wants another token than this machine's" if refused else ""
    if refused or "://" in address:  # a client is not told why it gets no answer
        return (
            f"the cluster at {address} {'asks' if refused else 'does not answer, and may ask'} for a token; unasked, "
            f"this machine's is shown only to a Ray of your own on this machine; `export {MODE}=token` shows it, "
            f"where {address} and the way to it can be trusted"
        )
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _listen(port: int) -> set[int]:
    """Who listens at a port of this machine, on any of its addresses, as the kernel knows it."""
    users = set()
    for table in TABLES:
        with suppress(OSError):
            for row in map(str.split, table.read_text(encoding="ascii").splitlines()[1:]):
                if row[STATE] == LISTENS and int(row[OWN_END].rpartition(":")[2], 16) == port:
                    users.add(int(row[USER]))
    return users


def _present() -> None:
    before = setup.logger.level
    setup.logger.setLevel(logging.ERROR)  # it warns of what is as it should be
    try:
        setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    finally:
        setup.logger.setLevel(before)
