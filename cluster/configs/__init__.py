"""The presets, the same keys with other numbers.

`local` and `local-writer` (two cores), `a100-node` and `evoenv-paper` (8 GPUs), `a100-cluster` (32 GPUs).
"""
