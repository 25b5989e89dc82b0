"""What a composite must show: parts that fuse to exactly it, and a guess rate within the limit where an order is asked.

Invariant: nothing is run here. That its chains run, and how often a guess scores, was found by whoever made it; the
rate is in its evidence, and without one no SORT or SELECT is admitted.
"""

from collections.abc import Callable

from envpool.admission.verdict import Refusal
from envpool.composition.fusion import fuse
from envpool.composition.guess_rates import GUESS_LIMITS
from envpool.members import Composite, Member, MemberError, Program

Lookup = Callable[[str], Member | None]


def fuses(composite: Composite, lookup: Lookup) -> None:
    """Raises Refusal (gate "types") unless its parts are known programs that fuse to this very composite."""
    try:
        chains = [[_program(part, lookup) for part in chain] for chain in composite.chains]
        fused = fuse(composite.operator, chains, [_program(part, lookup) for part in composite.distractors])
    except MemberError as error:
        raise Refusal(str(error), "types") from error
    declared, found = (f"{each.domain} -> {each.codomain}" for each in (composite, fused))
    if declared != found:
        raise Refusal(f"it declares {declared}, and its parts make {found}", "types")


def is_no_guess(member: Member) -> None:
    """Raises Refusal (gate "guess") where an order is asked for and no guess rate within the limit was measured."""
    material = member.material
    limit = GUESS_LIMITS.get(material.operator) if isinstance(material, Composite) else None
    if limit is None:
        return
    rate = member.evidence.get("guess_rate")
    if not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise Refusal(f"its guess rate was not measured: {rate!r}", "guess")
    if rate > limit:
        raise Refusal(f"a guess scores in {rate:.0%} of all cases, above {limit:.0%}", "guess")


def _program(part: str, lookup: Lookup) -> Program:
    member = lookup(part)
    if member is None or not isinstance(member.material, Program):
        raise MemberError(f"its part {part} is {'a composite' if member else 'not in the pool'}")
    return member.material
