"""Soak: one sandbox through thousands of jobs, most of them hostile, and what must stay flat meanwhile.

`python -m tests.soak --jobs 20000 --seed 1`
"""

import sys
from pathlib import Path

# The table of attacks lies with the tests of the sandbox, whose modules know each other by their bare names.
sys.path.append(str(Path(__file__).parents[1] / "envpool" / "sandbox"))
