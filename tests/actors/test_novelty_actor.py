"""The novelty actor: it follows the pool, says what copies what is set apart, and comes back whole after a kill."""

from __future__ import annotations

import asyncio

from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from envpool.families import state_key
from envpool.members import Member, Origin, Program
from envpool.novelty.archive import Archive
from envpool.store import PoolReader
from tests.actors.conftest import Raise, kill
from tests.simulated.novelty import HashEmbedder


def member(name: str, held_out: bool = False) -> Member:
    program = Program(f"source of {name}", name, f"Rule of {name}.", "int", "int")
    return Member(
        program,
        Origin.BRICK,
        held_out=held_out,
        fingerprint=f"behaviour of {name}",
        embedding=HashEmbedder().program(program.rule, name),
        evidence={"normal": f"code of {name}"},
    )


async def test_it_knows_what_the_pool_has_and_what_is_about_to_be_admitted_also_after_a_kill(
    make: Raise, peers: Peers, config: Config
) -> None:
    for name, kind in (("pool", "pool:Pool"), ("metrics", "metrics:Metrics")):
        make(Post(name, f"actors.{kind}Actor"))
    make(Post("novelty", "tests.simulated.novelty:SimulatedNovelty"))
    one, apart, soon = member("one"), member("apart", held_out=True), member("soon")
    for each in (one, apart):
        await peers.pool.admit(each.to_dict(), "a test", 0)
    await peers.novelty.add(soon.id, soon.embedding)
    await peers.novelty.add(soon.id, soon.embedding)
    assert (await peers.novelty.nearest("Rule of soon.", "soon"))[0] == soon.id
    for killed in (False, True):
        if killed:
            kill((await peers.novelty.health())["pid"])
        reasons = [
            await peers.novelty.contamination(*given)
            for given in (
                (apart.embedding, "", ""), (b"", apart.fingerprint, ""), (b"", "", "code of apart"),
                (one.embedding, one.fingerprint, "code of one"),
            )
        ]  # fmt: skip
        assert all(apart.id in reason for reason in reasons[:3]) and reasons[3] == ""
        assert (await peers.novelty.nearest("Rule of one.", "one"))[:2] == (one.id, 1.0)
    # What was never admitted is not known any more, so it can be judged again.
    assert (await peers.novelty.nearest("Rule of soon.", "soon"))[0] != soon.id
    with PoolReader.open(config.pool_folder) as pool:
        async with asyncio.timeout(30):
            while {pool.state(state_key(each.id)) for each in (one, apart)} != {one.id, apart.id}:
                await asyncio.sleep(0.1)
        await peers.novelty.stop()
        saved = Archive.open(config.run_folder / "novelty.npz", pool)
        assert saved.seen == pool.last_sequence() and {one.id, apart.id} <= set(saved.clusters.family)
