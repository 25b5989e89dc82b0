"""Shipped bricks as members, as inspection in the sandbox reads them."""

import asyncio

from envpool.bricks import read_bricks
from envpool.members import Member, Origin, Program
from envpool.sandbox import Call, Executor, Value


async def inspected(executor: Executor, source: str, origin: Origin = Origin.BRICK) -> Member:
    """The member that a well-formed source is."""
    (result,) = await executor.run(source, [Call("inspect")])
    assert isinstance(result, Value) and result.value["error"] is None, result
    parts = {name: result.value[name] for name in ("name", "rule", "domain", "codomain", "oracle")}
    return Member(Program(source, **parts), origin)


async def shipped_bricks(executor: Executor, chosen: list[str] | None = None) -> list[Member]:
    """All shipped bricks, or those chosen by name or pattern."""
    return list(await asyncio.gather(*(inspected(executor, source) for _, source in read_bricks(chosen))))
