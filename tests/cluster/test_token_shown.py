"""Who is shown this machine's Ray token, and that it is not shown any longer. No Ray is started."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from itertools import pairwise

import psutil
import pytest
from ray.exceptions import AuthenticationError

from cluster import token

ELSEWHERE = "198.51.100.7"
REFUSED = RuntimeError("last error: ray.exceptions.AuthenticationError: missing or incorrect")
"""As Ray words it."""


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine where this user listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of tokens, and there is one."""
    monkeypatch.delenv(token.MODE, raising=False)
    monkeypatch.setattr(token, "_present", lambda: os.environ.update({token.MODE: "token"}))


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "localhost:{}", "ray://127.0.0.1:{}"])
def test_a_port_of_this_machine_where_this_user_listens_is_its_own(form: str, port: int) -> None:
    assert token.is_own(form.format(port))


def test_so_it_is_by_every_address_of_this_machine(port: int) -> None:
    cards = psutil.net_if_addrs().values()
    found = [known.address for card in cards for known in card if known.family == socket.AF_INET]
    assert found and all(token.is_own(f"{address}:{port}") for address in found)


@pytest.mark.parametrize("users", [{os.getuid() + 1}, {os.getuid(), os.getuid() + 1}, set()])
def test_a_port_where_another_user_listens_or_nobody_is_not(
    users: set[int], port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token, "_listen", lambda _: users)
    assert not token.is_own(f"127.0.0.1:{port}")


def test_a_port_that_was_closed_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert not token.is_own(f"127.0.0.1:{port}")


def test_another_machine_is_not_whoever_listens_here(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not token.is_own(f"{ELSEWHERE}:{port}")
    assert not token.is_own(f"ray://{ELSEWHERE}:{port}")

    def two(_: str, port: int) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, None, 0, "", (address, port)) for address in ("127.0.0.1", ELSEWHERE)]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    assert not token.is_own(f"head:{port}")


@pytest.mark.parametrize("address", ["", "auto", "local", "head", ":6379", "127.0.0.1:port", "127.0.0.1:0"])
def test_what_names_no_port_of_a_machine_is_not(address: str) -> None:
    assert not token.is_own(address)


def test_a_kernel_that_does_not_say_who_listens_shows_nobody(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token, "TABLES", ())
    assert not token.is_own(f"127.0.0.1:{port}")


@pytest.mark.usefixtures("unsaid")
def test_the_token_is_shown_within_and_not_afterwards_even_if_that_fails(port: int) -> None:
    with pytest.raises(ZeroDivisionError), token.presented(f"127.0.0.1:{port}"):
        assert os.environ[token.MODE] == "token"
        raise ZeroDivisionError
    assert token.MODE not in os.environ


@pytest.mark.usefixtures("unsaid")
def test_to_another_machine_it_is_not_shown(port: int) -> None:
    with token.presented(f"{ELSEWHERE}:{port}"):
        assert token.MODE not in os.environ


@pytest.mark.parametrize("said", ["token", "disabled"])
def test_what_the_user_said_of_tokens_stays(said: str, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(token.MODE, said)
    monkeypatch.setattr(token, "_present", lambda: pytest.fail("Ray was told otherwise"))
    with token.presented(f"127.0.0.1:{port}"):
        assert os.environ[token.MODE] == said
    assert os.environ[token.MODE] == said


def joining_fails(address: str, *reasons: Exception) -> str:
    """What is said of it; each reason is the cause of the one before."""
    for outer, inner in pairwise(reasons):
        outer.__cause__ = inner
    return token.refusal(address, reasons[0])


def test_a_cluster_that_refuses_says_how_the_token_is_shown() -> None:
    said = joining_fails("head:6379", ConnectionError("no connection"), REFUSED)
    assert said.startswith("the cluster at head:6379 asks for a token; unasked,")
    assert "export RAY_AUTH_MODE=token" in said
    assert "asks for a token" in joining_fails("head:6379", AuthenticationError("missing"))


def test_a_client_that_gets_no_answer_is_told_that_it_may_be_for_a_token() -> None:
    said = joining_fails("ray://head:10001", ConnectionError("ray client connection timeout"))
    assert "does not answer, and may ask for a token" in said and "export RAY_AUTH_MODE=token" in said


def test_a_cluster_that_fails_otherwise_has_nothing_to_do_with_tokens() -> None:
    assert not joining_fails("head:6379", ConnectionError("no connection"), RuntimeError("timed out"))


def test_a_token_that_was_shown_and_refused_is_the_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token.setup, "get_authentication_mode", lambda: token.setup.AuthenticationMode.TOKEN)
    said = joining_fails("head:6379", ConnectionError("no connection"), REFUSED)
    assert said == "the cluster at head:6379 wants another token than this machine's"
    assert "wants another token: " in joining_fails("head:6379", AuthenticationError("none was found"))
    assert not joining_fails("ray://head:10001", ConnectionError("ray client connection timeout"))
