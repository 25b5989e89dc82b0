"""The normalised form of a program: equal for copies that differ in names, layout, comments, docstrings or rule text.

Works on the syntax tree, which it changes. There are two digests: one of the whole code, constants and all, and one of
the oracle alone without its constants, which copies share that ask the same with other numbers of other inputs.
"""

import ast
import hashlib

from envpool.sandbox.inside.form import PARAMETERS, imported

_ORDER = {name: index for index, name in enumerate(PARAMETERS)}


def normal_digest(tree: ast.Module, node: ast.ClassDef) -> str:
    """Hex sha256 of the code with imports resolved, names numbered, rule and docstrings left out."""
    _prune(tree, node)
    return _digest(tree)


def skeleton_digest(tree: ast.Module, node: ast.ClassDef, signature: str) -> str:
    """Hex sha256 of what the oracle needs, numbers and texts blanked, names numbered; and of the signature."""
    _prune(tree, node)
    oracle = [item for item in node.body if getattr(item, "name", "") in ("solve", "verify")]
    needed = _reached(oracle, [*(item for item in tree.body if item is not node), *node.body])
    node.body = [item for item in node.body if item in needed]
    tree.body = [item for item in tree.body if item in needed or item is node or _is_import(item)]
    node.bases = []
    return _digest(_Constantless().visit(tree), signature)


def _reached(start: list[ast.stmt], items: list[ast.stmt]) -> set[ast.stmt]:
    """The statements that these ones need, by the names that they mention."""
    homes: dict[str, list[ast.stmt]] = {}
    for item in items:
        named = getattr(item, "name", "")
        for name in {named} if named else _stored(item):
            if name not in PARAMETERS:
                homes.setdefault(name, []).append(item)
    reached, waiting = set(start), list(start)
    while waiting:
        for part in ast.walk(waiting.pop()):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "attr", "")
            new = [item for item in homes.get(name, ()) if item not in reached]
            reached.update(new)
            waiting += new
    return reached


def _is_import(item: ast.stmt) -> bool:
    return isinstance(item, (ast.Import, ast.ImportFrom))


def _digest(tree: ast.Module, *more: str) -> str:
    names = imported(tree)
    tree.body = [item for item in tree.body if not isinstance(item, (ast.Import, ast.ImportFrom))]
    shared = _Renamer(_shared_names(tree), "g", names)
    for owner in ast.walk(tree):
        body = getattr(owner, "body", None)
        if isinstance(owner, (ast.Module, ast.ClassDef)) and isinstance(body, list):
            for item in body:
                if isinstance(item, ast.FunctionDef):
                    _Renamer(_local_names(item), "v", {}).visit(item)
    shared.visit(tree)
    text = "\n".join((*more, ast.unparse(tree)))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def stripped(tree: ast.Module, node: ast.ClassDef) -> str:
    """Code as an embedding should see it: no imports, class line, rule, docstrings or text of strings."""
    _prune(tree, node)
    parts: list[ast.stmt] = []
    for item in tree.body:
        if isinstance(item, (ast.Import, ast.ImportFrom)):
            continue
        parts.extend(node.body if item is node else [item])
    text = ast.unparse(ast.Module(body=parts, type_ignores=[]))
    return ast.unparse(_Blank().visit(ast.parse(text)))


def _prune(tree: ast.Module, node: ast.ClassDef) -> None:
    """Takes docstrings and the rule out and puts the contract's methods into one order."""
    for owner in ast.walk(tree):
        body = getattr(owner, "body", None)
        if isinstance(owner, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and body:
            owner.body = [item for item in body if not _is_text(item)] or [ast.Pass()]
    node.body = [item for item in node.body if not _sets_rule(item)]
    node.body.sort(key=lambda item: _ORDER.get(getattr(item, "name", ""), len(_ORDER)))


def _is_text(item: ast.stmt) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


def _sets_rule(item: ast.stmt) -> bool:
    targets = item.targets if isinstance(item, ast.Assign) else [getattr(item, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "rule" for target in targets)


def _shared_names(tree: ast.Module) -> set[str]:
    """Names bound in the module and its classes, and attributes set on self; not the contract's."""
    found: set[str] = set()
    for owner in ast.walk(tree):
        if isinstance(owner, (ast.Module, ast.ClassDef)):
            for item in owner.body:
                if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found.add(item.name)
                else:
                    found.update(_stored(item))
        elif isinstance(owner, ast.Attribute) and isinstance(owner.ctx, ast.Store):
            found.add(owner.attr)
    return {name for name in found if name not in PARAMETERS and not name.startswith("__")}


def _local_names(function: ast.FunctionDef) -> set[str]:
    found = _stored(function)
    for item in ast.walk(function):
        if isinstance(item, ast.arg):
            found.add(item.arg)
        elif isinstance(item, ast.FunctionDef) and item is not function:
            found.add(item.name)
        elif isinstance(item, (ast.Global, ast.Nonlocal)):
            found.difference_update(item.names)
    return found


def _stored(item: ast.AST) -> set[str]:
    return {
        part.id for part in ast.walk(item) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


class _Renamer(ast.NodeTransformer):
    """Numbers names in the order of their first appearance; imported names become their dotted origin."""

    def __init__(self, names: set[str], prefix: str, origins: dict[str, str]) -> None:
        self._names = names
        self._prefix = prefix
        self._origins = origins
        self._numbers: dict[str, str] = {}

    def _new(self, name: str) -> str:
        if name in self._names:
            return self._numbers.setdefault(name, f"_{self._prefix}{len(self._numbers)}")
        return self._origins.get(name, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._new(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._new(node.arg)
        node.annotation = None  # judged as the signature; a hint more or less makes no other program
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in self._names and self._prefix == "g":
            node.attr = self._new(node.attr)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._new(node.name)
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._new(node.name)
        self.generic_visit(node)
        return node


class _Blank(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, (str, bytes)) else node


class _Constantless(ast.NodeTransformer):
    """Every number 0 and every text empty; true, false and None say what is done, and stay."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, (bool, type(None), type(...))):
            return node
        return ast.Constant("" if isinstance(node.value, (str, bytes)) else 0)
