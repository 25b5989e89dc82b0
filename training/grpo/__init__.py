"""GRPO on verl's worker group. Importing this package imports neither torch, ray nor verl."""
