"""The client over real sockets: several at once, one killed in the middle, a service that is away for a while."""

import asyncio
import http.client
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from envpool.contract import Scored
from envpool.curation import CurationSettings
from envpool.exchange.service.backend import ServiceError
from envpool.exchange.service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from envpool.exchange.service.standing import StandingPool
from envpool.members import Member
from envpool.pool import Pool
from envpool.store import PoolReader
from tests.envpool.exchange.exchanged import members, perfect, write_members, write_pool
from tests.envpool.exchange.hosting import Hosted

STEADY = CurationSettings(adaptive_levels=False)


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, found: dict[str, Member]) -> Iterator[Pool]:
    with Pool.open(write_members(tmp_path_factory.mktemp("library"), found)) as pool:
        yield pool


@pytest.fixture
def folder(tmp_path: Path, found: dict[str, Member]) -> Path:
    return write_pool(tmp_path / "run", found) / "pool"


def hosted(folder: Path, **more: object) -> Hosted:
    return Hosted(lambda: StandingPool.open(folder, "trainer", STEADY), **more)  # type: ignore[arg-type]


def attempts(folder: Path) -> int:
    with PoolReader.open(folder) as pool:
        stats = pool.all_stats("trainer").values()
        return sum(counts.attempts for levels in stats for counts in levels.values())


def test_clients_that_ask_at_once_are_answered_and_each_answer_is_counted_once(
    folder: Path, library: Pool
) -> None:
    def train(name: str) -> int:
        with ServiceClient(server.url, name) as client:
            for question in client.sample(5):
                right = perfect(library.build(question.recipe))
                assert client.score(question.recipe, [right, "?"])[0] == Scored(1.0)
        return 10

    with hosted(folder) as server, ThreadPoolExecutor(4) as trainers:
        sent = sum(trainers.map(train, ["a", "b", "c", "d"]))
        with ServiceClient(server.url) as client:
            served = client.status()["clients"]
    assert {name: row["scored"] for name, row in served.items()} == dict.fromkeys("abcd", 10)
    assert attempts(folder) == sent


def test_a_recipe_that_was_kept_as_json_is_as_good_and_what_is_none_is_refused_here(
    folder: Path, library: Pool
) -> None:
    with hosted(folder) as server, ServiceClient(server.url) as client:
        (question,) = client.sample()
        kept = json.loads(json.dumps(question.recipe.to_dict()))
        assert client.score(kept, [perfect(library.build(question.recipe))]) == [Scored(1.0)]
        with pytest.raises(TypeError, match="colour"):
            client.score({**kept, "colour": "red"}, ["?"])
        with pytest.raises(TypeError, match="seed"):
            client.score({"member": question.recipe.member}, ["?"])


def test_a_service_that_is_away_costs_time_and_nothing_else(folder: Path, library: Pool) -> None:
    async def train(client: ServiceClient) -> int:
        answered = 0
        for _ in range(12):
            (question,) = await client.sample_async()
            right = perfect(await asyncio.to_thread(library.build, question.recipe))
            assert await client.score_async(question.recipe, [right]) == [Scored(1.0)]
            answered += 1
        return answered

    answered: list[int] = []
    first = hosted(folder)
    client = ServiceClient(first.url, "trainer", patience=120)
    with first:
        trainer = threading.Thread(target=lambda: answered.append(asyncio.run(train(client))))
        trainer.start()
        time.sleep(0.5)
    with hosted(folder, port=first.port):
        trainer.join()
    assert answered == [12]
    assert attempts(folder) == 12


def test_a_reply_that_is_lost_is_sent_again_under_the_same_name_and_counted_once(
    folder: Path, library: Pool
) -> None:
    with hosted(folder) as server, ServiceClient(server.url, "a") as client:
        (question,) = client.sample()
        right = perfect(library.build(question.recipe))
        body = {"client": "a", "request": "r1", "recipe": question.recipe.to_dict(), "responses": [right]}
        lost = http.client.HTTPConnection("127.0.0.1", server.port)
        lost.request("POST", "/v1/score", json.dumps(body), {"Content-Type": "application/json"})
        lost.close()  # before the reply
        assert client.score(question.recipe, [right], "r1") == [Scored(1.0)]
        assert client.score(question.recipe, [right], "r1") == [Scored(1.0)]
    assert attempts(folder) == 1


DYING = """
    import os, sys
    from envpool.exchange.service.client import ServiceClient

    client = ServiceClient(sys.argv[1], "dying")
    questions = client.sample(8)
    print("asked", flush=True)
    for question in questions[:3]:
        client.score(question.recipe, ["<answer>0</answer>"] * 2)
        print("scored", flush=True)
    sys.stdin.read()
"""


def test_a_client_that_is_killed_in_the_middle_takes_nothing_with_it(folder: Path, library: Pool) -> None:
    with hosted(folder) as server, ServiceClient(server.url, "living") as living:
        dying = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(DYING), server.url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "ENVOLVE_TOKEN": ""},
        )
        assert dying.stdout is not None
        assert [dying.stdout.readline().strip() for _ in range(4)] == ["asked", *["scored"] * 3]
        dying.kill()
        dying.wait()
        for question in living.sample(4):
            assert living.score(question.recipe, [perfect(library.build(question.recipe))]) == [Scored(1.0)]
        served = living.status()["clients"]
    assert (served["dying"]["sampled"], served["dying"]["scored"]) == (8, 6)
    assert attempts(folder) == 6 + 4


def test_a_token_is_asked_for_and_a_wrong_one_is_told_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosted(folder, token="secret") as server:
        with pytest.raises(ServiceRefused, match="401"):
            ServiceClient(server.url, token="wrong").sample()
        monkeypatch.setenv("ENVOLVE_TOKEN", "secret")
        assert len(ServiceClient(server.url).sample(2)) == 2


def test_nobody_there_is_told_after_the_patience() -> None:
    client = ServiceClient("http://127.0.0.1:9", patience=0.3)
    with pytest.raises(ServiceUnavailable, match=r"127\.0\.0\.1:9 gave no answer within 0\.3 s"):
        client.sample()


@pytest.mark.parametrize("url", ["127.0.0.1:8321", "htp://localhost"])
def test_what_is_no_url_is_told_at_once(url: str) -> None:
    began = time.monotonic()
    with pytest.raises(ServiceError, match=f"{url} is no URL of a service"):
        ServiceClient(url, patience=60).sample()
    assert time.monotonic() - began < 30, "and not after the patience"


def test_an_event_loop_that_ended_leaves_no_connection(folder: Path) -> None:
    with hosted(folder) as server:
        client = ServiceClient(server.url)
        for _ in range(4):
            asyncio.run(client.sample_async())
        assert len(client._looping) == 1, "the last one's, until another comes"


def test_questions_come_without_end(folder: Path) -> None:
    with hosted(folder) as server, ServiceClient(server.url) as client:
        stream = client.questions(ahead=4)
        assert len({next(stream).recipe.key() for _ in range(10)}) == 10
