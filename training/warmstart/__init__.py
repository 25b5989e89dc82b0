"""Teaching a small policy to write: supervised lessons through the learner of `training.grpo`, before any run.

Importing this package imports neither torch, ray, verl nor vLLM.
"""
