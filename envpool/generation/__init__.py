"""Where candidate programs come from: the policy's replies, and a grammar that needs no language model.

Both only write text. Nothing here runs, parses or judges a program; admission does, inside the sandbox.
"""

from envpool.generation.grammar import Grammar, Proposal
from envpool.generation.prompts import proposal_prompt
from envpool.generation.reply import ReplyUnparsable, parse_reply

__all__ = ["Grammar", "Proposal", "ReplyUnparsable", "parse_reply", "proposal_prompt"]
