"""The presets, the same keys with other numbers.

`local` and `local-writer` (two cores), `a100-node` and `evoenv-paper` (8 GPUs), `a100-cluster` and `races-paper`
(32 GPUs).
"""
