"""Reading a program's shape from its syntax tree: its one class, rule, signature and oracle.

Invariant: nothing is executed and no annotation is evaluated. Judging behaviour is not done here.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from envpool.signatures import Signature, SignatureError, ValueType, parse_type, type_from_node

MAX_RULE = 4_000
PARAMETERS = {"sample": 2, "solve": 1, "verify": 2, "accepts": 1, "show": 1}  # apart from self


class Malformed(ValueError):
    """A source that is no well-formed program; `gate` names the admission gate it falls at."""

    def __init__(self, reason: str, gate: str = "L1") -> None:
        super().__init__(reason)
        self.gate = gate


@dataclass(frozen=True, slots=True)
class Form:
    """What the syntax tree of a well-formed program says."""

    node: ast.ClassDef
    rule: str
    signature: Signature
    oracle: str  # "equality" or "feasibility"


def parse(source: str) -> ast.Module:
    """The syntax tree. Raises Malformed."""
    try:
        return ast.parse(source, filename="<program>")
    except SyntaxError as error:
        raise Malformed(f"does not parse: {error.msg} (line {error.lineno})") from None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"does not parse: {error}") from None


def imported(tree: ast.Module) -> dict[str, str]:
    """Local name -> dotted origin of every import; relative imports begin with a dot."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            names.update({alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names})
    return names


def modules(tree: ast.Module) -> list[str]:
    """The modules a source imports, dotted, sorted."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return sorted(found)


def check_imports(tree: ast.Module, allowed: frozenset[str]) -> None:
    """Raises Malformed at gate "imports"."""
    for name in modules(tree):
        top, _, rest = name.partition(".")
        if top not in allowed:
            raise Malformed(f"imports {name}, which is not allowed", "imports")
        if top == "envpool" and rest not in ("", "contract"):
            raise Malformed(f"imports {name}; only Environment and Planted are offered", "imports")
    for local, origin in imported(tree).items():
        if local == "*" or origin.endswith(".*"):
            raise Malformed("imports * from a module; name what is used", "imports")
        if origin.startswith("envpool.") and origin.rpartition(".")[2] not in (
            "Environment",
            "Planted",
            "contract",
        ):
            raise Malformed(f"imports {origin}; only Environment and Planted are offered", "imports")


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The dotted origin an expression denotes through imports; "" for anything but names and attributes."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        base = dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""


def read_form(tree: ast.Module) -> Form:
    """The form of a program. Raises Malformed."""
    node = _the_class(tree)
    methods = dict(_methods(node))
    for name, method in methods.items():
        if name in PARAMETERS:
            _check_parameters(name, method)
    if "sample" not in methods:
        raise Malformed("has no sample method")
    if ("solve" in methods) == ("verify" in methods):
        has = "both" if "solve" in methods else "neither"
        raise Malformed(f"must define exactly one of solve and verify, and has {has}")
    oracle = "equality" if "solve" in methods else "feasibility"
    return Form(node, _rule(node), _signature(methods, oracle), oracle)


def _the_class(tree: ast.Module) -> ast.ClassDef:
    names = imported(tree)
    bases = {"envpool.Environment", "envpool.contract.Environment"}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(dotted(base, names) in bases for base in node.bases):
            found.append(node)
            bases.add(node.name)  # a subclass of the subclass counts too
    if len(found) != 1:
        raise Malformed(f"has {len(found)} subclasses of Environment, not one")
    if found[0] not in tree.body or found[0].decorator_list:
        raise Malformed("its Environment subclass must stand at the top level, without decorators")
    return found[0]


def _methods(node: ast.ClassDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    for item in node.body:
        if isinstance(item, ast.AsyncFunctionDef) and item.name in PARAMETERS:
            raise Malformed(f"{item.name} must not be async")
        if isinstance(item, ast.FunctionDef):
            yield item.name, item


def _check_parameters(name: str, method: ast.FunctionDef) -> None:
    given = method.args
    plain = not (given.vararg or given.kwarg or given.kwonlyargs or given.defaults or method.decorator_list)
    if not plain or len(given.posonlyargs) + len(given.args) != PARAMETERS[name] + 1:
        wanted = PARAMETERS[name]
        raise Malformed(
            f"{name} must take self and {wanted} plain argument{'s' if wanted > 1 else ''}: no defaults, no decorator"
        )


def _rule(node: ast.ClassDef) -> str:
    values = []
    for item in node.body:
        targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "rule" for target in targets):
            values.append(getattr(item, "value", None))
    if len(values) != 1 or not isinstance(values[0], ast.Constant) or type(values[0].value) is not str:
        raise Malformed("rule must be set once, to a constant string")
    rule = values[0].value.strip()
    if not 0 < len(rule) <= MAX_RULE or (
        not rule.isprintable() and not rule.replace("\n", " ").isprintable()
    ):
        raise Malformed(f"rule must be printable text of 1 to {MAX_RULE} characters")
    return rule


def _signature(methods: dict[str, ast.FunctionDef], oracle: str) -> Signature:
    method = methods["solve" if oracle == "equality" else "verify"]
    arguments = [*method.args.posonlyargs, *method.args.args]
    codomain = method.returns if oracle == "equality" else arguments[2].annotation
    try:
        return Signature(_type(arguments[1].annotation), _type(codomain))
    except SignatureError as error:
        raise Malformed(f"{method.name}: {error}") from None


def _type(annotation: ast.expr | None) -> ValueType:
    if annotation is None:
        raise SignatureError("an annotation is missing")
    if isinstance(annotation, ast.Constant) and type(annotation.value) is str:
        return parse_type(annotation.value)
    return type_from_node(annotation)
