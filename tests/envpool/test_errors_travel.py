"""Every error may cross from one process to another, as worker pools and Ray send them: as what it was."""

import importlib
import pickle
import pkgutil
from collections.abc import Iterator

import envpool
from envpool.admission.verdict import Outgrown, Refusal
from envpool.answers import UnparsableAnswer
from envpool.contract import Failed
from envpool.exchange.rewards import NoVerdict
from envpool.exchange.service.client import ServiceRefused
from envpool.execution import OutOfDraws
from envpool.returned import ProgramFault
from envpool.sandbox.results import Fault, FaultKind, SandboxUnavailable

AT_HOME = ("envpool.bricks.", "envpool.seeds.", "envpool.sandbox.inside.", "envpool.sandbox.child")
"""Programs that only run in a sandbox, and what runs beside them."""
MADE_OF = {
    NoVerdict: (Failed("the machine failed", culprit="p1"),),
    Outgrown: (2, "the question has 9000 characters, more than 8000"),
    OutOfDraws: ("p1", Fault(FaultKind.ILLEGAL_VALUE, "no draw ran through")),
    ProgramFault: ("p1", Fault(FaultKind.CODE_ERROR, "it raised")),
    Refusal: ("no oracle", "oracle"),
    SandboxUnavailable: ("no rung holds", {"seccomp": "EPERM"}),
    ServiceRefused: (409, "another request has this name"),
    UnparsableAnswer: ("malformed", "no number"),
}
"""Those that are made of more than a message."""


def errors() -> Iterator[type[Exception]]:
    """The public exceptions of all modules."""
    for module in pkgutil.walk_packages(envpool.__path__, "envpool."):
        if not module.name.startswith(AT_HOME):
            for name, each in vars(importlib.import_module(module.name)).items():
                ours = isinstance(each, type) and each.__module__ == module.name and not name.startswith("_")
                if ours and issubclass(each, Exception):
                    yield each


def test_every_error_arrives_as_it_was_sent() -> None:
    kinds = set(errors())
    assert kinds > set(MADE_OF)
    for kind in kinds:
        sent = kind(*MADE_OF.get(kind, ("a message",)))
        arrived = pickle.loads(pickle.dumps(sent))
        assert type(arrived) is kind
        assert vars(arrived) == vars(sent)
        assert str(arrived) == str(sent)
