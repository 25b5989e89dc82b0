"""The ways in which a policy engine fails, each at its own boundary."""

from __future__ import annotations


class PolicyEngineError(RuntimeError):
    """Base of the errors of a policy engine."""


class PolicyEngineLost(PolicyEngineError):
    """The engine is gone or its weights are not whole; only a new engine helps. In-flight responses are lost."""


class GenerationRefused(PolicyEngineError):
    """The engine cannot serve this request, for example because the prompt is too long; the engine lives."""


class WeightUpdateFailed(PolicyEngineError):
    """New weights were not taken; the engine lives and goes on with the weights it had."""


class WeightsNotShared(PolicyEngineError):
    """The learner's weights file is not to be seen from the solver's node."""


class EndpointUnavailable(PolicyEngineError):
    """A policy's endpoint does not answer, or takes no request of ours; it may later."""
