"""What measures speed, as ratios to named alternatives in the same run. `python -m tests.benchmarks` runs all."""
