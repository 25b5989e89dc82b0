"""RLVE-Gym's tasks as programs: they ask what RLVE asks, and succeed where it says so. The checkout is a stand-in."""

from pathlib import Path

import pytest

from envpool.admission.tryout import Attempt, Tryout
from envpool.admission.verdict import Verdict
from envpool.contract import Recipe
from envpool.exchange import rlve
from envpool.exchange.offers import Offer, UnknownTask
from envpool.members import Origin
from envpool.sandbox import Call, Fault, Sandbox
from envpool.signatures import from_wire
from tests.envpool.exchange.rlve_stand_in import TASKS, imported, write_checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkout(tmp_path_factory.mktemp("rlve"))


def offer(checkout: Path, name: str) -> Offer:
    (found,) = rlve.offers(checkout, [name])
    return found


async def judged(*offers: Offer) -> list[Verdict]:
    async with Tryout(Origin.IMPORTED) as tryout:
        return [await tryout.judge(Attempt(each.name, each.source, True)) for each in offers]


def test_a_checkout_offers_every_task_that_it_lists_with_its_licence(checkout: Path) -> None:
    offers = rlve.offers(checkout)
    assert [each.name for each in offers] == [f"rlve/{name}" for name in TASKS]
    assert all(each.facts["licence"] == "MIT" for each in offers)
    assert {each.name: each.packages for each in offers if each.packages} == {
        "rlve/WithPackage": ("networkx",)
    }
    assert rlve.offers(checkout / "Gym", ["N*"]) == [offers[0], offers[1]]


def test_a_name_that_is_not_there_is_told_with_the_nearest_one(checkout: Path) -> None:
    with pytest.raises(UnknownTask, match="did you mean 'NearlySorted'"):
        rlve.offers(checkout, ["NearlySorte"])


def test_a_folder_that_is_no_checkout_is_told_by_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(rlve.NoCheckout, match=r"environments/__init__\.py"):
        rlve.offers(tmp_path)


def test_level_parameter_and_seed_ask_and_score_as_they_do_there(checkout: Path) -> None:
    source = offer(checkout, "NearlySorted").source
    answers = ["", "1 2 3", "zzz", "9\n8\n7", "0\n0\n0\n0\n0\n0\n0"]
    with Sandbox() as sandbox, imported(checkout, "NearlySorted") as (environments, controllers):
        for seed in range(20):
            (result,) = sandbox.run(source, [Call("sample", (Recipe("x", seed, seed % 4).key(), seed % 4))])
            drawn, reference = from_wire(result.value["input"]), from_wire(result.value["planted"])
            level, place, item = map(int, drawn["recipe"].split())
            controller = controllers.NearlySorted_ParameterController()
            for _ in range(level):
                controller.update()
            parameters = controller.get_parameter_list()
            task = environments.NearlySorted_Environment()
            assert task.generator(item, parameters[place % len(parameters)])
            assert (level, result.value["shown"]) == (seed % 4, task.prompt_generator())
            assert reference == task.parameter["reference_answer"]
            given = [reference, reference.replace("\n", " "), *answers]
            told = sandbox.run(source, [Call("verify", (result.value["input"], answer)) for answer in given])
            theirs = [task.verifier(f"<answer>{answer}</answer>") for answer in given]
            assert [each.value == 1.0 for each in told] == [each["accuracy"] == 1 for each in theirs]
            assert [each.value for each in told] == [max(0.0, each["reward"]) for each in theirs]
            assert told[0].value == 1.0


async def test_a_sound_task_passes_every_gate_and_the_others_fall_where_their_fault_is(
    checkout: Path,
) -> None:
    verdicts = dict(zip(TASKS, await judged(*rlve.offers(checkout)), strict=True))
    assert {name: verdict.gate for name, verdict in verdicts.items()} == {
        "NearlySorted": "", "NoReference": "L2", "Generous": "L5", "GivesUp": "L2", "ShowsASet": "L3",
        "WithPackage": "imports",
    }  # fmt: skip
    assert "it gives no reference answer" in verdicts["NoReference"].reason
    assert "its generator gives up at every seed" in verdicts["GivesUp"].reason
    sound = verdicts["NearlySorted"].member
    assert sound is not None
    assert (sound.signature, sound.origin, sound.family) == (
        "dict -> str",
        Origin.IMPORTED,
        "rlve/NearlySorted",
    )


def test_a_crash_on_garbage_is_a_wrong_answer_as_there(checkout: Path) -> None:
    source = offer(checkout, "NearlySorted").source
    with Sandbox() as sandbox:
        (drawn,) = sandbox.run(source, [Call("sample", (Recipe("x", 1, 0).key(), 0))])
        assert not isinstance(drawn, Fault)
        (told,) = sandbox.run(source, [Call("verify", (drawn.value["input"], "one two"))])
    assert told.value == 0.0
