"""Which number format the hardware multiplies, so that "auto" means the same to solver and learner.

A CPU without bfloat16 instructions emulates them, three times slower than float32 (measured); every GPU that the
presets name has them. Nothing here loads torch.
"""

from __future__ import annotations

from pathlib import Path

BF16_INSTRUCTIONS = {"amx_bf16", "avx512_bf16", "bf16"}
"""Processor flags, as Linux spells them on x86 and ARM."""
CPU_FLAGS = Path("/proc/cpuinfo")


def multiplies_bfloat16(gpus: bool, cpu_flags: Path = CPU_FLAGS) -> bool:
    """Whether bfloat16 is at home on the GPUs, or else on this machine's CPU."""
    return gpus or bool(BF16_INSTRUCTIONS & set(cpu_flags.read_text().split()))


def engine_dtype(wanted: str, gpus: bool, cpu_flags: Path = CPU_FLAGS) -> str:
    """A solver's dtype; "auto" stands for what the hardware multiplies."""
    if wanted != "auto":
        return wanted
    return "bfloat16" if multiplies_bfloat16(gpus, cpu_flags) else "float32"
