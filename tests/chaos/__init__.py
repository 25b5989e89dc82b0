"""Chaos: a simulated run on a real Ray cluster whose processes are killed at random, and what must hold afterwards.

`python -m tests.chaos --minutes 60 --every 5 --nodes 4 --seed 1`
"""
