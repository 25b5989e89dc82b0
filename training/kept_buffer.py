"""The buffer with its groups on disk: nothing that was put and answered is lost with the process that held it.

Invariant: a group's body is in the store before `put` is answered, what is handed out or called trained is saved
before that is answered, and a body is dropped only after a save that says so. Whatever the moment of a kill, whoever
loads the store goes on: no group that was ready is lost, and none is trained twice in the weights that survive.
What the states mean is `training.buffer`'s; who keeps the store is the caller's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from envpool.store.encoding import pack, unpack
from training.buffer import GroupBuffer
from training.trajectory import Group


class GroupStore(Protocol):
    """What the pool offers; each write is durable when it is answered."""

    async def state(self, key: str) -> Any: ...
    async def put_state(self, key: str, value: Any) -> None: ...
    async def put_group(self, key: str, value: bytes) -> None: ...
    async def drop_groups(self, keys: list[str]) -> None: ...
    async def groups(self, prefix: str) -> list[str]: ...
    async def group(self, key: str) -> bytes | None: ...


class KeptBuffer:
    """One policy's buffer; `name` is the key of its state and, with a slash, the prefix of its groups."""

    def __init__(self, buffer: GroupBuffer, store: GroupStore, name: str) -> None:
        self.buffer = buffer
        self._store = store
        self._name = name
        self._saving = asyncio.Lock()

    async def load(self) -> None:
        """Go on from what the store has. Raises BufferError for a state of another kind."""
        saved = dict(await self._store.state(self._name) or {})
        await self._bring_out(saved.get("entries", {}))
        kept = await self._store.groups(self._key(""))
        self.buffer.load_state_dict({"gone": [], **saved} if saved else {}, map(self._bare, kept))
        await self._supply()
        await self._drop_gone()

    async def put(self, permit: str, plain: Mapping[str, Any]) -> str:
        """As `GroupBuffer.put`, of a group as plain values. Idempotent."""
        group = Group.from_dict(plain)
        keep = self.buffer.would_keep(permit, group)
        if keep:
            await self._store.put_group(self._key(permit), pack(plain))
        state = self.buffer.put(permit, group)
        if keep:
            await self._drop_unless_kept(permit)
        return state

    async def offer(self, plain: Mapping[str, Any], version: int) -> str:
        """As `GroupBuffer.offer`, of a group as plain values. Idempotent."""
        group = Group.from_dict(plain)
        keep = self.buffer.would_take_in(group, version)
        if keep:
            await self._store.put_group(self._key(group.id), pack(plain))
        state = self.buffer.offer(group, version)
        if keep:
            await self._drop_unless_kept(group.id)
        return state

    async def take(self, version: int) -> list[Group] | None:
        """As `GroupBuffer.take`."""
        await self._supply()
        groups = self.buffer.take(version)
        if groups is not None:
            await self._save()
        return groups

    async def trained(self, ids: Iterable[str], version: int) -> None:
        """As `GroupBuffer.trained`. Idempotent."""
        self.buffer.trained(ids, version)
        await self._save()

    async def checkpointed(self, version: int) -> None:
        """As `GroupBuffer.checkpointed`. Idempotent."""
        self.buffer.checkpointed(version)
        await self._save()

    async def reopen(self, since: int, version: int) -> int:
        """As `GroupBuffer.reopen`."""
        reopened = self.buffer.reopen(since, version)
        await self._save()
        await self._supply()
        return reopened

    async def _save(self) -> None:
        async with self._saving:
            state = self.buffer.state_dict()
            await self._store.put_state(self._name, state)
            await self._drop(state["gone"])

    async def _drop_gone(self) -> None:
        """Of what a predecessor saved as gone: it was killed before the bodies were."""
        async with self._saving:
            await self._drop(self.buffer.gone())

    async def _drop(self, keys: list[str]) -> None:
        if keys:
            await self._store.drop_groups([self._key(key) for key in keys])
            self.buffer.forgotten(keys)

    async def _drop_unless_kept(self, key: str) -> None:
        """The permit may have been given back while the body was written, or the same call came twice."""
        if not self.buffer.keeps(key):
            await self._store.drop_groups([self._key(key)])

    async def _supply(self) -> None:
        for key in self.buffer.missing():
            raw = await self._store.group(self._key(key))
            self.buffer.supply(key, None if raw is None else Group.from_dict(unpack(raw)))

    async def _bring_out(self, entries: dict[str, Any]) -> None:
        """States of an earlier form held the bodies themselves."""
        for key, entry in entries.items():
            if "group" in entry:
                body = entry.pop("group")
                await self._store.put_group(self._key(key), pack(body))
                entry |= {"stamp": None, "id": body["id"]}

    def _key(self, key: str) -> str:
        return f"{self._name}/{key}"

    def _bare(self, key: str) -> str:
        return key.removeprefix(f"{self._name}/")
