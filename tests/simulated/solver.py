"""The solver actor with a simulated engine; all else of it is as it is."""

from __future__ import annotations

from actors.solver import SolverActor
from tests.simulated.engine import SimulatedEngine
from tests.simulated.ledger import Recording


class SimulatedSolver(Recording, SolverActor):
    """Plays recipes with answers that cost nothing."""

    engine = SimulatedEngine
