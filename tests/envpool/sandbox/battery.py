"""The attacks run one after the other on one rung, in a process of its own; for `profiles.run_as`.

Prints one JSON object: for each attack what came of it, whether an honest program still got its answer in the child
that was open beside it, and how often the zygote had to be started anew by then.
"""

import json
import os
import sys
from typing import Any

from attack import ANY, Attack
from attack_table import ATTACKS
from hostile import HONEST

from envpool.sandbox import Call, Fault, Sandbox, SandboxLimits, SandboxUnavailable, Value

TIGHT = SandboxLimits(cpu_seconds=0.15, wall_seconds=15.0, memory_mib=64, output_kib=64, open_children=4)
TRACE = "/tmp/envolve-was-here"
SUM = Call("solve", ([1, 2, 3],))


def main(rung: str, which: str = "all") -> None:
    # What a child must never see, where the owner of a sandbox would have it.
    os.environ["KEY_OF_THE_OWNER"] = "".join(("OWNER", "_OF_", "THE_KEY="))
    chosen = [attack for attack in ATTACKS if which == "all" or attack.harmless]
    try:
        with Sandbox(TIGHT, rung=rung, allow_unsafe=rung == "unsafe") as sandbox:
            told: dict[str, Any] = {"outcomes": [_outcome(sandbox, attack) for attack in chosen]}
    except SandboxUnavailable as error:
        told = {"not offered": error.missing or str(error)}
    sys.stdout.write(json.dumps(told))


def _outcome(sandbox: Sandbox, attack: Attack) -> dict[str, Any]:
    [result] = sandbox.run(attack.source(), [attack.call()], fresh=True)
    [honest] = sandbox.run(HONEST, [SUM])
    return {
        "name": attack.name,
        "fault": result.kind.value if isinstance(result, Fault) else None,
        "detail": result.detail[:200] if isinstance(result, Fault) else "",
        "value": result.value if isinstance(result, Value) else None,
        "contained": contained(attack, result),
        "honest": isinstance(honest, Value) and honest.value == 6,
        "restarts": sandbox.metrics().get("restarts", 0),
        "trace": os.path.lexists(TRACE),
    }


def contained(attack: Attack, result: Value | Fault) -> bool:
    """Whether the verdict is one that the attack may earn."""
    if isinstance(result, Fault):
        return result.kind in attack.kinds
    return not attack.kinds and (attack.expect is ANY or result.value == attack.expect)
