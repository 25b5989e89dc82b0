"""Evolve a pool of environments and train a policy on it: build the actors, wire them, run, drain.

    python launch.py --config local run.name=demo
    ray job submit --working-dir . -- python launch.py --config local

The same as `envolve run`; `python launch.py --help` lists the options.
"""

from __future__ import annotations

from cluster.entry import main

if __name__ == "__main__":
    main("run")
