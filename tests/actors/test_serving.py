"""What a solver that leaves does with requests."""

from __future__ import annotations

import asyncio

import pytest

from actors.serving import Desk, requests
from actors.solvers import SolverLeaving
from training.policy.chat import Chat


async def test_one_that_leaves_waits_for_what_is_under_way_and_refuses_what_comes() -> None:
    desk, answer = Desk("solver-1"), asyncio.Event()

    async def asked() -> None:
        with desk.request(leaving=False):
            await answer.wait()

    under_way = asyncio.create_task(asked())
    await asyncio.sleep(0)
    closing = asyncio.create_task(desk.closed())
    with pytest.raises(SolverLeaving, match="solver-1"), desk.request(leaving=True):
        pytest.fail("taken in")
    done, _ = await asyncio.wait([closing], timeout=1.5)
    assert not done
    answer.set()
    await asyncio.gather(under_way, closing)


async def test_a_request_that_fails_is_under_way_no_more() -> None:
    desk = Desk("solver-1")
    with pytest.raises(ValueError), desk.request(leaving=False):
        raise ValueError("no")
    await desk.closed()


def test_requests_carry_the_conversation_of_their_policy() -> None:
    chat = Chat(system="Be brief.", examples=(("1+1", "2"),))
    made = requests(chat, ["2+2", "3+3"], 4, 16, 0.7)
    assert [request.messages[-1]["content"] for request in made] == ["2+2", "3+3"]
    assert all(
        (len(each.messages), each.n, each.max_tokens, each.temperature) == (4, 4, 16, 0.7) for each in made
    )
