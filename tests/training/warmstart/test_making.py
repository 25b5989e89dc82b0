"""Making a writer: whole or not there, once, and measured once, whatever interrupts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from envpool.shipped import shipped
from training.policy.source import WEIGHTS
from training.warmstart import making
from training.warmstart.course import Progress
from training.warmstart.examination import Examined
from training.warmstart.making import Asked, Tell, facts_of, make
from training.warmstart.plan import WarmStart

PROGRAMS = shipped(["inversion_count"], "none")
EXAMINED = Examined(4, {"": 3, "L2": 1}, 1, 0)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder with the files of a model."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / WEIGHTS).write_bytes(b"base")
    return folder


class Course:
    """Stands for learner and engine: writes weights, or is interrupted where the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.interrupted_at = ""
        self.taught = self.measured = self.clusters = 0
        monkeypatch.setattr(making, "_taught", self._taught)
        monkeypatch.setattr(making, "_measured", self._measured)
        monkeypatch.setattr(making, "GRAMMAR_ASKED", 0)

    def _taught(self, plan: WarmStart, base: Path, made: Path, *_: Any) -> Progress:
        made.mkdir()
        (made / "config.json").write_text("{}")
        self._stop("training")
        (made / WEIGHTS).write_bytes(b"taught")
        self.taught += 1
        return Progress(3, 1.0, 0.5, 100, 2.0)

    def _measured(self, *_: Any) -> Examined:
        self._stop("measuring")
        self.measured += 1
        return EXAMINED

    def _stop(self, phase: str) -> None:
        if self.interrupted_at == phase:
            raise KeyboardInterrupt

    @contextmanager
    def cluster(self) -> Iterator[None]:
        self.clusters += 1
        yield

    def make(self, plan: WarmStart, asked: Asked = Asked(4)) -> Path:  # noqa: B008 (frozen)
        return make(plan, PROGRAMS, self.cluster, Tell(), asked=asked, threads=1)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Course(monkeypatch)


def in_cache(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "envolve" / "models").iterdir())


def test_a_writer_is_made_once_and_found_from_then_on(course: Course, base: Path, tmp_path: Path) -> None:
    plan = WarmStart(str(base))
    folder = course.make(plan)
    assert course.make(plan) == folder
    assert (course.taught, course.measured, course.clusters) == (1, 1, 1)
    assert (folder / WEIGHTS).read_bytes() == b"taught"
    assert in_cache(tmp_path) == [folder.name, f"{folder.name}.lock"]


def test_its_facts_say_what_it_was_made_from_and_what_was_measured(course: Course, base: Path) -> None:
    facts = facts_of(course.make(WarmStart(str(base), seed=5)))
    assert facts["plan"]["seed"] == 5 and facts["steps"] == 3 and facts["reply_tokens"] == 100
    assert facts["examined"]["past_l4"] == 0.75
    assert facts["examined"]["fell"] == {"": 3, "L2": 1}


def test_another_seed_is_another_writer(course: Course, base: Path) -> None:
    assert course.make(WarmStart(str(base))) != course.make(WarmStart(str(base), seed=1))
    assert course.taught == 2


def test_an_interrupted_course_leaves_nothing_of_a_model(course: Course, base: Path, tmp_path: Path) -> None:
    course.interrupted_at = "training"
    with pytest.raises(KeyboardInterrupt):
        course.make(WarmStart(str(base)))
    assert [name for name in in_cache(tmp_path) if not name.endswith(".lock")] == []
    course.interrupted_at = ""
    assert (course.make(WarmStart(str(base))) / WEIGHTS).is_file()


def test_an_interrupted_measurement_costs_no_lesson(course: Course, base: Path) -> None:
    plan = WarmStart(str(base))
    course.interrupted_at = "measuring"
    with pytest.raises(KeyboardInterrupt):
        course.make(plan)
    course.interrupted_at = ""
    folder = course.make(plan)
    assert (course.taught, course.measured) == (1, 1)
    assert facts_of(folder)["examined"] is not None


def test_another_measurement_of_the_same_writer_is_made_and_costs_no_lesson(
    course: Course, base: Path
) -> None:
    plan = WarmStart(str(base))
    folder = course.make(plan)
    assert course.make(plan, Asked(8, temperature=0.5)) == folder
    assert (course.taught, course.measured) == (1, 2)
    assert facts_of(folder)["asked"] == {"proposals": 8, "temperature": 0.5}


def test_what_a_killed_process_left_is_cleared_away(course: Course, base: Path, tmp_path: Path) -> None:
    folder = course.make(WarmStart(str(base)))
    folder.rename(folder.with_name(f".{folder.name}-torn"))
    assert course.make(WarmStart(str(base))) == folder
    assert in_cache(tmp_path) == [folder.name, f"{folder.name}.lock"]


def test_facts_are_whole_at_any_moment(course: Course, base: Path) -> None:
    folder = course.make(WarmStart(str(base)))
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    assert json.loads((folder / "warmstart.json").read_text())["recipe"] == 1
