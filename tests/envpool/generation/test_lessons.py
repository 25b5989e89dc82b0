"""Lessons of writing: what is taught, what is kept back, and that a seed is a text."""

from itertools import islice

from envpool.bricks import read_bricks
from envpool.generation import Grammar, parse_reply
from envpool.generation.lessons import (
    STREAM,
    Lesson,
    WritingLessons,
    fenced,
    oracle_text,
    oracles_apart,
    set_apart,
    teachable,
)
from envpool.generation.prompts import CONTRACT

BRICKS = [source for _, source in read_bricks()][:5]


def lessons(batches: int, seed: int = 0) -> list[list[Lesson]]:
    return list(islice(WritingLessons(BRICKS, seed, replies=3), batches))


def test_a_reply_holds_a_program_of_the_grammar_and_reads_back_as_it() -> None:
    stream = {each.source for each in Grammar(STREAM).write(2000) if teachable(each)}
    sources = [parse_reply(lesson.reply) for batch in lessons(40) for lesson in batch]
    assert set(sources) <= stream
    assert len(set(sources)) == len(sources) == 120


def test_a_batch_shares_one_request_as_a_run_makes_it() -> None:
    batches = lessons(40)
    assert all(len({lesson.prompt for lesson in batch}) == 1 for batch in batches)
    assert all(batch[0].prompt.startswith(CONTRACT) for batch in batches)
    shipped = sum(any(brick.strip() in batch[0].prompt for brick in BRICKS) for batch in batches)
    assert 0 < shipped < len(batches)


def test_a_request_never_shows_what_its_replies_are() -> None:
    for batch in lessons(40):
        for lesson in batch:
            assert parse_reply(lesson.reply).strip() not in lesson.prompt


def test_the_same_seed_gives_the_same_text_and_another_one_another() -> None:
    assert lessons(5) == lessons(5) != lessons(5, seed=1)


def test_oracles_that_are_set_apart_are_taught_in_no_lesson() -> None:
    writing = WritingLessons(BRICKS, seed=0, replies=5)
    list(islice(writing, 100))
    apart = oracles_apart(0, among=3000)
    assert len(apart) > 50
    assert not apart & set(map(oracle_text, writing.taught))


def test_about_a_tenth_of_the_chains_is_set_apart_whatever_the_sampler() -> None:
    by_chain: dict[tuple[str, ...], set[bool]] = {}
    for proposal in Grammar(3).write(3000):
        by_chain.setdefault(proposal.notes, set()).add(set_apart(proposal))
    assert all(len(answers) == 1 for answers in by_chain.values())
    assert 0.05 < sum(map(max, by_chain.values())) / len(by_chain) < 0.15


def test_an_oracle_is_told_by_its_lines_not_by_names_or_rule() -> None:
    source = Grammar(0).proposal(0).source
    renamed = source.replace("class ", "class Other").replace("First", "At first")
    assert oracle_text(renamed) == oracle_text(source) != ""
    assert oracle_text("no program") == ""
    assert parse_reply(fenced(source)) == source
