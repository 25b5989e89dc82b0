"""Program texts for the tests: honest ones, and a frame that puts hostile lines where they run."""

import textwrap

HONEST = '''
import random
from envpool import Environment


class Total(Environment):
    rule = "Add up the numbers of the list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9) for _ in range(level + 1)]

    def solve(self, x: list[int]) -> int:
        return sum(x)
'''

PLANTED = '''
import random
from envpool import Environment, Planted


class SubsetSum(Environment):
    rule = "The input is a list of numbers and a target. Give numbers of the list that add up to the target."

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], int]:
        numbers = [rng.randint(1, 9) for _ in range(3 + level)]
        chosen = numbers[:2]
        return Planted((numbers, sum(chosen)), chosen)

    def verify(self, x: tuple[list[int], int], answer: list[int]) -> float:
        left = list(x[0])
        for number in answer:
            if number not in left:
                return 0.0
            left.remove(number)
        return float(sum(answer) == x[1])
'''


def program(
    body: str,
    *,
    top: str = "",
    domain: str = "int",
    codomain: str = "int",
    method: str = "solve",
    sample: str = "1",
) -> str:
    """A well-formed program whose `solve`, or `verify`, runs the given lines."""
    oracle = {
        "solve": f"solve(self, x: {domain}) -> {codomain}:",
        "verify": f"verify(self, x: {domain}, answer: {codomain}) -> float:",
    }[method]
    return f'''
import random
from envpool import Environment
{textwrap.dedent(top)}

class Subject(Environment):
    rule = "Answer."

    def sample(self, rng: random.Random, level: int) -> {domain}:
        return {sample}

    def {oracle}
{textwrap.indent(textwrap.dedent(body).strip(), " " * 8)}
'''


# How a program reaches the kernel without a word the scan would notice: modules that others have loaded.
KERNEL = '''
import random
os = random._os
sys = os.sys
ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = sys.modules["envpool.sandbox.inside.syscalls"]
MACHINE = os.uname().machine
OTHER = os.getppid() or 1  # the zygote; where it is out of sight, process 1 of the namespace

def call(name, *args):
    return raw(NUMBERS.number(name, MACHINE), NUMBERS.number(name, MACHINE), *args)

def raw(x86_64, aarch64, *args):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return libc.syscall(ctypes.c_long(x86_64 if MACHINE == "x86_64" else aarch64), *words)
'''
