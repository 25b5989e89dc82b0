"""The policy scan: signs of a program that is not a function of its arguments, or that reaches for the harness.

Quality only; the walls are the kernel's. It prefers silence to false alarm: what it misses, the rerun in a second
zygote with another hash seed finds.
"""

import ast
from collections.abc import Iterator

from envpool.sandbox.inside.form import dotted, imported

# fmt: off
_REFUSED_CALLS = frozenset((
    "eval", "exec", "compile", "open", "input", "breakpoint", "__import__", "globals", "locals", "vars", "id", "hash",
    "exit", "quit",
))
_CLOCKS = (
    "datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today",
)
_ALLOWED_DUNDERS = frozenset(("__init__", "__name__", "__post_init__"))
_HARNESS_ATTRIBUTES = ("gi_", "cr_", "tb_", "f_back", "f_globals", "f_locals", "f_builtins")
_ORDER_SAFE = frozenset((
    "sorted", "sum", "min", "max", "any", "all", "len", "set", "frozenset", "math.prod", "math.gcd",
))
_ORDER_KEEPING = frozenset((
    "list", "tuple", "enumerate", "iter", "next", "zip", "map", "filter", "reversed", "collections.deque",
))
_ORDER_KEEPING_METHODS = ("join", "choice", "shuffle", "sample")
_MUTATORS = frozenset((
    "append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "add", "discard",
    "sort", "reverse", "appendleft",
))
# fmt: on
_CONTAINERS = (ast.List, ast.Dict, ast.Set)
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
        elif called == "random.Random" and not node.args:
            yield node.lineno, "random.Random() without a seed"
        elif called.startswith("random.") and called != "random.Random" and _is_imported(node.func, names):
            yield node.lineno, f"{called}() is randomness outside rng"


def _is_imported(node: ast.expr, names: dict[str, str]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in names


def _names(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dunder = node.attr.startswith("__") and node.attr.endswith("__")
            if (dunder and node.attr not in _ALLOWED_DUNDERS) or node.attr.startswith(_HARNESS_ATTRIBUTES):
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
            for node in ast.walk(scope):
                if node not in safe:
                    yield from _leak(node, names, sets)


def _leak(node: ast.AST, names: dict[str, str], sets: set[str]) -> Iterator[Finding]:
    if isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
        sources = [part.iter for part in node.generators]
    elif isinstance(node, ast.Starred):
        sources = [node.value]
    elif isinstance(node, ast.For) and _order_matters(node):
        sources = [node.iter]
    elif isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method == "pop" and isinstance(node.func, ast.Attribute) and not node.args:
            sources = [node.func.value]
        elif method in _ORDER_KEEPING_METHODS or dotted(node.func, names) in _ORDER_KEEPING:
            sources = node.args
        else:
            return
    else:
        return
    if any(_is_set(source, sets) for source in sources):
        yield getattr(node, "lineno", 0), "the order of a set becomes visible"


def _order_matters(loop: ast.For) -> bool:
    """Whether a loop builds a sequence or may stop early; counting and adding do neither."""
    for node in ast.walk(loop):
        if isinstance(node, (ast.Break, ast.Return, ast.Yield)):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("append", "extend", "insert", "appendleft"):
            return True
    return False


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
    made = node.func if isinstance(node, ast.Call) else None
    return isinstance(made, ast.Name) and made.id in ("set", "frozenset")


def _shared_state(tree: ast.Module) -> Iterator[Finding]:
    """Containers of the module or a class that a function changes, and mutable defaults."""
    shared = _shared_containers(tree)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from _mutations(function, shared)
            for default in (*function.args.defaults, *function.args.kw_defaults):
                if isinstance(default, _CONTAINERS):
                    yield default.lineno, "a mutable default carries state from call to call"


def _shared_containers(tree: ast.Module) -> set[str]:
    shared: set[str] = set()
    for owner in ast.walk(tree):
        if isinstance(owner, (ast.Module, ast.ClassDef)):
            for item in owner.body:
                if isinstance(item, ast.Assign) and isinstance(item.value, (*_CONTAINERS, ast.Call)):
                    shared.update(target.id for target in item.targets if isinstance(target, ast.Name))
    return shared


def _mutations(function: ast.FunctionDef, shared: set[str]) -> Iterator[Finding]:
    local = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            local.add(node.id)
    for node in ast.walk(function):
        changed = _changed(node)
        if isinstance(changed, ast.Attribute) and changed.attr in shared:
            yield changed.lineno, f"changes {changed.attr}, which outlives the call"
        elif isinstance(changed, ast.Name) and changed.id in shared - local:
            yield changed.lineno, f"changes {changed.id}, which outlives the call"


def _changed(node: ast.AST) -> ast.expr | None:
    """The container that an expression changes, if it does."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
        return node.func.value
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return node.value
    return None
