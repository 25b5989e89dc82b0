"""What an attack is: a program, the verdicts it may earn, and the layer that stops it."""

from dataclasses import dataclass
from typing import Any

from hostile import KERNEL, program

from envpool.sandbox import Call, FaultKind

CODE, ILLEGAL = (FaultKind.CODE_ERROR,), (FaultKind.ILLEGAL_VALUE,)
CPU, MEMORY = (FaultKind.CPU_LIMIT,), (FaultKind.MEM_LIMIT,)
OUTPUT, PROTOCOL = (FaultKind.OUTPUT_LIMIT,), (FaultKind.PROTOCOL_ERROR,)
CRASH, POLICY = (FaultKind.CRASH,), (FaultKind.POLICY_KILL,)
NOTHING = ()  # no fault: the program gets a value, and where that could be a lie the row says who finds out

SECCOMP, RLIMITS, SUPERVISOR, BOUNDARY, ZYGOTE = "seccomp", "rlimits", "supervisor", "data boundary", "zygote"
PYTHON = "interpreter"  # the language stops it; were it not so, it could only spoil its own child
ITSELF = "itself only"  # nothing stops it, since it reaches nothing but its own results

ANY = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """`body` is run as `method` of a program; with no `kinds` there must be a value, `expect` where it is given.

    `harmless` ones succeed where there is no sandbox, and are run there once to show that they try what they say.
    `found` names, for a lie about the program's own results, the gate of admission that finds it out.
    """

    name: str
    layer: str
    kinds: tuple[FaultKind, ...]
    body: str
    codomain: str = "int"
    top: str = ""
    expect: Any = ANY
    method: str = "solve"
    harmless: bool = False
    found: str = ""

    def source(self) -> str:
        return program(self.body, top=KERNEL + self.top, codomain=self.codomain, method=self.method)

    def call(self) -> Call:
        return Call(self.method, (1,) if self.method == "solve" else (1, 1))


def attack(name: str, layer: str, kinds: tuple[FaultKind, ...], body: str, **more: Any) -> Attack:
    return Attack(name=name, layer=layer, kinds=kinds, body=body, **more)


def killed(name: str, attempt: str) -> Attack:
    """An attempt that no honest program makes: the kernel ends the child."""
    return attack(name, SECCOMP, POLICY, f"{attempt}\nreturn 1")


def refused(name: str, attempt: str, *, harmless: bool = True, layer: str = SECCOMP, error: str = "") -> Attack:
    """An attempt that must be answered with an error the program can see: the filter's, or the one that is named.

    Another error would mean that the attempt reached the kernel and failed there for its clumsiness.
    """
    errors = f"(errno.{error},)" if error else "(errno.EPERM, errno.EACCES, errno.ENOSYS)"
    body = f"""
        errno = sys.modules["errno"]
        try:
            failed = {attempt} == -1 and ctypes.get_errno() in {errors}
        except (OSError, ValueError) as error:
            failed = getattr(error, "errno", errno.EPERM) in {errors}
        return int(failed)
    """
    return attack(name, layer, NOTHING, body, expect=1, harmless=harmless)
