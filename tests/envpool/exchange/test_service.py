"""The service over HTTP, with a backend that only remembers: limits, tokens, requests that are sent again."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from typing import Any

import httpx
import pytest

from envpool.contract import Failed, Outcome, Recipe, Scored, Unparsed
from envpool.exchange.service.app import service
from envpool.exchange.service.backend import NothingToAsk, Question, UnknownQuestion
from envpool.exchange.service.gate import ServiceLimits
from envpool.exchange.service.messages import outcome_from_dict, packed, question_from_dict
from tests.envpool.exchange.hosting import Hosted

RECIPE = Recipe("p1", 7, 2)
SCORE = {"client": "trainer", "request": "r1", "recipe": RECIPE.to_dict(), "responses": ["good", "bad"]}


class Remembering:
    """Scores "good" as 1; counts how often it was asked to."""

    def __init__(self) -> None:
        self.scored: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self.trouble: Exception | None = None

    async def sample(self, client: str, count: int) -> list[Question]:
        if self.trouble:
            raise self.trouble
        return [Question(Recipe("p1", seed, 0), f"question {seed}", "Sum", "sums") for seed in range(count)]

    async def score(
        self, client: str, request: str, recipe: Recipe, responses: Sequence[str]
    ) -> list[Outcome]:
        self.scored.append(request)
        await self.open.wait()
        if self.trouble:
            raise self.trouble
        known: dict[str, Outcome] = {"good": Scored(1.0), "mute": Unparsed("none"), "lost": Failed("gone")}
        return [known.get(response, Scored(0.0)) for response in responses]

    async def status(self) -> dict[str, Any]:
        return {"kind": "remembering"}


@pytest.fixture
def backend() -> Remembering:
    return Remembering()


def connected(backend: Remembering, token: str = "", **limits: Any) -> httpx.AsyncClient:
    app = service(backend, token=token, limits=ServiceLimits(**limits))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service/v1")


async def post(
    client: httpx.AsyncClient, path: str, message: dict[str, Any], **headers: str
) -> httpx.Response:
    headers = {"content-type": "application/json", **headers}
    return await client.post(path, content=packed(message), headers=headers)


async def test_questions_come_with_the_recipe_that_they_are_judged_by(backend: Remembering) -> None:
    async with connected(backend) as client:
        reply = await post(client, "/sample", {"client": "trainer", "count": 2})
    questions = [question_from_dict(each) for each in reply.json()["questions"]]
    assert questions[1] == Question(Recipe("p1", 1, 0), "question 1", "Sum", "sums")


async def test_each_kind_of_outcome_reaches_the_client_as_itself(backend: Remembering) -> None:
    async with connected(backend) as client:
        reply = await post(client, "/score", {**SCORE, "responses": ["good", "bad", "mute", "lost"]})
    outcomes = [outcome_from_dict(each) for each in reply.json()["outcomes"]]
    assert outcomes == [Scored(1.0), Scored(0.0), Unparsed("none"), Failed("gone")]


async def test_a_request_that_is_sent_again_is_judged_once(backend: Remembering) -> None:
    async with connected(backend) as client:
        first = await post(client, "/score", SCORE)
        again = await post(client, "/score", SCORE)
    assert first.json() == again.json()
    assert backend.scored == ["r1"]


async def test_a_request_that_is_sent_again_while_it_is_judged_is_judged_once(backend: Remembering) -> None:
    backend.open.clear()
    async with connected(backend) as client:
        both = [asyncio.create_task(post(client, "/score", SCORE)) for _ in range(2)]
        await asyncio.sleep(0.05)
        both[0].cancel()  # the first one hung up
        backend.open.set()
        reply = await both[1]
    assert reply.json()["outcomes"] == [{"score": 1.0}, {"score": 0.0}]
    assert backend.scored == ["r1"]


async def test_two_clients_may_choose_the_same_name_for_a_request(backend: Remembering) -> None:
    async with connected(backend) as client:
        await post(client, "/score", SCORE)
        await post(client, "/score", {**SCORE, "client": "other"})
    assert backend.scored == ["r1", "r1"]


async def test_a_name_that_was_used_for_other_responses_is_refused(backend: Remembering) -> None:
    async with connected(backend) as client:
        await post(client, "/score", SCORE)
        reply = await post(client, "/score", {**SCORE, "responses": ["good", "good"]})
    assert reply.status_code == 409


async def test_a_request_that_failed_is_judged_anew_when_it_is_sent_again(backend: Remembering) -> None:
    backend.trouble = NothingToAsk("the machine fails")
    async with connected(backend) as client:
        failed = await post(client, "/score", SCORE)
        backend.trouble = None
        again = await post(client, "/score", SCORE)
    assert (failed.status_code, failed.json()) == (503, {"detail": "the machine fails"})
    assert again.status_code == 200
    assert backend.scored == ["r1", "r1"]


async def test_a_question_that_is_never_asked_is_refused(backend: Remembering) -> None:
    backend.trouble = UnknownQuestion("p1 is set apart")
    async with connected(backend) as client:
        reply = await post(client, "/score", SCORE)
    assert (reply.status_code, reply.json()["detail"]) == (422, "p1 is set apart")


async def test_what_a_model_wrote_travels_unchanged(backend: Remembering) -> None:
    seen: list[str] = []

    async def score(client: str, request: str, recipe: Recipe, responses: Sequence[str]) -> list[Outcome]:
        seen.extend(responses)
        return [Unparsed(response) for response in responses]

    backend.score = score  # type: ignore[method-assign]
    text = "lone \ud800 surrogate, \x00 and \u2028"
    async with connected(backend) as client:
        reply = await post(client, "/score", {**SCORE, "responses": [text]})
    assert seen == [text]
    assert reply.json()["outcomes"] == [{"unparsed": text}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"responses": []},
        {"responses": ["x"] * 1025},
        {"responses": ["x" * ((1 << 20) + 1)]},
        {"responses": [1]},
        {"recipe": {"member": "p1", "seed": 1}},
        {"recipe": {**RECIPE.to_dict(), "level": -1}},
        {"request": ""},
        {"client": "a\nb"},
        {"unknown": 1},
    ],
)
async def test_a_request_out_of_its_form_is_refused_before_the_backend_sees_it(
    backend: Remembering, wrong: dict[str, Any]
) -> None:
    async with connected(backend) as client:
        reply = await post(client, "/score", {**SCORE, **wrong})
    assert reply.status_code == 422
    assert backend.scored == []


@pytest.mark.parametrize("given", [None, "Bearer wrong", "Bearer ", "Basic secret", "secret"])
async def test_without_the_token_nothing_is_said(backend: Remembering, given: str | None) -> None:
    headers = {} if given is None else {"authorization": given}
    async with connected(backend, token="secret") as client:
        for path in ("/status", "/docs", "/../openapi.json"):
            assert (await client.get(path, headers=headers)).status_code == 401
        assert (await post(client, "/score", SCORE, **headers)).status_code == 401
    assert backend.scored == []


async def test_with_the_token_it_serves(backend: Remembering) -> None:
    async with connected(backend, token="secret") as client:
        reply = await client.get("/status", headers={"authorization": "Bearer secret"})
    assert reply.json() == {"kind": "remembering", "clients": {}}


async def test_the_status_says_who_is_served(backend: Remembering) -> None:
    async with connected(backend) as client:
        await post(client, "/sample", {"client": "trainer", "count": 3})
        await post(client, "/score", {**SCORE, "responses": ["good", "lost"]})
        clients = (await client.get("/status")).json()["clients"]
    row = clients["trainer"]
    assert (row["sampled"], row["scored"], row["failed"]) == (3, 1, 1)


async def test_a_body_that_is_too_large_is_not_read(backend: Remembering) -> None:
    async with connected(backend, body_bytes=100) as client:
        reply = await post(client, "/score", SCORE)
    assert reply.status_code == 413
    assert backend.scored == []


async def test_a_body_of_unknown_length_is_not_read(backend: Remembering) -> None:
    async def chunks() -> Any:
        yield packed(SCORE)

    async with connected(backend) as client:
        reply = await client.post("/score", content=chunks())
    assert reply.status_code == 411


@pytest.mark.parametrize("http", ["h11", "httptools"])
def test_a_length_beside_chunks_lets_nothing_in(backend: Remembering, http: Any) -> None:
    head = b"POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n"
    body = packed(SCORE)
    chunk = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    with (
        Hosted(lambda: nullcontext(backend), http=http) as hosted,
        socket.create_connection(("127.0.0.1", hosted.port), timeout=60) as speaker,
    ):
        speaker.sendall(head + chunk)
        assert speaker.recv(20).startswith(b"HTTP/1.1 4")
    assert not backend.scored


async def test_more_bytes_than_it_said_are_not_taken(backend: Remembering) -> None:
    async with connected(backend, body_bytes=100) as client:
        reply = await post(client, "/score", SCORE, **{"content-length": "10"})
    assert (reply.status_code, reply.headers["connection"], backend.scored) == (413, "close", [])


def test_requests_that_are_sent_halfway_keep_nobody_out(backend: Remembering) -> None:
    head = (
        b"POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    limits = ServiceLimits(at_once=2, body_seconds=3)
    with Hosted(lambda: nullcontext(backend), limits=limits) as hosted, ExitStack() as open_ones:
        halves = [
            open_ones.enter_context(socket.create_connection(("127.0.0.1", hosted.port))) for _ in range(4)
        ]
        for half in halves:
            half.sendall(head)
        assert httpx.get(f"{hosted.url}/v1/status", timeout=60).json()["kind"] == "remembering"
        for half in halves:
            half.settimeout(60)
            assert b"408" in half.recv(20)


async def test_more_bytes_than_may_wait_are_told_to_come_again(backend: Remembering) -> None:
    backend.open.clear()
    async with connected(backend, held_bytes=2 * len(packed(SCORE)) - 1) as client:
        held = asyncio.create_task(post(client, "/score", SCORE))
        await asyncio.sleep(0.05)
        turned_away = await post(client, "/score", {**SCORE, "request": "r2"})
        backend.open.set()
        assert ((await held).status_code, turned_away.status_code) == (200, 503)
        assert (await post(client, "/score", {**SCORE, "request": "r2"})).status_code == 200


@pytest.mark.parametrize(
    "response", ["x" * ((1 << 20) + 1), "\ud800" + "x" * (1 << 20)], ids=["long", "no UTF-8"]
)
async def test_what_is_out_of_its_form_is_not_said_back(backend: Remembering, response: str) -> None:
    async with connected(backend) as client:
        reply = await post(client, "/score", {**SCORE, "responses": [response]})
    assert reply.status_code == 422 and len(reply.content) < 1000
    assert "responses.0" in reply.json()["detail"] and "at most 1048576 characters" in reply.json()["detail"]


async def test_more_requests_than_may_wait_are_told_to_come_again(backend: Remembering) -> None:
    backend.open.clear()
    async with connected(backend, at_once=1, waiting=1) as client:
        held = [asyncio.create_task(post(client, "/score", {**SCORE, "request": f"r{n}"})) for n in range(2)]
        await asyncio.sleep(0.05)
        turned_away = await client.get("/status")
        backend.open.set()
        replies = await asyncio.gather(*held)
    assert (turned_away.status_code, turned_away.headers["retry-after"]) == (503, "1")
    assert [reply.status_code for reply in replies] == [200, 200]
