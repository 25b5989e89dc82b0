"""From preset or file and overrides to a configuration, or to an error that says what to write."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.resolve import PRESETS, ConfigError, dump, known_keys, resolve
from envpool.shipped import shipped


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_loads_and_knows_its_name(preset: str) -> None:
    assert resolve(preset).preset == preset


@pytest.mark.parametrize("preset", PRESETS)
def test_a_dumped_configuration_reads_back_as_the_same(preset: str, tmp_path: Path) -> None:
    config = resolve(preset, ["run.name=again", "learner.lr=3e-6", "policy.system=Täglich: kurz"])
    file = tmp_path / "config.yaml"
    file.write_text(dump(config), encoding="utf-8")
    assert resolve(str(file)) == config


@given(steps=st.integers(1, 10**6), lr=st.floats(1e-9, 1, exclude_min=True), seed=st.integers())
def test_numbers_come_through_overrides_and_dump_unchanged(
    steps: int, lr: float, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = resolve("local", [f"run.steps={steps}", f"learner.lr={lr}", f"run.seed={seed}"])
    assert (config.run.steps, config.learner.lr, config.run.seed) == (steps, lr, seed)
    file = tmp_path_factory.mktemp("dump") / "config.yaml"
    file.write_text(dump(config), encoding="utf-8")
    assert resolve(str(file)) == config


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("run.name=007", "007"),
        ("policy.system=on: the clock", "on: the clock"),
        ("policy.system=", ""),
        ("policy.examples=[[a, b], ['1', '2']]", (("a", "b"), ("1", "2"))),
        ("learner.turns=false", False),
        ("learner.lr=1e-5", 1e-5),
        ("curation.composite_share=null", None),
        ("pool.bricks=strings/upper_case,lists/total", ("strings/upper_case", "lists/total")),
        ("pool.seeds=knapsack_value", ("knapsack_value",)),
        ("pool.seeds=none", "none"),
        ("pool.held_out=lists/total", ("lists/total",)),
        ("pool.bricks=*/upper_case,*/total", ("*/upper_case", "*/total")),
        ("pool.held_out=*/sort*", ("*/sort*",)),
        ("pool.held_out=none", ()),
        ("compose.operators=PARALLEL", ("PARALLEL",)),
        ("compose.operators=SORT,SELECT,SORT", ("SORT", "SELECT")),
        ("metrics.wandb=off", "off"),
        ("compose.mode=composed", "composed"),
        ("compose.size=5", (5,)),
        ("compose.size=2-6", (2, 3, 4, 5, 6)),
        ("compose.size=6,2-3", (2, 3, 6)),
        ("compose.size=[4, 2]", (2, 4)),
        ("compose.success=null", None),
        ("bricks.subset=20", 20),
        ("bricks.subset=all", "all"),
    ],
)
def test_an_override_means_what_a_shell_user_means(override: str, value: object) -> None:
    section, name = override.partition("=")[0].split(".")
    assert getattr(getattr(resolve("local", [override]), section), name) == value


def test_the_last_override_of_a_key_wins() -> None:
    assert resolve("local", ["run.steps=3", "run.steps=5"]).run.steps == 5


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("learner.learning_rte=1", ["learner.learning_rte"]),
        ("learner.groups_per_stp=1", ["'learner.groups_per_step'"]),
        ("lr=1", ["'learner.lr'"]),
        ("reveiw.count=2", ["'review.count'"]),
        ("preset=local", ["unknown key"]),
        ("learner.lr", ["write learner.lr=value"]),
        ("faster", ["write section.key=value"]),
        ("learner.lr=fast", ["learner.lr", "number", "'fast'"]),
        ("learner.lr=", ["learner.lr", "number"]),
        ("run.steps=0", ["run.steps", "greater than or equal to 1"]),
        ("pool.held_out=[", ["pool.held_out", "not YAML"]),
        ("pool.held_out=3", ["pool.held_out"]),
        ("compose.operators=SORTT", ["compose.operators.0", "'SEQUENTIAL'", "did you mean 'SORT'?", "'SORTT'"]),
        ("compose.operators=select", ["did you mean 'SELECT'?"]),
        ("compose.operators=", ["compose.operators", "write one or several of SEQUENTIAL,PARALLEL,SORT,SELECT"]),
        ("compose.mode=compsed", ["compose.mode", "'single'", "did you mean 'composed'?", "'compsed'"]),
        ("sandbox.rung=strickt", ["sandbox.rung", "did you mean 'strict'?"]),
        ("compose.size=1", ["compose.size", "'1' is no size", "2 to 12 programs", "compose.mode=single"]),
        ("compose.size=7-2", ["compose.size: '7-2' is backwards; write 2-7"]),
        ("compose.size=2-99", ["compose.size", "'2-99'", "2 to 12"]),
        ("compose.size=big", ["compose.size", "'big'", "write 5, 2-6 or 2,4"]),
        ("compose.size=", ["compose.size", "write 5, 2-6 or 2,4"]),
        ("compose.size=[]", ["compose.size", "no size is named; write 5, 2-6 or 2,4"]),
        ("bricks.subset=0", ["bricks.subset", "neither 'all' nor a number"]),
        ("bricks.subset=some", ["bricks.subset", "'some' is neither 'all' nor a number"]),
        ("bricks.subset=true", ["bricks.subset", "True is neither"]),
        ("bricks.subset=1000", ["bricks.subset=1000: at most 45 here: pool.bricks chooses no more"]),
        ("composer.max_size=5", ["composer.max_size (value '5') is no key any more; write compose.size"]),
        ("composer.operators=SORT", ["write compose.operators"]),
        ("policy.examples=[[a, b], [c]]", ["policy.examples.1.1"]),
        ("pool.seeds=knapsack_valu", ["'knapsack_value'"]),
        ("pool.bricks=upper_case", ["'strings/upper_case'"]),
        ("pool.held_out=strings/uper_case", ["'strings/upper_case'"]),
        ("pool.held_out=upper_case", ["'strings/upper_case'"]),
        ("pool.held_out=strngs/*", ["no seed or brick 'strngs/*'; did you mean 'strings/*'?"]),
        ("pool.seeds=nonee", ["no seed 'nonee'; did you mean 'none'?"]),
        ("pool.bricks=al", ["no brick 'al'; did you mean 'all'?"]),
        ("pool.bricks=strngs/*", ["did you mean 'strings/*'?"]),
        ("pool.bricks=strings", ["did you mean 'strings/*'?"]),
        ("writer.endpoint=far:8000", ["writer.endpoint: 'far:8000' is no base URL"]),
    ],
)
def test_a_wrong_override_is_refused_with_the_way_out(override: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        resolve("local", [override])
    assert [word for word in words if word not in str(refused.value)] == []


def test_a_wrong_word_is_one_line() -> None:
    with pytest.raises(ConfigError) as refused:
        resolve("local", ["compose.operators=SORTT"])
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("key", "folders"), [("seeds", ["seeds"]), ("bricks", ["bricks"]), ("held_out", ["seeds", "bricks"])]
)
def test_a_name_that_is_far_from_all_is_told_where_the_names_are(key: str, folders: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"no .* 'nonsense'; they are named after the files in") as refused:
        resolve("local", [f"pool.{key}=nonsense"])
    named = str(refused.value).partition("files in ")[2].split(" and ")
    assert [Path(folder).name for folder in named] == folders
    assert all(Path(folder).is_dir() for folder in named)


def test_other_bricks_are_evaluated_on_the_same_programs_set_apart() -> None:
    everything, few = (
        resolve("local"),
        resolve("local", ["pool.seeds=none", "pool.bricks=strings/upper_case"]),
    )
    assert few.pool.held_out == everything.pool.held_out != ()
    programs = shipped(few.pool.seeds, few.pool.bricks, few.pool.held_out)
    assert {program.name for program in programs if program.held_out} == set(few.pool.held_out)
    assert [program.name for program in programs if not program.held_out] == ["strings/upper_case"]


def test_a_pool_that_is_set_apart_whole_is_refused() -> None:
    with pytest.raises(ConfigError, match="nothing to train on"):
        resolve("local", ["pool.seeds=none", "pool.bricks=lists/total", "pool.held_out=lists/total"])


def test_composites_alone_are_refused_where_no_two_programs_are_left_to_compose() -> None:
    few = ["pool.seeds=none", "compose.mode=composed"]
    with pytest.raises(ConfigError, match=r"composed trains on composites of 2 .* leave 1; choose more"):
        resolve("local", [*few, "bricks.subset=1"])
    assert resolve("local", [*few, "bricks.subset=2"]).compose.mode == "composed"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("learner: {lrr: 1}", "did you mean 'learner.lr'"),
        ("solvr: {count: 2}", "did you mean 'solver'"),
        ("lerner: {lr: 1}", "unknown key 'lerner'"),
        ("learner: 3", "learner is a section of keys, not 3"),
        ("- learner", "holds a list"),
        ("learner: {lr: [", "is not YAML"),
        ("learner: {lr: -1}\nrun: {steps: none}", "run.steps"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(text: str, word: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        resolve(str(file))
    assert str(file) in str(refused.value)
    assert word in str(refused.value)


@pytest.mark.parametrize("text", ["", "run:", "# nothing\n"])
def test_a_file_without_keys_is_the_defaults(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    config = resolve(str(file), ["run.steps=7"])
    assert (config.preset, config.run.steps) == ("mine", 7)


def test_an_unknown_preset_names_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"a100-node, .*did you mean 'local'"):
        resolve("locl")


def test_every_known_key_is_a_section_and_a_name() -> None:
    keys = known_keys()
    assert "learner.lr" in keys
    assert all(key.count(".") == 1 for key in keys)
