"""Bringing about the wanted state: makes actors that are missing, asks those that live, retires those too many.

Invariant: what there is, is asked from Ray at every turn and never remembered, so a new supervisor goes on where
its predecessor was killed. An actor is only retired after it has drained; only one that answers no heartbeat is
killed. What is wanted is `cluster.wanted`'s, when and where an actor is made `cluster.supervision`'s and
`cluster.placement`'s.
"""

from __future__ import annotations

import asyncio
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError

from actors import roster
from actors.roster import Place, Post
from cluster import placement
from cluster.config import Config
from cluster.placement import Node
from cluster.supervision import Restarts
from cluster.wanted import Wanted

MOVE_SECONDS = 5.0
"""Between two sandboxes that are moved to a node with fewer."""
STOP_SECONDS = 30.0
MOVABLE = "sandbox"
Note = Callable[[str, str], None]


class Keeper:
    """One turn after another; `note(what, trace)` is told of what goes wrong."""

    def __init__(self, config: Config, note: Note) -> None:
        self.config = config
        self._settings = config.supervision
        self._note = note
        self._restarts = Restarts(config.supervision)
        self._where: dict[str, str] = {}
        """node of each actor that was made or has answered"""
        self._missed: Counter[str] = Counter()
        self._answered: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._starting: dict[str, asyncio.Task[None]] = {}
        self._failed_starts: dict[str, tuple[int, str]] = {}
        self._nodes: list[Node] = []
        self._moved = 0.0
        self._due: dict[str, float] = {}
        """when an actor that has started is asked again"""
        self._handles: dict[str, Any] = {}
        """of actors that have answered; to look one up keeps the loop waiting for Ray"""
        self.turn_seconds = 0.0
        """of the last turn"""

    async def turn(self, wanted: Wanted) -> None:
        """Compare what there is with what is wanted, and begin whatever is needed. Waits for none of it."""
        begun = time.monotonic()
        self._nodes = await asyncio.to_thread(self._nodes_now)
        posts = {post.name: post for post in [*roster.posts(self.config, wanted), *self._followers()]}
        under_way = set(self._tasks)  # what is made while Ray lists the others has not died
        there = set(await asyncio.to_thread(roster.present, self.config)) - {roster.SUPERVISOR}
        for name, post in posts.items():  # in this order: the run's own come before attached policies'
            if name not in there and name not in under_way:
                self._missing(post)
        self._balance(there & posts.keys())  # first: an actor that is being asked is not moved
        for name in there & posts.keys():
            if self._due.get(name, 0.0) <= begun:
                self._begin(name, self._ask(name))
        for name in there - posts.keys():
            self._begin(name, self._retire(name))
        for name in self._where.keys() - there - posts.keys():
            self._begin(name, self._clear_away(name))
        self.turn_seconds = time.monotonic() - begun

    async def make(self, post: Post) -> None:
        """Make or adopt one actor now, on the node that has the fewest."""
        nodes = self._nodes or await asyncio.to_thread(self._nodes_now)
        node: str | None = post.node
        if post.place is Place.HEAD:
            node = next((each.id for each in nodes if each.is_head), None)
        elif post.place is Place.ANY:
            node = placement.choose(self._load(post.kind), nodes, self._avoided(), post.cpus)
        self._restarts.made(post.name, time.monotonic())
        self._answered.discard(post.name)
        for known in (self._missed, self._due, self._handles):
            known.pop(post.name, None)
        # At once: others are made meanwhile, and count it; and it has died if it is not there at the next turn.
        self._where[post.name] = node or ""
        try:
            await self._free_permits(post.name)  # its predecessor's, for others until it has started
            await _finished(asyncio.to_thread(roster.make, post, self.config, node or None, self._avoided()))
        except Exception:
            self._where.pop(post.name, None)
            raise

    async def close(self) -> None:
        """End whatever was begun; what is being made just now is there afterwards, and nothing comes any more."""
        tasks = [*self._tasks.values(), *self._starting.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def nodes(self) -> list[Node]:
        """The cluster's nodes, as the last turn saw them; none before the first."""
        return self._nodes

    def overview(self) -> dict[str, Any]:
        """Nodes with the actors on them, deaths, and who is leaving: plain data for the status."""
        by_node: dict[str, list[str]] = {}
        for name, node in sorted(self._where.items()):
            by_node.setdefault(node, []).append(name)
        quarantined = self._avoided()
        return {
            "nodes": [
                {
                    "id": node.id, "address": node.address, "alive": node.alive, "head": node.is_head,
                    "quarantined": node.id in quarantined, "actors": by_node.get(node.id, []),
                }
                for node in self._nodes
            ],
            "restarts": dict(self._restarts.counts),
            "busy": sorted(self._tasks),
        }  # fmt: skip

    def failing(self) -> dict[str, tuple[int, str]]:
        """Actors that the run cannot do without whose start fails, how often in a row, and with what the first time.

        One of several is none of them, while another of its kind has started: its node may be at fault.
        """
        served = {roster.kind_of(name) for name in self._due}
        return {
            f"start of {name}": failed
            for name, failed in self._failed_starts.items()
            if not roster.is_attached(name) and roster.kind_of(name) not in served
        }

    def _followers(self) -> list[Post]:
        home = next((node.id for node in self._nodes if node.is_head), "")
        return [roster.follower(node.id) for node in self._nodes if node.alive and node.id != home]

    def _missing(self, post: Post) -> None:
        now, name = time.monotonic(), post.name
        if name in self._tasks:
            return
        if (node := self._where.pop(name, None)) is not None:
            pause = self._restarts.died(name, node, now)
            where = f" on node {node[:12]}" if node else ""
            self._note(f"{name} died", f"{name}{where} is gone; it is made again in {pause:.0f} s")
        if self._restarts.may_make(name, now):
            self._begin(name, self.make(post))

    def _begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """One thing at a time for each actor."""
        if name in self._tasks:
            work.close()
            return
        task = self._tasks[name] = asyncio.create_task(self._noted(name, work))
        task.add_done_callback(lambda _: self._tasks.pop(name, None))

    async def _noted(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 - the next turn sees what is still to do; here it is only told
            self._note(name, traceback.format_exc())

    async def _ask(self, name: str) -> None:
        """A heartbeat; who misses too many after the first is killed, who has not started is asked to.

        That a process has ended is seen at every turn, without asking it: this is for one that lives and hangs. So who
        has started is asked once in a while, and not everybody in the same turn.
        """
        try:
            actor = self._handles.get(name) or ray.get_actor(name, self.config.namespace)
            beat = await asyncio.wait_for(actor.heartbeat.remote(), self._settings.heartbeat_seconds)
        except (ValueError, RayActorError):
            self._handles.pop(name, None)
            return  # it died just now, and the next turn sees that
        except (TimeoutError, RayError):
            await self._count_missed(name)
            return
        self._where[name], self._handles[name] = beat["node"], actor
        self._answered.add(name)
        self._missed.pop(name, None)
        if beat["leaving"]:  # a predecessor began to move it, or it was wanted again meanwhile
            await self._retire(name)
        elif not beat["started"] and name not in self._starting:
            task = self._starting[name] = asyncio.create_task(self._start(name, actor))
            task.add_done_callback(lambda _: self._starting.pop(name, None))
        elif beat["started"]:
            self._due[name] = time.monotonic() + self._settings.heartbeat_seconds * random.uniform(0.5, 1.0)

    async def _start(self, name: str, actor: Any) -> None:
        try:
            await actor.ready.remote()
            self._failed_starts.pop(name, None)
        except RayActorError:
            return
        except RayError as error:
            count, first = self._failed_starts.get(name, (0, str(error)))
            self._failed_starts[name] = (count + 1, first)
            self._note(name, f"{name} is not ready: {error}")
            await asyncio.sleep(1.0)

    async def _count_missed(self, name: str) -> None:
        self._missed[name] += 1
        if self._missed[name] < self._settings.missed_heartbeats:
            return
        seconds = self._settings.heartbeat_seconds * self._missed[name]
        if name in self._answered or await asyncio.to_thread(roster.lives, name, self.config):
            self._note(f"{name} hangs", f"{name} answered no heartbeat for {seconds:.0f} s and is killed")
            await asyncio.to_thread(roster.kill, name, self.config)
            return
        self._note(
            f"{name} waits", f"{name} has not begun after {seconds:.0f} s: no node has room for it yet"
        )
        if await asyncio.to_thread(roster.waits, name, self.config):
            # It is made anew, which is no death: its group keeps away from nodes whose quarantine is over by now.
            self._where.pop(name, None)
            await asyncio.to_thread(roster.kill, name, self.config)

    async def _retire(self, name: str) -> None:
        """Drain, stop, kill. Idempotent: a new supervisor begins it again."""
        try:
            actor = ray.get_actor(name, self.config.namespace)
            await asyncio.wait_for(actor.drain.remote(), self._settings.drain_seconds)
            await asyncio.wait_for(actor.stop.remote(), STOP_SECONDS)
        except (ValueError, RayError, TimeoutError) as error:
            self._note(
                f"{name} leaves", f"{name} is killed without having drained: {type(error).__name__}: {error}"
            )
        await self._clear_away(name)

    async def _clear_away(self, name: str) -> None:
        """End what is left of an actor that is not wanted: its process, placement group, permits and memory here."""
        await asyncio.to_thread(roster.kill, name, self.config)
        await self._free_permits(name)
        self._forget(name)

    async def _free_permits(self, name: str) -> None:
        """Groups of a solver that is gone are not waited for. A buffer that is away forgets them by itself."""
        policy, _, kind = roster.kind_of(name).rpartition(".")
        if kind != "solver":
            return
        with suppress(ValueError, RayError, TimeoutError):
            buffer = ray.get_actor(f"{policy}.buffer" if policy else "buffer", self.config.namespace)
            await asyncio.wait_for(buffer.forget.remote(name), self._settings.heartbeat_seconds)

    def _forget(self, name: str) -> None:
        self._where.pop(name, None)
        self._due.pop(name, None)
        self._handles.pop(name, None)
        self._failed_starts.pop(name, None)
        self._restarts.forget(name)

    def _balance(self, names: set[str]) -> None:
        """Take one sandbox from the node that has too many; it is made again on the one with the fewest."""
        if time.monotonic() - self._moved < MOVE_SECONDS or len(self._nodes) < 2:
            return
        settled = self._answered & self._where.keys()  # who left during this turn is in `names` all the same
        movable = [name for name in names & settled if roster.kind_of(name) == MOVABLE]
        load = Counter(self._where[name] for name in movable)
        node = placement.rebalance(load, self._nodes, self._avoided(), self.config.sandbox.cpus)
        if node is None:
            return
        name = next((name for name in movable if self._where[name] == node and name not in self._tasks), None)
        if name is not None:
            self._moved = time.monotonic()
            self._begin(name, self._retire(name))

    def _nodes_now(self) -> list[Node]:
        """Alive or not; with what is free where actors reserve it, so that none is moved to a node that is full."""
        free = ray._private.state.available_resources_per_node() if self.config.sandbox.cpus else None
        return placement.nodes_from(ray.nodes(), free)

    def _avoided(self) -> set[str]:
        """Nodes in quarantine; the head cannot be, and the last node that lives is used all the same."""
        head = {node.id for node in self._nodes if node.is_head}
        return self._restarts.quarantined(time.monotonic()) - head

    def _load(self, kind: str) -> Counter[str]:
        """Actors by node, but for followers, of which each has one.

        Of what is moved its own kind alone, or `choose` would undo what `rebalance` begins.
        """
        kinds = {name: roster.kind_of(name) for name in self._where}
        counted = [
            name for name in kinds if (kinds[name] == kind if kind == MOVABLE else kinds[name] != "follower")
        ]
        return Counter(self._where[name] for name in counted)


async def _finished(work: Coroutine[Any, Any, None]) -> None:
    """To its end, also when whoever waits is cancelled: a thread cannot be called back."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
