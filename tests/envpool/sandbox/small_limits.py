"""Limits under which a test of a limit is over soon."""

from envpool.sandbox import SandboxLimits

TIGHT = SandboxLimits(cpu_seconds=0.2, wall_seconds=10.0, memory_mib=64, output_kib=64, open_children=4)
