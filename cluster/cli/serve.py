"""`envolve serve`: a pool for a trainer elsewhere, over HTTP: one that evolves in a run, or one that no run holds.

Nothing of Ray is needed for the second.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.places import fail
from envpool.exchange.opening import read_pool, store_at
from envpool.sandbox import SandboxUnavailable
from envpool.store import StoreError

if TYPE_CHECKING:
    from envpool.exchange.service.backend import Backend

PORT = 8321
LOCAL = "127.0.0.1"
POLICY = "trainer"
TOKEN = "ENVOLVE_TOKEN"
NEEDED = ("fastapi", "uvicorn")
Port = Annotated[
    int | None, typer.Option(min=0, max=65_535, help=f"Port; {PORT} without it, 0 takes a free one.")
]


def serve(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="section.key=value of the run; none with --pool.")
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(
            help="Serve this pool instead of starting a run: a pool's folder, the folder of a run that stands still, "
            "or a snapshot (members.jsonl), of which nothing is counted."
        ),
    ] = None,
    config: Annotated[str, typer.Option(help="The run's preset or YAML file.")] = "serve",
    endpoint: Annotated[
        str, typer.Option(help="The trainer's OpenAI-compatible URL: asked for proposals and calibration.")
    ] = "",
    model: Annotated[str, typer.Option(help="The model's name at that endpoint.")] = "",
    policy: Annotated[
        str, typer.Option(help=f"Name under which answers are counted; {POLICY} without it.")
    ] = "",
    host: Annotated[
        str, typer.Option(help=f"Address to listen at; {LOCAL} without it. Another one needs {TOKEN}.")
    ] = "",
    port: Port = None,
    package: Annotated[
        list[str] | None,
        typer.Option(help="With --pool: where a package lies that its programs import, as name=folder."),
    ] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="With --pool: count nothing, so that the pool stays as it is.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the run's live view.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Leave the run going in its cluster.")] = False,
) -> None:
    """Let a trainer elsewhere train on the pool while it evolves by what is answered.

    Without --pool a run is started that has no learner: it writes and composes environments beside the trainer. With
    it the pool is curated, and nothing new is written. Ctrl-C finishes what is under way, for up to 20 s; a second one
    does not wait. Clients give the token that ENVOLVE_TOKEN has here, if it has one.
    """
    if pool is None:
        if package or as_is:
            fail("--package and --as-is belong to --pool: a run has sandbox.packages, and counts", 2)
        from cluster.cli.serve_run import serve_run

        serve_run(
            overrides or [], config=config, endpoint=endpoint, model=model, policy=policy, host=host, port=port,
            plain=plain, detach=detach,
        )  # fmt: skip
        return
    if overrides or endpoint or model or detach:
        fail(
            "--pool serves a pool without a run: neither settings nor --endpoint, --model or --detach belong to it",
            2,
        )
    token = os.environ.get(TOKEN, "")
    listener = _listening(host or LOCAL, PORT if port is None else port, token)
    try:
        asyncio.run(_serve(pool, policy or POLICY, package or [], as_is, token, listener))
    except (StoreError, SandboxUnavailable, ValueError, OSError) as error:
        fail(str(error))


def _listening(host: str, port: int, token: str) -> socket.socket:
    if lacking := [name for name in NEEDED if find_spec(name) is None]:
        fail(f"serving needs {' and '.join(lacking)}: pip install 'envolve[serve]'", 2)
    from envpool.exchange.service.hosting import Unprotected, listening

    try:
        return listening(host, port, token)
    except Unprotected as error:
        fail(f"{error}: set {TOKEN}, which clients then have to send", 2)
    except OSError as error:
        fail(f"nothing can listen at {host}:{port} ({error}); choose another --port")


async def _serve(
    path: Path, policy: str, packages: list[str], as_is: bool, token: str, listener: socket.socket
) -> None:
    from envpool.exchange.service.app import service
    from envpool.exchange.service.hosting import serve as served
    from envpool.exchange.service.hosting import url_of

    async with _backend(path, policy, packages, as_is) as backend:
        status = await backend.status()
        counted = f"counted as {status['policy']}" if status["counts"] else "not counted"
        line = f"serving {status['members']} active members of {path} at {url_of(listener)}; answers are {counted}"
        finished = await served(service(backend, token=token), listener, lambda: typer.echo(line))
    typer.echo(_farewell(finished, status["counts"]))


def _farewell(finished: bool, counts: bool) -> str:
    if not finished:
        return "ended before all was answered: clients were told to come again, and nothing is counted twice"
    return "ended: what was under way is answered and counted" if counts else "ended"


@asynccontextmanager
async def _backend(path: Path, policy: str, packages: list[str], as_is: bool) -> AsyncIterator[Backend]:
    from envpool.async_pool import AsyncPool
    from envpool.exchange.service.kept import KeptPool
    from envpool.exchange.service.standing import StandingPool

    if not as_is and (folder := store_at(path)) is not None:
        async with StandingPool.open(folder, policy, packages=packages) as standing:
            yield standing
        return
    kept = AsyncPool(await asyncio.to_thread(read_pool, path), packages=packages)
    try:
        yield KeptPool(kept)
    finally:
        await asyncio.to_thread(kept.close)
