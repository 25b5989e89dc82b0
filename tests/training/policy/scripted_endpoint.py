"""A scripted server, in place of a model's: real HTTP on a real socket, with the failures that a test asks for.

The real server is vLLM's, in `test_endpoint_on_vllm.py`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, Any]
"""Status and body; a body that is text is sent as it is."""
Script = Callable[[dict[str, Any], int], Reply]
"""The request and how many came before it, to the reply."""


def choices(*texts: str, reason: str = "stop") -> Reply:
    """A well-formed answer with one choice a text."""
    made = [
        {"index": index, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 7, "completion_tokens": 3 * len(texts), "total_tokens": 7 + 3 * len(texts)}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
    return 200, answer | {"choices": made, "usage": usage}


def refusal(status: int, message: str, param: str = "") -> Reply:
    """An error as OpenAI words it."""
    return status, {"error": {"message": message, "type": "scripted", "param": param, "code": status}}


class ScriptedEndpoint:
    """What came in, and the base URL to ask."""

    def __init__(self, script: Script) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._script = script
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def _answered(self, request: dict[str, Any], key: str) -> Reply:
        with self._lock:
            before = len(self.requests)
            self.requests.append(request)
            self.keys.append(key)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            return self._script(request, before)
        finally:
            with self._lock:
                self._now -= 1

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = endpoint._answered(request, self.headers.get("Authorization", ""))
                raw = (body if isinstance(body, str) else json.dumps(body)).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(raw)))
                    if status in (429, 503):
                        self.send_header("Retry-After-Ms", "10")
                    self.end_headers()
                    self.wfile.write(raw)
                except ConnectionError:
                    pass  # the client gave up waiting, as a test may want

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: a test's output is its own."""

        return Handler


@contextmanager
def served(script: Script) -> Iterator[ScriptedEndpoint]:
    """A scripted endpoint for as long as the context lasts."""
    endpoint = ScriptedEndpoint(script)
    thread = threading.Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
        thread.join()


def slowly(reply: Reply, seconds: float = 0.05) -> Reply:
    """The reply after a while."""
    time.sleep(seconds)
    return reply
