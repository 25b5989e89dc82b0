"""Fusing programs into a composite, which is where types must fit (RACES: e_i then e_j compose iff Y_i = X_j).

Invariant: what comes out has steps whose types fit one another and distractors that could stand at some step, so
whatever builds composites through here, and checks those it is given against it, has no others. Whether they run
on a value is not known here.
"""

from collections.abc import Sequence
from itertools import pairwise

from envpool.members import Composite, MemberError, OperatorName, Program


class IncompatibleTypes(MemberError):
    """Programs that do not fuse: a step that cannot take what the one before it gives, or is no function."""


def fuse(
    operator: OperatorName, chains: Sequence[Sequence[Program]], distractors: Sequence[Program] = ()
) -> Composite:
    """The composite of these chains. Raises IncompatibleTypes, or MemberError for a form the operator has not."""
    for chain in chains:
        _refuse_misfits(chain)
    domains = [chain[0].domain for chain in chains if chain]
    codomains = [chain[-1].codomain for chain in chains if chain]
    _refuse_idle(distractors, chains)
    joined = _joined if operator == "PARALLEL" else _only
    return Composite(
        operator,
        tuple(tuple(step.id for step in chain) for chain in chains),
        joined(domains),
        joined(codomains),
        tuple(sorted(each.id for each in distractors)),
    )


def _refuse_misfits(chain: Sequence[Program]) -> None:
    for before, after in pairwise(chain):
        if before.codomain != after.domain:
            raise IncompatibleTypes(
                f"{after.name} takes {after.domain}, and {before.name} before it gives {before.codomain}"
            )
    for step in chain if len(chain) > 1 else ():
        _refuse_relation(step)


def _refuse_idle(distractors: Sequence[Program], chains: Sequence[Sequence[Program]]) -> None:
    domains = {step.domain for chain in chains for step in chain}
    for each in distractors:
        _refuse_relation(each)
        if each.domain not in domains:
            raise IncompatibleTypes(
                f"the distractor {each.name} takes {each.domain}, which no step of the chain takes"
            )


def _refuse_relation(step: Program) -> None:
    if step.oracle != "equality":
        raise IncompatibleTypes(
            f"{step.name} has no one right output (a feasibility oracle), so it is no step"
        )


def _joined(types: Sequence[str]) -> str:
    """One type for several problems; an opaque part makes the whole opaque."""
    return "dict" if "dict" in types else f"tuple[{', '.join(types)}]"


def _only(types: Sequence[str]) -> str:
    return types[0] if types else ""
