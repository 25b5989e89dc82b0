"""Actors that are as they are, and write down what their peers acknowledge."""

from __future__ import annotations

from actors.generator import GeneratorActor
from actors.validator import ValidatorActor
from tests.simulated.ledger import Recording


class RecordedValidator(Recording, ValidatorActor):
    """Admissions are written down."""


class RecordedGenerator(Recording, GeneratorActor):
    """Offered groups are written down."""
