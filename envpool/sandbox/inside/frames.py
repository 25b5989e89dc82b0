"""The child's end of the boundary: one length-prefixed JSON request in, one reply out, by plain read and write."""

import json
import os
from typing import Any

REQUEST_FD, REPLY_FD = 3, 4
HEADER = 4  # bytes, big-endian length
CONFINED = b"+"  # the first byte of a child: it is locked; without it a dead child is the machine's fault
_CHUNK = 1 << 16
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder()


class Requests:
    """Requests as they arrive. A source comes together with the first call of it, so bytes may be left over."""

    def __init__(self) -> None:
        self._buffer = b""

    def next(self) -> Any:
        """The next request; None at the end of input."""
        while len(self._buffer) < HEADER or len(self._buffer) < self._end():
            more = os.read(REQUEST_FD, _CHUNK)
            if not more:
                return None
            self._buffer += more
        end = self._end()
        body, self._buffer = self._buffer[HEADER:end], self._buffer[end:]
        request, _ = _DECODER.raw_decode(body.decode("ascii"))
        return request

    def _end(self) -> int:
        return HEADER + int.from_bytes(self._buffer[:HEADER], "big")


def encode(reply: list[Any]) -> bytes:
    return _ENCODER.encode(reply).encode("ascii")


def send(body: bytes) -> None:
    framed = len(body).to_bytes(HEADER, "big") + body
    sent = os.write(REPLY_FD, framed)
    while sent < len(framed):  # more than a pipe holds
        sent += os.write(REPLY_FD, memoryview(framed)[sent:])
