"""What actors were told and did, outside the run's own store: so that a store which forgot something is found out.

Invariant: a line is written only after the peer has answered, in one append that survives a kill of this process; so
whatever a ledger says was acknowledged, was. Each process has a file of its own.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from actors.peers import Peer, Peers
from cluster.config import Config
from envpool.members import Member

Line = dict[str, Any]
FOLDER = "ledger"


class Ledger:
    """The file of one process."""

    def __init__(self, config: Config, name: str) -> None:
        folder = config.run_folder / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}-{os.getpid()}.jsonl"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, what: str, **facts: Any) -> None:
        """One line."""
        line = json.dumps({"what": what, "at": time.time(), **facts}, default=str)
        os.write(self._file, line.encode() + b"\n")


def lines(run_folder: Path, what: str) -> Iterator[Line]:
    """All lines of a kind, of all processes; the last one of a killed process may be torn, and is passed over."""
    for path in sorted((run_folder / FOLDER).glob("*.jsonl")):
        for text in path.read_bytes().split(b"\n"):
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if line["what"] == what:
                yield line


def _put(arguments: tuple[Any, ...], state: Any) -> Line:
    return {"group": arguments[1]["id"], "state": str(state)}


def _offer(arguments: tuple[Any, ...], state: Any) -> Line:
    return {"group": arguments[0]["id"], "state": str(state)}


def _admit(arguments: tuple[Any, ...], new: Any) -> Line:
    return {"id": Member.from_dict(arguments[0]).id, "new": bool(new)}


RECORDED: Mapping[str, Callable[[tuple[Any, ...], Any], Line]] = {
    "put": _put,
    "offer": _offer,
    "admit": _admit,
}
"""By method of a peer: what is written of its arguments and its answer."""


class RecordedPeer:
    """A peer whose answers to the recorded methods are written down."""

    def __init__(self, peer: Peer, ledger: Ledger) -> None:
        self._peer = peer
        self._ledger = ledger

    def __getattr__(self, method: str) -> Any:
        asked = getattr(self._peer, method)
        if method not in RECORDED:
            return asked

        async def call(*args: Any, **kwargs: Any) -> Any:
            answer = await asked(*args, **kwargs)
            self._ledger.write(method, by=self._peer.name, **RECORDED[method](args, answer))
            return answer

        return call


class RecordedPeers:
    """All peers of an actor, recorded."""

    def __init__(self, peers: Peers, ledger: Ledger) -> None:
        self._peers = peers
        self._ledger = ledger

    def __getitem__(self, name: str) -> RecordedPeer:
        return RecordedPeer(self._peers[name], self._ledger)

    def __getattr__(self, name: str) -> RecordedPeer:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]


class Recording:
    """To be put before an actor class: the actor as it is, and what its peers acknowledge is written down."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)  # type: ignore[call-arg]
        self.ledger = Ledger(self.config, name)  # type: ignore[attr-defined]
        self.peers: Any = RecordedPeers(self.peers, self.ledger)  # type: ignore[has-type]
