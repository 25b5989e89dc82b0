"""Ray's token, in a process that joins a cluster by its address: the one that this machine has is presented.

A Ray that a command starts asks for a token, which it makes where there is none (`~/.ray/auth_token`), and presents it
by itself only to a cluster that it finds by itself. Where RAY_AUTH_MODE is set, it decides. A cluster that asks for no
token minds none.
"""

from __future__ import annotations

import logging

from ray._private.authentication import authentication_token_setup as setup


def present_token() -> None:
    """Before this process joins a cluster."""
    before = setup.logger.level
    setup.logger.setLevel(logging.ERROR)  # it warns of what is as it should be
    try:
        setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    finally:
        setup.logger.setLevel(before)
