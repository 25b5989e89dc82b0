"""Secrets of jobs and of the owner, looked for in the memory of other processes, from outside and as root."""

import contextlib
import os
import secrets
from collections.abc import Iterator

import pytest
from hostile import HONEST, KERNEL, PLANTED, program
from small_limits import TIGHT

from envpool.sandbox import Call, Fault, Sandbox, Value

JOBS = 50
CHUNK = 1 << 20
KEEPS = program("Subject.kept = x\nreturn x", domain="str", codomain="str")
DIES = program("kept = x\nos._exit(1)", top=KERNEL, domain="str", codomain="str")
FAILS = program("raise ValueError(x)", domain="str", codomain="str")


@pytest.fixture
def secret() -> str:
    return secrets.token_hex(16)  # made now, so that it is in no file that a process may have read


@pytest.fixture
def own() -> Iterator[Sandbox]:
    with Sandbox(TIGHT) as started:
        yield started


def found_in(pid: int, secret: str) -> int:
    """How often a text lies in the memory of a process. Skips the test where that may not be read."""
    needle, count, seen = secret.encode(), 0, 0
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in maps:
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                if line.split()[1].startswith("r") and start < 1 << 63:
                    for data in _pieces(memory.fileno(), start, end, len(needle) - 1):
                        count += data.count(needle)
                        seen += len(data)
    except PermissionError:
        pytest.skip("only root may look into a process that is not dumpable")
    assert seen > 5 * CHUNK, "hardly anything could be read"
    return count


def _pieces(memory: int, start: int, end: int, overlap: int) -> Iterator[bytes]:
    """A mapping in pieces that overlap, so that nothing lies on a seam unseen."""
    with contextlib.suppress(OSError):  # pages of the kernel's that nobody may read
        while start < end:
            yield os.pread(memory, min(CHUNK + overlap, end - start), start)
            start += CHUNK


def child_of(sandbox: Sandbox, source: str) -> int:
    return next(child.pid for key, child in sandbox._children.items() if key.source == source and not key.fresh)


def test_a_secret_answer_of_fifty_jobs_is_nowhere_in_the_zygote(own: Sandbox, secret: str) -> None:
    for turn in range(JOBS):
        fresh = turn % 2 == 0
        match turn % 5:
            case 0 | 1:
                assert own.run(KEEPS, [Call("solve", (secret,))], fresh=fresh) == [Value(secret)]
            case 2:
                assert own.run(KEEPS, [Call("verify", (secret, secret))], fresh=fresh) == [Value(1.0)]
            case 3:
                [result] = own.run(FAILS, [Call("solve", (secret,))], fresh=fresh)
                assert isinstance(result, Fault) and secret in result.detail
            case 4:
                own.run(
                    DIES.replace("kept = x", f"kept = {secret!r}"), [Call("solve", (secret,))], fresh=fresh
                )
    assert own.zygote_pid is not None
    own.run(HONEST, [Call("solve", ([1],))])  # a child forked after all that

    assert found_in(own.zygote_pid, secret) == 0
    assert found_in(child_of(own, HONEST), secret) == 0
    assert found_in(child_of(own, KEEPS), secret) > 0, "the same search finds it where it is"
    assert found_in(os.getpid(), secret) > 0


def test_a_planted_answer_is_in_the_child_that_made_it_and_not_in_the_zygote(
    own: Sandbox, secret: str
) -> None:
    keeping = f"chosen = numbers[:2]\n        self.__class__.kept = {secret!r} * 2"
    source = PLANTED.replace("chosen = numbers[:2]", keeping)
    [drawn] = own.run(source, [Call("sample", ("key", 1))])
    assert isinstance(drawn, Value)
    assert found_in(own.zygote_pid or 0, secret) == 0
    assert found_in(child_of(own, source), secret) > 0


def test_a_token_in_the_owners_environment_does_not_reach_the_zygote(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", secret)
    with Sandbox(TIGHT) as started:
        started.run(HONEST, [Call("solve", ([1],))])
        assert found_in(started.zygote_pid or 0, secret) == 0
        assert found_in(child_of(started, HONEST), secret) == 0
    assert found_in(os.getpid(), secret) > 0
