"""The policy scan: signs of a program that is not a function of its arguments, or that reaches for the harness.

Quality only; the walls are the kernel's. It prefers silence to false alarm: what it misses, the rerun in a second
zygote with another hash seed finds.
"""

import ast
from collections.abc import Iterator

from envpool.sandbox.inside.form import dotted, imported

_REFUSED_CALLS = frozenset(
    ["eval", "exec", "compile", "open", "input", "breakpoint", "__import__", "globals", "locals", "vars", "id", "hash", "print", "exit", "quit", "memoryview"]
)
_CLOCKS = (
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "datetime.date.today",
)
_RANDOM_CLASSES = ("random.Random",)
_ALLOWED_DUNDERS = frozenset(["__init__", "__name__", "__post_init__", "__version__"])
_ORDER_SAFE = frozenset(["sorted", "sum", "min", "max", "any", "all", "len", "set", "frozenset", "math.prod", "math.gcd"])
_ORDER_KEEPING = frozenset(["list", "tuple", "enumerate", "iter", "next", "zip", "map", "filter", "reversed", "collections.deque"])
_MUTATORS = frozenset(
    ["append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "add", "discard", "sort", "reverse", "appendleft"]
)
Finding = tuple[int, str]


def findings(tree: ast.Module) -> list[Finding]:
    """(line, message) of each sign, by line."""
    names = imported(tree)
    return sorted({*_calls(tree, names), *_names(tree), *_set_order(tree, names), *_shared_state(tree)})


def _calls(tree: ast.Module, names: dict[str, str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func, names)
        if called in _REFUSED_CALLS:
            yield node.lineno, f"calls {called}()"
        elif called in _CLOCKS:
            yield node.lineno, f"reads the clock through {called}()"
        elif called.startswith("random.") and called not in _RANDOM_CLASSES:
            yield node.lineno, f"{called}() is randomness outside rng"
        elif called == "random.Random" and not node.args:
            yield node.lineno, "random.Random() without a seed"


def _names(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            private = node.attr.startswith("__") and node.attr.endswith("__")
            if (private and node.attr not in _ALLOWED_DUNDERS) or node.attr.startswith(("gi_", "cr_", "tb_", "f_back", "f_globals", "f_locals", "f_builtins")):
                yield node.lineno, f"touches {node.attr}"
        elif isinstance(node, ast.Name) and node.id in ("__builtins__", "__loader__", "__spec__"):
            yield node.lineno, f"touches {node.id}"
        elif isinstance(node, ast.Global):
            yield node.lineno, "assigns a global: state carried from call to call"


def _set_order(tree: ast.Module, names: dict[str, str]) -> Iterator[Finding]:
    """Places where the order of a set becomes visible."""
    safe: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func, names) in _ORDER_SAFE:
            safe.update(node.args)
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef):
            sets = _set_variables(scope)
            yield from _leaks(scope, names, sets, safe)


def _leaks(scope: ast.AST, names: dict[str, str], sets: set[str], safe: set[ast.AST]) -> Iterator[Finding]:
    for node in ast.walk(scope):
        if (
            isinstance(node, (ast.ListComp, ast.DictComp))
            or (isinstance(node, ast.GeneratorExp)
            and node not in safe)
        ):
            if node not in safe and any(_is_set(part.iter, sets) for part in node.generators):
                yield node.lineno, "the order of a set reaches a sequence"
        elif isinstance(node, ast.Starred) and _is_set(node.value, sets):
            yield node.lineno, "the order of a set reaches a sequence"
        elif isinstance(node, ast.Call) and node not in safe:
            called = dotted(node.func, names)
            joins = isinstance(node.func, ast.Attribute) and node.func.attr in (
                "join",
                "choice",
                "shuffle",
                "sample",
            )
            if (called in _ORDER_KEEPING or joins) and any(_is_set(part, sets) for part in node.args):
                yield node.lineno, "the order of a set reaches a sequence"
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "pop" and not node.args:
                if _is_set(node.func.value, sets):
                    yield node.lineno, "pop() of a set takes any element"


def _set_variables(scope: ast.AST) -> set[str]:
    """Names that are only ever assigned sets within a function."""
    sets: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    (sets if _is_set(node.value, sets) else others).add(target.id)
    return sets - others


def _is_set(node: ast.AST, sets: set[str]) -> bool:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)):
        return _is_set(node.left, sets)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("set", "frozenset")
    )


def _shared_state(tree: ast.Module) -> Iterator[Finding]:
    """Containers of the module or a class that a function changes, and mutable defaults."""
    shared: set[str] = set()
    for owner in ast.walk(tree):
        if isinstance(owner, (ast.Module, ast.ClassDef)):
            for item in owner.body:
                if isinstance(item, ast.Assign) and isinstance(
                    item.value, (ast.List, ast.Dict, ast.Set, ast.Call)
                ):
                    shared.update(target.id for target in item.targets if isinstance(target, ast.Name))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            local = _local(function)
            yield from _mutations(function, shared, local)
            for default in (*function.args.defaults, *function.args.kw_defaults):
                if isinstance(default, (ast.List, ast.Dict, ast.Set)):
                    yield default.lineno, "a mutable default carries state from call to call"


def _local(function: ast.FunctionDef) -> set[str]:
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def _mutations(function: ast.FunctionDef, shared: set[str], local: set[str]) -> Iterator[Finding]:
    for node in ast.walk(function):
        changed: ast.AST | None = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _MUTATORS
        ):
            changed = node.func.value
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            changed = node.value
        name = changed.attr if isinstance(changed, ast.Attribute) else getattr(changed, "id", "")
        own = isinstance(changed, ast.Attribute) or name not in local
        if name in shared and own:
            yield node.lineno, f"changes {name}, which outlives the call"
