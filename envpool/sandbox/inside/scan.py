"""The policy scan: signs of a program that is not a function of its arguments, or that reaches for the harness.

Quality only; the walls are the kernel's. It prefers silence to false alarm: what it misses, the rerun in a second
zygote with another hash seed finds.
"""

import ast
from collections.abc import Iterator

from envpool.sandbox.inside.form import dotted, imported
from envpool.sandbox.inside.state import kept_state

# fmt: off
_REFUSED_CALLS = frozenset((
    "eval", "exec", "compile", "open", "input", "breakpoint", "__import__", "globals", "locals", "vars", "id", "hash",
    "exit", "quit",
))
_VARIES = dict.fromkeys(("id", "hash"), ", which differs between processes")
_CLOCKS = (
    "datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow", "datetime.date.today",
)
_ALLOWED_DUNDERS = frozenset(("__init__", "__name__", "__post_init__"))
_HARNESS_ATTRIBUTES = ("gi_", "cr_", "tb_", "f_back", "f_globals", "f_locals", "f_builtins")
_ORDER_SAFE = frozenset((
    "sorted", "sum", "min", "max", "any", "all", "len", "set", "frozenset", "math.prod", "math.gcd",
))
_ORDER_KEEPING = frozenset((
    "list", "tuple", "enumerate", "iter", "next", "zip", "map", "filter", "reversed", "collections.deque", "str",
    "repr", "format", "dict.fromkeys",
))
_ORDER_KEEPING_METHODS = ("join", "choice", "shuffle", "sample")
# fmt: on
Finding = tuple[int, str]


def findings(tree: ast.Module) -> list[Finding]:
    """(line, message) of each sign, by line."""
    names = imported(tree)
    found = {*_calls(tree, names), *_names(tree), *_shown_answer(tree), *_set_order(tree, names)}
    return sorted(found | {*kept_state(tree, names)})


def _calls(tree: ast.Module, names: dict[str, str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func, names)
        if called in _REFUSED_CALLS:
            yield node.lineno, f"calls {called}(){_VARIES.get(called, '')}"
        elif called in _CLOCKS:
            yield node.lineno, f"reads the clock through {called}()"
        elif called == "random.Random" and not node.args:
            yield node.lineno, "random.Random() without a seed"
        elif called.startswith("random.") and called != "random.Random" and _is_imported(node.func, names):
            yield node.lineno, f"{called}() is randomness outside rng"
    yield from _names_of_refused(tree)


def _names_of_refused(tree: ast.Module) -> Iterator[Finding]:
    """`key=hash` and the like: refused functions that are handed on, where the program has no such name itself."""
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for given in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(given, ast.Name) and given.id in _REFUSED_CALLS - bound:
                    yield given.lineno, f"hands the built-in {given.id} on{_VARIES.get(given.id, '')}"


def _shown_answer(tree: ast.Module) -> Iterator[Finding]:
    """A `show` that asks the oracle: the prompt would hold the answer."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == "show":
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and node.attr in ("solve", "verify"):
                    yield node.lineno, f"show calls {node.attr}: the answer would stand in the prompt"


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
            sorted_later = _sorted_later(scope)
            for node in ast.walk(scope):
                if node not in safe and node not in sorted_later:
                    yield from _leak(node, names, sets)


def _sorted_later(scope: ast.FunctionDef) -> set[ast.AST]:
    """Lists that a statement makes of something and another one sorts: `y = list(s)`, then `y.sort()`."""
    sorts = {
        node.func.value.id
        for node in ast.walk(scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sort"
        if isinstance(node.func.value, ast.Name)
    }
    return {
        node.value
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign)
        and all(isinstance(target, ast.Name) and target.id in sorts for target in node.targets)
    }


def _leak(node: ast.AST, names: dict[str, str], sets: set[str]) -> Iterator[Finding]:
    if isinstance(node, (ast.ListComp, ast.DictComp, ast.GeneratorExp)):
        sources = [part.iter for part in node.generators]
    elif isinstance(node, (ast.Starred, ast.FormattedValue)):
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
        yield getattr(node, "lineno", 0), "the order of a set becomes visible, and differs between processes"


def _order_matters(loop: ast.For) -> bool:
    """Whether a loop builds a sequence or may stop early; counting and adding do neither."""
    for node in ast.walk(loop):
        if isinstance(node, (ast.Break, ast.Return, ast.Yield)):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("append", "extend", "insert", "appendleft"):
            return True
        if isinstance(node, ast.AugAssign) and _makes_text(node.value):
            return True
    return False


def _set_variables(scope: ast.AST) -> set[str]:
    """Names that are only ever assigned sets within a function."""
    sets: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(scope):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in targets:
                if isinstance(target, ast.Name):
                    (sets if _is_set(node.value, sets) else others).add(target.id)
    return sets - others


def _makes_text(node: ast.expr) -> bool:
    """Whether an expression is text for certain."""
    if isinstance(node, ast.BinOp):
        return _makes_text(node.left) or _makes_text(node.right)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("str", "chr", "repr")
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_set(node: ast.AST, sets: set[str]) -> bool:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)):
        return _is_set(node.left, sets)
    made = node.func if isinstance(node, ast.Call) else None
    return isinstance(made, ast.Name) and made.id in ("set", "frozenset")
