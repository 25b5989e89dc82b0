"""Changes of the pool that travel together."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gathering import MOST_CHANGES, Change, Gathering, portable


class Pool:
    """Keeps what was sent together; a change whose first argument is negative fails."""

    def __init__(self) -> None:
        self.calls: list[list[Change]] = []
        self.lost = 0

    async def write(self, changes: list[Change]) -> list[Any]:
        self.calls.append(changes)
        await asyncio.sleep(0)
        if self.lost:
            self.lost -= 1
            raise ConnectionError("the pool is gone")
        return [ValueError(args[0]) if args[0] < 0 else args[0] * 2 for _, args in changes]


def test_a_change_of_an_idle_actor_leaves_at_once_and_alone():
    async def story():
        pool = Pool()
        changes = Gathering(pool.write)
        assert await changes.write("reject", (1,)) == 2
        assert await changes.write("reject", (2,)) == 4
        assert pool.calls == [[("reject", (1,))], [("reject", (2,))]]

    asyncio.run(story())


@given(st.lists(st.integers(-50, 50), max_size=60))
def test_whatever_is_asked_for_together_each_caller_gets_its_own_answer_or_error(numbers):
    async def story():
        pool = Pool()
        changes = Gathering(pool.write)
        answers = await asyncio.gather(
            *(changes.write("reject", (number,)) for number in numbers), return_exceptions=True
        )
        for number, answer in zip(numbers, answers, strict=True):
            assert (
                isinstance(answer, ValueError) and answer.args == (number,)
                if number < 0
                else answer == 2 * number
            )
        assert [args[0] for call in pool.calls for _, args in call] == numbers

    asyncio.run(story())


def test_what_comes_while_a_call_is_under_way_goes_with_the_next_one_in_bounded_calls():
    async def story():
        pool = Pool()
        changes = Gathering(pool.write)
        await asyncio.gather(*(changes.write("record", (number,)) for number in range(2 * MOST_CHANGES + 1)))
        assert [len(call) for call in pool.calls] == [MOST_CHANGES, MOST_CHANGES, 1]

    asyncio.run(story())


def test_a_pool_that_is_gone_fails_its_callers_and_not_those_who_come_later():
    async def story():
        pool = Pool()
        pool.lost = 1
        changes = Gathering(pool.write)
        failed = await asyncio.gather(
            *(changes.write("record", (number,)) for number in range(3)), return_exceptions=True
        )
        assert [type(each) for each in failed] == [ConnectionError] * 3
        assert await changes.write("record", (4,)) == 8

    asyncio.run(story())


def test_a_caller_that_gives_up_does_not_take_its_change_or_the_others_with_it():
    async def story():
        pool = Pool()
        changes = Gathering(pool.write)
        first = asyncio.create_task(changes.write("record", (1,)))
        second = asyncio.create_task(changes.write("record", (2,)))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == 4
        assert [args[0] for call in pool.calls for _, args in call] == [1, 2]

    asyncio.run(story())


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("key")])
def test_an_error_that_every_process_can_read_travels_as_it_is(error):
    assert portable(error) is error


def test_any_other_error_travels_as_its_text():
    class Local(Exception):
        """Known here alone."""

    assert str(portable(Local("odd"))) == "Local: odd"


def test_an_error_of_a_local_class_travels_as_its_text_whatever_it_inherits():
    class Odd(ValueError):
        def __init__(self, first, second):
            super().__init__(f"{first}{second}")

    assert isinstance(portable(Odd("a", "b")), RuntimeError)
