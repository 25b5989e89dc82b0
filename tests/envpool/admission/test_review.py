"""The review gate with scripted reviewers: what they are asked, how they are read, and what their verdicts do."""

import asyncio
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.admission import Admission, AdmissionSettings
from envpool.admission.review import agreement
from envpool.admission.review_text import CLOSING, Opinion, read_opinion, review_prompt
from envpool.admission.verdict import Refusal
from envpool.answer_counts import Counts
from envpool.generation import parse_reply
from envpool.members import Origin
from envpool.sandbox import Executor, InfrastructureFault
from tests.corpus import Row, rows
from tests.envpool.admission import programs

SOUND, BUG = "I tried [3].\nVERDICT: sound", "For [7, 7] the rule says 2.\nVERDICT: likely bug"
UNREADABLE = "It is fine, I think."


class Reviewer:
    """Gives these replies, one after the other, and notes how it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []
        self.counts: list[int] = []

    async def __call__(self, prompt: str, count: int) -> Sequence[str]:
        self.prompts.append(prompt)
        self.counts.append(count)
        given, self.replies = self.replies[:count], self.replies[count:]
        return given


READ = {
    "VERDICT: sound": Opinion.SOUND,
    "It counts well.\n\nVERDICT: likely bug\n": Opinion.LIKELY_BUG,
    "**Verdict:** likely bug.": Opinion.LIKELY_BUG,
    "</think>\n`VERDICT: Sound`<|im_end|>": Opinion.SOUND,
    "> verdict: likely_bug\n```": Opinion.LIKELY_BUG,
    f"VERDICT: sound </s>\n<|{'x' * 30}|> <eos><end_of_turn>\n": Opinion.SOUND,
    f"VERDICT: sound\n<|{'x' * 31}|>": None,
    "VERDICT: sound\nVERDICT: likely bug": Opinion.LIKELY_BUG,
    "VERDICT: likely bug\nor so it seems": None,
    "VERDICT: unsound": None,
    "VERDICT: not sound": None,
    "VERDICT: sound or likely bug": None,
    "The program says 'VERDICT: sound'": None,
    "": None,
    "\n \n": None,
}


@pytest.mark.parametrize("reply", READ)
def test_the_verdict_is_the_last_line_and_nothing_else_is(reply: str) -> None:
    assert read_opinion(reply) is READ[reply]


@given(st.text(), st.sampled_from(list(Opinion)))
def test_whatever_stands_above_the_last_line_does_not_matter(text: str, opinion: Opinion) -> None:
    assert read_opinion(f"{text}\nVERDICT: {opinion}") is opinion
    assert read_opinion(text) in (None, *Opinion)


@pytest.mark.parametrize("padding", ["\n", " ", "</s>", "<|", "</s>\n", "<|im_end|> ", "*"])
def test_a_long_reply_of_nothing_but_padding_is_read_too(padding: str) -> None:
    """By a pattern that begins anew at every space it would take hours."""
    long = padding * 500_000
    assert read_opinion(f"{long}x") is None
    assert read_opinion(f"{long}\nVERDICT: sound") is Opinion.SOUND
    assert read_opinion(f"VERDICT: sound\n{long}") is Opinion.SOUND


@given(st.text(alphabet="`~ab\n"))
def test_a_program_cannot_close_the_marks_that_it_stands_between(source: str) -> None:
    prompt = review_prompt(source, "Count.", "3")
    shown = prompt.partition("The program:\n\n")[2]
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    inside, closing, _ = shown.removeprefix(f"{fence}python\n").partition(f"\n{fence}\n")
    assert closing and inside == source.strip()
    assert prompt.endswith(CLOSING)


def test_agreement_is_the_share_of_pairs_that_say_the_same_among_those_that_can_be_read() -> None:
    assert agreement(["sound"] * 3) == agreement(["likely bug", "unreadable", "likely bug"]) == 1.0
    assert agreement(["sound", "sound", "likely bug"]) == pytest.approx(1 / 3)
    assert agreement(["sound", "likely bug", "unreadable"]) == 0.0
    assert agreement(["sound"]) is agreement(["unreadable"] * 3) is agreement([]) is None


async def test_three_reviews_that_find_nothing_let_a_program_pass(executor: Executor) -> None:
    reviewer = Reviewer(SOUND, SOUND, SOUND)
    verdict = await Admission(executor, review=reviewer).judge(programs.SOUND, Origin.POLICY)
    assert verdict.member is not None and verdict.trail[-3].gate == "review"
    assert verdict.member.evidence["reviews"] == ["sound"] * 3 and verdict.evidence["review_agreement"] == 1.0
    assert reviewer.counts == [3]


async def test_the_reviewer_sees_program_rule_question_and_reference(executor: Executor) -> None:
    reviewer = Reviewer(SOUND, SOUND, SOUND)
    await Admission(executor, review=reviewer).judge(programs.FEASIBLE, Origin.POLICY)
    (prompt,) = reviewer.prompts
    assert programs.FEASIBLE.strip() in prompt and "Input: " in prompt.partition("The question:")[2]
    assert prompt.partition("The reference answer:\n\n```\n")[2].startswith("[")


@pytest.mark.parametrize("bugs", [each for each in product((False, True), repeat=3) if any(each)])
async def test_any_likely_bug_rejects_with_the_review_as_evidence(executor: Executor, bugs: tuple[bool, ...]) -> None:
    reviewer = Reviewer(*(BUG if bug else SOUND for bug in bugs))
    verdict = await Admission(executor, review=reviewer).judge(programs.SOUND, Origin.POLICY)
    assert (verdict.gate, verdict.member) == ("review", None)
    assert verdict.reason == f"{sum(bugs)} of 3 reviews find a likely bug: For [7, 7] the rule says 2."
    assert verdict.evidence["review"] == BUG and verdict.evidence["reviews"].count("likely bug") == sum(bugs)


async def test_an_unreadable_review_is_asked_once_more_and_then_rejects(executor: Executor) -> None:
    again = Reviewer(SOUND, UNREADABLE, UNREADABLE, SOUND, SOUND)
    assert (await Admission(executor, review=again).judge(programs.SOUND, Origin.POLICY)).member is not None
    assert again.counts == [3, 2] and len(set(again.prompts)) == 1
    twice = Reviewer(SOUND, UNREADABLE, SOUND, UNREADABLE)
    verdict = await Admission(executor, review=twice).judge(programs.SOUND, Origin.POLICY)
    assert verdict.gate == "review" and "no verdict in its last line, asked twice" in verdict.reason
    assert verdict.evidence["reviews"] == ["sound", "sound", "unreadable"] and verdict.evidence["review"] == UNREADABLE
    bug = Reviewer(UNREADABLE, BUG, SOUND, UNREADABLE)
    verdict = await Admission(executor, review=bug).judge(programs.SOUND, Origin.POLICY)
    assert "1 of 3 reviews find a likely bug" in verdict.reason


async def test_a_reviewer_that_fails_or_falls_short_gives_no_verdict(executor: Executor) -> None:
    async def dead(prompt: str, count: int) -> Sequence[str]:
        raise InfrastructureFault("the endpoint is away")

    for review in (dead, Reviewer(SOUND, SOUND), Reviewer(SOUND, SOUND, UNREADABLE)):
        admission = Admission(executor, review=review)
        with pytest.raises(InfrastructureFault):
            await admission.judge(programs.SOUND, Origin.POLICY)
        assert len(admission.known) == 0


async def test_a_program_that_the_reviewer_cannot_be_asked_about_is_not_admitted(executor: Executor) -> None:
    async def short(prompt: str, count: int) -> Sequence[str]:
        raise Refusal("the reviewer cannot be asked: the prompt does not fit")

    verdict = await Admission(executor, review=short).judge(programs.SOUND, Origin.POLICY)
    assert (verdict.gate, verdict.member) == ("review", None) and "does not fit" in verdict.reason


async def test_only_what_a_policy_wrote_and_what_passed_all_other_gates_is_reviewed(executor: Executor) -> None:
    async def always_solved(*_: object) -> Counts:
        return Counts(8, 8, 8)

    reviewer = Reviewer()
    for origin in (Origin.SEED, Origin.BRICK, Origin.GRAMMAR, Origin.USER):
        assert (await Admission(executor, review=reviewer).judge(programs.SOUND, origin)).member is not None
    admission = Admission(executor, calibrate=always_solved, review=reviewer)
    assert (await admission.judge(programs.SOUND, Origin.POLICY)).gate == "calibration"
    assert (await admission.judge(programs.with_solve("return 7"), Origin.POLICY)).gate == "L4"
    assert reviewer.counts == []


async def test_a_review_changes_nothing_that_a_reward_is_made_of(executor: Executor) -> None:
    async def sometimes_solved(*_: object) -> Counts:
        return Counts(8, 3, 8)

    copies = (programs.SOUND, programs.SOUND, programs.RENAMED, programs.REWRITTEN)
    earned = []
    for reply in (SOUND, BUG):
        admission = Admission(executor, calibrate=sometimes_solved, review=Reviewer(reply, SOUND, SOUND))
        verdicts = [await admission.judge(source, Origin.POLICY) for source in copies]
        assert verdicts[0].gate == ("review" if reply is BUG else "")
        earned.append([(each.valid, each.evidence.get("success_rate")) for each in verdicts])
        assert all(verdicts[0].id in each.reason for each in verdicts[1:])
        assert all(("which fell at review" in each.reason) == (reply is BUG) for each in verdicts[1:])
    assert earned[0] == earned[1] == [(True, 3 / 8), *[(False, None)] * 3]


async def test_of_copies_judged_at_once_one_is_valid_whatever_the_reviews_say(executor: Executor) -> None:
    async def slow(prompt: str, count: int) -> Sequence[str]:
        await asyncio.sleep(0.5)
        return [reply] * count

    for reply in (SOUND, BUG):
        admission = Admission(executor, review=slow)
        copies = (programs.SOUND, programs.RENAMED, programs.REWRITTEN)
        verdicts = await asyncio.gather(*(admission.judge(source, Origin.POLICY) for source in copies))
        assert sorted(verdict.valid for verdict in verdicts) == [False, False, True]
        assert [verdict.gate for verdict in verdicts if verdict.valid] == ["review" if reply is BUG else ""]


async def test_as_many_reviews_are_asked_for_as_configured(executor: Executor) -> None:
    reviewer = Reviewer(*[SOUND] * 5)
    settings = AdmissionSettings(reviews=5)
    verdict = await Admission(executor, settings=settings, review=reviewer).judge(programs.SOUND, Origin.POLICY)
    assert reviewer.counts == [5] and len(verdict.evidence["reviews"]) == 5


SEMANTIC = [row for row in rows() if row.by == "semantic"]
PASSING = [row for row in rows() if row.by == "mechanical" and not row.gate and not row.needs][: len(SEMANTIC)]


def program(row: Row) -> str:
    return parse_reply(row.path.read_text(encoding="utf-8"))


async def test_what_only_a_reader_can_find_falls_where_the_reader_finds_it(executor: Executor) -> None:
    """The corpus's semantic rows pass every other gate; how many a real reviewer finds is for `make bench` to say."""
    faulty = {program(row): row.fault for row in SEMANTIC}

    async def knows_them(prompt: str, count: int) -> Sequence[str]:
        faults = [fault for source, fault in faulty.items() if source.strip() in prompt]
        return [f"{faults[0]}\nVERDICT: likely bug"] * count if faults else [SOUND] * count

    admission = Admission(executor, review=knows_them)
    for row in SEMANTIC:
        verdict = await admission.judge(program(row), Origin.POLICY)
        assert verdict.gate == "review" and verdict.evidence["review"].startswith(row.fault), verdict.reason
    for row in PASSING:
        assert (await admission.judge(program(row), Origin.POLICY)).member is not None
