"""Chaos: a simulated run on a real Ray cluster whose processes are killed at random, and what must hold afterwards.

`python -m tests.chaos --minutes 60 --every 5 --nodes 4 --seed 1`
"""

import os

# Ray reads it while it is imported: on a machine that others use too, a raylet may take its time.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")
