"""Which member is trained on next, at which level, and which one rests."""

from envpool.answer_counts import AnswerCount
from envpool.curation.curator import Curator
from envpool.curation.decisions import CurationError, Decision, Promote, Rest, Retire, Wake
from envpool.curation.settings import CurationSettings, Mode
from envpool.curation.standings import Standing

__all__ = [
    "AnswerCount",
    "CurationError",
    "CurationSettings",
    "Curator",
    "Decision",
    "Mode",
    "Promote",
    "Rest",
    "Retire",
    "Standing",
    "Wake",
]
