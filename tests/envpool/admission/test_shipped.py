"""Everything that ships must pass its own gates."""

from envpool.admission import Admission
from envpool.bricks import read_bricks
from envpool.members import Origin
from envpool.sandbox import Executor
from envpool.seeds import read_seeds


async def test_all_seeds_and_bricks_pass_every_gate_together(executor: Executor) -> None:
    admission = Admission(executor)
    programs = [(name, source, Origin.SEED) for name, source in read_seeds()]
    programs += [(name, source, Origin.BRICK) for name, source in read_bricks()]
    fallen = {}
    for name, source, origin in programs:
        verdict = await admission.judge(source, origin, name=name)
        if verdict.member is None:
            fallen[name] = f"{verdict.gate}: {verdict.reason}"
    assert not fallen
    assert len(admission.known) == len(programs) >= 50
