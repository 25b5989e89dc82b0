"""Signs of state that outlives a call: kept on the module, the class, a default, or an object that is gone by then.

Each call gets a fresh object, and verdicts must not depend on what was asked before. Quality only, like the rest of
the scan.
"""

import ast
from collections.abc import Iterator

from envpool.sandbox.inside.form import PARAMETERS, dotted

# fmt: off
_MUTATORS = frozenset((
    "append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "add", "discard",
    "sort", "reverse", "appendleft", "popleft",
))
# fmt: on
_STREAMS = frozenset(("random.Random", "itertools.count", "itertools.cycle", "iter", "enumerate", "zip", "map"))
_CONTAINERS = (ast.List, ast.Dict, ast.Set)
Finding = tuple[int, str]


def kept_state(tree: ast.Module, names: dict[str, str]) -> Iterator[Finding]:
    """(line, message) of each sign; `names` are the imports."""
    shared = set(_shared(tree, (*_CONTAINERS, ast.Call)))
    streams = {
        name
        for name, value in _bound(tree)
        if isinstance(value, ast.GeneratorExp)
        or (isinstance(value, ast.Call) and dotted(value.func, names) in _STREAMS)
    }
    owners = {node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from _mutations(function, shared)
            yield from _steps(function, streams)
            yield from _on_the_class(function, (owners - set(PARAMETERS) - _local_names(function)) | {"cls"})
            yield from _defaults(function)
        elif isinstance(function, ast.ClassDef):
            yield from _left_on_self(function)


def _bound(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names that the module or a class binds, with what to."""
    for owner in ast.walk(tree):
        if isinstance(owner, (ast.Module, ast.ClassDef)):
            for item in owner.body:
                targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
                value = getattr(item, "value", None)
                for target in targets:
                    if isinstance(target, ast.Name) and value is not None:
                        yield target.id, value


def _shared(tree: ast.Module, kinds: tuple[type[ast.expr], ...]) -> Iterator[str]:
    return (name for name, value in _bound(tree) if isinstance(value, kinds))


def _local_names(function: ast.FunctionDef) -> set[str]:
    local = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            local.add(node.id)
    return local


def _mutations(function: ast.FunctionDef, shared: set[str]) -> Iterator[Finding]:
    """Containers of the module or a class that a function changes."""
    local = _local_names(function)
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


def _steps(function: ast.FunctionDef, streams: set[str]) -> Iterator[Finding]:
    """Generators of the module or a class that a function draws from."""
    outer = streams - _local_names(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr in streams and isinstance(node.value, ast.Name):
            yield node.lineno, f"draws from {node.attr}, which goes on from call to call"
        elif isinstance(node, ast.Name) and node.id in outer:
            yield node.lineno, f"draws from {node.id}, which goes on from call to call"


def _on_the_class(function: ast.FunctionDef, owners: set[str]) -> Iterator[Finding]:
    """Attributes set on a class, or on a function, and not on the object."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            owner, name = node.value, node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
            owner, name = node.args[0], "an attribute"
        else:
            continue
        if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "type":
            yield node.lineno, f"sets {name} on its class, which outlives the call"
        elif isinstance(owner, ast.Name) and owner.id in owners:
            yield node.lineno, f"sets {name} on {owner.id}, which outlives the call"


def _defaults(function: ast.FunctionDef) -> Iterator[Finding]:
    for default in (*function.args.defaults, *function.args.kw_defaults):
        if isinstance(default, _CONTAINERS):
            yield default.lineno, "a mutable default carries state from call to call"


def _left_on_self(node: ast.ClassDef) -> Iterator[Finding]:
    """Attributes that `sample` leaves on its object and another method of the contract reads on a fresh one."""
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    if "sample" not in methods:
        return
    elsewhere = {name for name, _ in _class_names(node)} | set(methods)
    for name, method in methods.items():
        if name not in PARAMETERS:
            elsewhere.update(_own(method, ast.Store))
    left = _own(methods["sample"], ast.Store).keys() - elsewhere
    for name in PARAMETERS.keys() - {"sample"}:
        if name in methods:
            set_here = _own(methods[name], ast.Store)
            for attribute, line in _own(methods[name], ast.Load).items():
                if attribute in left and attribute not in set_here:
                    yield line, f"{name} reads self.{attribute}, which sample left on another object"


def _class_names(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    return _bound(ast.Module([node], []))


def _own(method: ast.FunctionDef, context: type[ast.expr_context]) -> dict[str, int]:
    """Attributes of the first argument that are set or read, with the first line."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    found: dict[str, int] = {}
    for node in ast.walk(method) if arguments else ():
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, context)
            and isinstance(node.value, ast.Name)
            and node.value.id == arguments[0].arg
        ):
            found.setdefault(node.attr, node.lineno)
    return found
