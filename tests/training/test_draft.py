"""A draft survives the pool as it is, and says of each proposal where it comes from and what it earned."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envpool.store.encoding import pack, unpack
from training.draft import Draft
from training.proposals import REWARD_PARTS, ProposalRewards, proposal_reward
from training.trajectory import Sample

samples = st.builds(
    lambda text, tokens, low, more: Sample(text, [1], tokens, [-0.5] * len(tokens), low, low + more, True),
    st.text(),
    st.lists(st.integers(0, 50_000), max_size=5),
    st.integers(0, 9),
    st.integers(0, 3),
)
drafts = st.builds(
    Draft, st.just("far.generator-0-1"), st.just("far"), st.just("m at http://far/v1"), st.text(),
    st.lists(st.text(min_size=1)).map(tuple), st.lists(samples, min_size=1, max_size=4).map(tuple),
)  # fmt: skip


@given(drafts)
def test_a_draft_is_kept_and_read_back_as_it_was(draft: Draft) -> None:
    assert Draft.from_dict(unpack(pack(draft.to_dict()))) == draft


@given(drafts)
def test_no_two_proposals_have_the_same_id_and_each_knows_its_versions(draft: Draft) -> None:
    origins = [draft.origin(index) for index in range(len(draft.samples))]
    assert len({origin["id"] for origin in origins}) == len(origins)
    for origin, sample in zip(origins, draft.samples, strict=True):
        assert (origin["version_low"], origin["version_high"]) == (sample.version_low, sample.version_high)
        assert (origin["writer"], origin["model"]) == ("far", "m at http://far/v1")


def test_a_row_holds_all_that_the_reward_is_computed_from_and_its_parts() -> None:
    draft = Draft("g", "far", "m", "Write.", ("p1",), (Sample("a program", [], [], [], 0, 0, True),))
    evidence = {"success_rate": 0.3, "level": 1, "similarity": 0.55, "nearest": "p2"}
    verdict = {"id": "p3", "gate": "", "reason": "", "valid": True, "admitted": True, "evidence": evidence}
    row = draft.row(0, verdict, proposal_reward(verdict, ProposalRewards()))
    assert {key: row[key] for key in evidence} == evidence
    assert (row["proposal"], row["group"], row["id"], row["parents"]) == ("g/0", "g", "p3", ["p1"])
    assert [round(row[part], 6) for part in REWARD_PARTS] == [0.2, 0.5, 0.15, 0.0, 0.85]
