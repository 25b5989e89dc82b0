"""Children kept open, recycling, limits of a call, and what is the same in every zygote."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import HONEST, KERNEL, PLANTED, program
from processes import children, wait_for
from small_limits import TIGHT

from envpool.contract import Recipe
from envpool.sandbox import (
    ALLOWED_IMPORTS,
    Call,
    Fault,
    FaultKind,
    LocalExecutor,
    Sandbox,
    SandboxLimits,
    SandboxUnavailable,
    Value,
    child,
    server,
)  # fmt: skip

PID = program("return os.getpid()", top=KERNEL)
COUNTING = program("Subject.seen = getattr(Subject, 'seen', 0) + 1\nreturn Subject.seen")
SEEDS = sorted(path for path in Path("envpool/seeds").glob("*.py") if path.name != "__init__.py")


@pytest.fixture(scope="module")
def other() -> Iterator[Sandbox]:
    with Sandbox(TIGHT, hash_seed=2) as started:
        yield started


def solve(sandbox: Sandbox, source: str, x: object = 1, *, fresh: bool = False) -> object:
    [result] = sandbox.run(source, [Call("solve", (x,))], fresh=fresh)
    assert isinstance(result, Value), result
    return result.value


def test_every_method_of_an_equality_oracle(sandbox: Sandbox) -> None:
    key = Recipe("p1", 3, 2).key()
    [drawn] = sandbox.run(HONEST, [Call("sample", (key, 2))])
    assert isinstance(drawn, Value)
    rng = Recipe("p1", 3, 2).rng()
    numbers = [rng.randint(0, 9) for _ in range(3)]
    assert drawn.value == {"input": numbers, "planted": None, "shown": str(numbers)}
    calls = [Call("solve", ([1, 2],)), Call("verify", ([1, 2], 3)), Call("verify", ([1, 2], 4)),
             Call("accepts", ([1],)), Call("show", ([1],))]  # fmt: skip
    assert sandbox.run(HONEST, calls) == [Value(3), Value(1.0), Value(0.0), Value(True), Value("[1]")]


def test_every_method_of_a_feasibility_oracle(sandbox: Sandbox) -> None:
    [drawn] = sandbox.run(PLANTED, [Call("sample", ("k", 1))])
    assert isinstance(drawn, Value)
    x, planted = drawn.value["input"], drawn.value["planted"]
    assert sandbox.run(PLANTED, [Call("verify", (x, planted)), Call("verify", (x, []))]) == [Value(1.0), Value(0.0)]
    [no_solve] = sandbox.run(PLANTED, [Call("solve", (x,))])
    assert isinstance(no_solve, Fault) and no_solve.kind == FaultKind.CODE_ERROR


def test_a_child_is_kept_for_its_source_and_a_fresh_job_gets_its_own(sandbox: Sandbox) -> None:
    first = solve(sandbox, PID)
    assert solve(sandbox, PID) == first
    assert solve(sandbox, PID, fresh=True) != first
    assert solve(sandbox, PID) == first


def test_the_least_recently_used_child_goes_first(sandbox: Sandbox) -> None:
    sources = [program(f"return {n} * 0 + os.getpid()", top=KERNEL) for n in range(TIGHT.open_children)]
    pids = [solve(sandbox, source) for source in sources]
    solve(sandbox, sources[0])
    solve(sandbox, HONEST, [1])
    assert solve(sandbox, sources[0]) == pids[0]
    assert solve(sandbox, sources[1]) != pids[1]
    assert sandbox.zygote_pid is not None
    kept = TIGHT.open_children + 1  # and one forked ahead
    assert wait_for(lambda: len(children(sandbox.zygote_pid or 0)) == kept, 3.0)


def test_a_child_is_recycled_after_its_calls_and_after_a_fault() -> None:
    with Sandbox(SandboxLimits(calls_per_child=3, cpu_seconds=0.5)) as own:
        assert [solve(own, COUNTING) for _ in range(7)] == [1, 2, 3, 1, 2, 3, 1]
        [fault] = own.run(COUNTING, [Call("solve", ("no int",))])
        assert isinstance(fault, Fault) and fault.kind == FaultKind.ILLEGAL_VALUE
        assert solve(own, COUNTING) == 1


def test_a_zygote_is_recycled_after_its_jobs() -> None:
    with Sandbox(SandboxLimits(jobs_per_zygote=2)) as own:
        zygotes = []
        for _ in range(4):
            solve(own, HONEST, [1], fresh=True)
            zygotes.append(own.zygote_pid)
        assert zygotes[0] == zygotes[1] != zygotes[2] == zygotes[3]


def test_calls_after_a_fatal_fault_run_in_a_new_child(sandbox: Sandbox) -> None:
    source = program("if x == 0: os._exit(1)\nreturn x", top=KERNEL)
    results = sandbox.run(source, [Call("solve", (x,)) for x in (1, 0, 2)], fresh=True)
    assert results[0] == Value(1) and results[2] == Value(2)
    assert isinstance(results[1], Fault) and results[1].kind == FaultKind.CRASH


def test_neither_state_of_the_object_nor_a_changed_input_carries_over(sandbox: Sandbox) -> None:
    source = program("self.n = getattr(self, 'n', 0) + 1\nx.append(9)\nreturn self.n + len(x)", domain="list[int]")
    argument: list[int] = [1]
    assert sandbox.run(source, [Call("solve", (argument,))] * 3) == [Value(3)] * 3
    assert argument == [1]


def test_a_source_or_an_argument_too_large_is_the_programs_fault(sandbox: Sandbox) -> None:
    [source] = sandbox.run("#" * 70_000, [Call("inspect")])
    assert isinstance(source, Fault) and source.kind == FaultKind.CODE_ERROR
    [argument] = sandbox.run(HONEST, [Call("solve", ([1] * 20_000,))])
    assert isinstance(argument, Fault) and argument.kind == FaultKind.ILLEGAL_VALUE


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_instances_are_the_same_for_two_hash_seeds_and_for_a_fresh_fork(
    sandbox: Sandbox, other: Sandbox, path: Path
) -> None:
    source = path.read_text()
    calls = [Call("sample", (Recipe("p1", seed, level).key(), level)) for seed in range(3) for level in (0, 2)]
    drawn = sandbox.run(source, calls)
    assert all(isinstance(result, Value) for result in drawn)
    assert other.run(source, calls) == drawn
    assert other.run(source, calls, fresh=True) == drawn


@pytest.mark.parametrize("body", ["return hash('text') % 1000", "return random.randrange(10 ** 9)",
                                  "return list({'a', 'b', 'c', 'd', 'e', 'f'}).index('a')"])  # fmt: skip
def test_what_depends_on_the_hash_seed_or_on_global_randomness_differs_between_replicas(
    sandbox: Sandbox, other: Sandbox, body: str
) -> None:
    assert solve(sandbox, program(body)) == solve(sandbox, program(body), fresh=True)
    assert solve(sandbox, program(body)) != solve(other, program(body))


def test_the_closed_world_has_all_that_is_allowed(sandbox: Sandbox) -> None:
    uses = """
        import datetime, string, decimal, fractions, statistics, textwrap, dataclasses, enum, functools, calendar
        datetime.datetime.strptime('2024-02-03', '%Y-%m-%d').strftime('%A')
        string.Template('$a').substitute(a=1)
        decimal.Decimal(1) / 3
        statistics.NormalDist().inv_cdf(0.5), statistics.quantiles([1, 2, 3])
        fractions.Fraction('1/3').limit_denominator(7)
        textwrap.dedent('  a'), calendar.monthcalendar(2024, 2)
        for name in ('utf-8', 'utf-16', 'utf-32', 'latin-1', 'ascii', 'cp1252', 'idna', 'rot13', 'unicode_escape'):
            'abc'.encode(name) if name != 'rot13' else functools.reduce
        Pair = dataclasses.make_dataclass('Pair', ['a', 'b'])
        return len({Pair(1, 2).a, enum.Enum('E', 'A B').A.value}) + sorted([3, x])[0]
    """
    top = "\n".join(f"import {name}" for name in ALLOWED_IMPORTS if name != "__future__")
    assert solve(sandbox, program(uses, top=top)) == 2


def test_a_refusal_names_the_missing_layer_and_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_BOOT", server._BOOT.replace(
        "main(int", "import envpool.sandbox.inside.syscalls as s; s.OPENS, s.FREE = (), s.FREE + s.OPENS; main(int"
    ))  # fmt: skip
    with pytest.raises(SandboxUnavailable, match=r"self-test: open .*seccomp"):
        Sandbox(TIGHT)


@pytest.mark.parametrize(
    ("harm", "named"),
    [("import os; os.environ['TOKEN'] = 'x'", "TOKEN"),
     ("import os; left = [os.pipe() for _ in range(9)]", "descriptor"),
     ("import threading, time; threading.Thread(target=time.sleep, args=(5,), daemon=True).start()", "thread")],
)  # fmt: skip
def test_a_zygote_that_is_not_scrubbed_refuses(monkeypatch: pytest.MonkeyPatch, harm: str, named: str) -> None:
    monkeypatch.setattr(server, "_BOOT", server._BOOT.replace("main(int", f"{harm}; main(int"))
    with pytest.raises(SandboxUnavailable, match=named):
        Sandbox(TIGHT)


async def test_the_executor_runs_both_replicas_at_once_and_in_order() -> None:
    executor = LocalExecutor(TIGHT)
    try:
        jobs = [executor.run(HONEST, [Call("solve", ([n],))], replica=n % 2) for n in range(20)]
        assert await asyncio.gather(*jobs) == [[Value(n)] for n in range(20)]
        assert executor.metrics()["calls"] == 20
    finally:
        executor.close()


def test_a_fault_says_whether_the_clock_came_before_the_cpu_time(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = program("while True: pass")
    [spent] = sandbox.run(endless, [Call("solve", (1,))])
    monkeypatch.setattr(child, "_STALL_SHARE", 0.0)  # or a busy machine would give it no verdict at all
    with Sandbox(SandboxLimits(cpu_seconds=60.0, wall_seconds=0.5)) as hurried:
        [cut_off] = hurried.run(endless, [Call("solve", (1,))])
    assert isinstance(spent, Fault) and isinstance(cut_off, Fault)
    assert spent.kind is cut_off.kind is FaultKind.CPU_LIMIT
    assert (spent.by_clock, cut_off.by_clock) == (False, True)
