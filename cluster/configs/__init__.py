"""The presets: `local` (two cores), `a100-node` (8 GPUs), `a100-cluster` (32 GPUs); the same keys, other numbers."""
