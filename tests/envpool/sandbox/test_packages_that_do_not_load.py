"""Packages that load slowly, loudly or not at all: it is known at once, told, and nobody else waits for them."""

import asyncio
from pathlib import Path

import pytest
from hostile import HONEST
from small_limits import TIGHT

from envpool.sandbox import (
    Call,
    InfrastructureFault,
    Job,
    LocalExecutor,
    Sandbox,
    SandboxUnavailable,
    Value,
    executor,
)

USES = HONEST.replace("import random\n", "import parcel\nimport random\n")
SUM = Call("solve", ([1, 2, 3],))


def package(folder: Path, code: str) -> str:
    (folder / "parcel.py").write_text(code)
    return f"parcel={folder}"


def test_one_that_writes_much_as_it_loads_is_waited_for_no_longer(tmp_path: Path) -> None:
    with Sandbox(TIGHT, packages=(package(tmp_path, "import os\nos.write(2, b'old\\n' * 100_000)"),)) as loud:
        assert loud.run(USES, [SUM]) == [Value(6)]


def test_of_one_that_fails_loudly_the_last_words_are_told(tmp_path: Path) -> None:
    code = "import os\nos.write(2, b'old\\n' * 100_000)\nraise ValueError('broken as it loads')"
    with pytest.raises(SandboxUnavailable, match="broken as it loads") as told:
        Sandbox(TIGHT, packages=(package(tmp_path, code),))
    assert len(str(told.value)) < 4_000


@pytest.mark.parametrize("letter", ["a", "\u00e4", "\U0001f4e6", "\x00"])
def test_a_reason_of_any_length_is_told_shortened(tmp_path: Path, letter: str) -> None:
    with pytest.raises(SandboxUnavailable, match="broken: ") as told:
        Sandbox(TIGHT, packages=(package(tmp_path, f"raise OSError('broken: ' + {letter!r} * 100_000)"),))
    assert len(str(told.value)) < 2_000


async def test_a_node_that_cannot_load_one_says_so_as_it_starts(tmp_path: Path) -> None:
    started = LocalExecutor(TIGHT, packages=(package(tmp_path, "raise ValueError('broken as it loads')"),))
    try:
        with pytest.raises(SandboxUnavailable, match="broken as it loads"):
            await started.start()
    finally:
        started.close()


async def test_what_did_not_load_is_not_loaded_again_for_each_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = tmp_path / "tries"
    code = f"with open({str(tries)!r}, 'a') as file: file.write('x')\nraise ValueError('broken as it loads')"
    started = LocalExecutor(TIGHT, packages=(package(tmp_path, code),))
    jobs = [Job(USES, (SUM,), packages=True)] * 3
    try:
        done = await started.run_many(jobs)
        assert all(
            isinstance(each, InfrastructureFault) and "broken as it loads" in str(each) for each in done
        )
        assert tries.read_text() == "x"
        monkeypatch.setattr(executor, "LOAD_AGAIN_SECONDS", 0.0)
        package(tmp_path, "")
        assert await started.run_many(jobs) == [[Value(6)]] * 3
    finally:
        started.close()


async def test_plain_programs_do_not_wait_until_packages_are_loaded(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    code = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)"
    started = LocalExecutor(TIGHT, packages=(package(tmp_path, code),))
    try:
        needing = asyncio.create_task(started.run(USES, [SUM], packages=True))
        await asyncio.sleep(0)
        assert await started.run(HONEST, [SUM]) == [Value(6)]
        assert not needing.done()
        gate.touch()
        assert await needing == [Value(6)]
    finally:
        gate.touch()
        started.close()
