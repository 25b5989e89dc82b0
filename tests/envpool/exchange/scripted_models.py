"""A scripted model behind an OpenAI-compatible endpoint, and the harness that asks it: for verifiers' own rollouts.

The harness does what verifiers' `null` one does, without the program that it installs in a box of its own.
"""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import httpx
import uvicorn
import verifiers.v1 as vf
from fastapi import FastAPI

Answer = Callable[[str], str]
HARNESS = """
from tests.envpool.exchange.scripted_models import ChatHarness

__all__ = ["ChatHarness"]
"""
"""Of a module that verifiers finds the harness in."""


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """One question, one reply, over the rollout's own endpoint."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        tool_interception_url: str | None = None,
    ) -> vf.ProgramResult:
        """Asks once."""
        messages = [{"role": "user", "content": data.prompt}]
        async with httpx.AsyncClient(timeout=60) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": messages},
                headers={"Authorization": f"Bearer {secret}"},
            )
        return vf.ProgramResult(exit_code=0 if reply.is_success else 1, stdout="", stderr=reply.text[:500])


class ScriptedModel:
    """While it is entered, `answer` replies to whatever is asked at `url`."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        app = FastAPI()
        app.post("/v1/chat/completions")(self._complete)
        self._server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="off"))
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.serve()))

    async def _complete(self, asked: dict[str, Any]) -> dict[str, Any]:
        text = self._answer(asked["messages"][-1]["content"])
        message = {"role": "assistant", "content": text}
        return {
            "id": "reply", "object": "chat.completion", "created": 0, "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            pass
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
