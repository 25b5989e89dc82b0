"""Judging a source by reading it: well-formedness, imports, policy scan, normalised form.

Invariant: the program is never executed. The result is plain data and always has every key.
"""

from typing import Any

from envpool.sandbox.inside.form import Malformed, check_imports, modules, parse, read_form
from envpool.sandbox.inside.normal import normal_digest, skeleton_digest, stripped
from envpool.sandbox.inside.scan import findings


def inspect(source: str, allowed: frozenset[str]) -> dict[str, Any]:
    """Form, imports, findings and digests; `error` is None or {"gate", "reason"}."""
    report: dict[str, Any] = {
        "name": "", "rule": "", "domain": "", "codomain": "", "oracle": "", "normal": "", "stripped": "",
        "skeleton": "", "imports": [], "findings": [], "error": None,
    }  # fmt: skip
    try:
        tree = parse(source)
        report["imports"] = modules(tree)
        form = read_form(tree)
        report |= {
            "name": form.node.name,
            "rule": form.rule,
            "domain": str(form.signature.domain),
            "codomain": str(form.signature.codomain),
            "oracle": form.oracle,
        }
        check_imports(tree, allowed)
        report["findings"] = [{"line": line, "message": text} for line, text in findings(tree)]
        # Last: normalising changes the tree.
        report["stripped"] = stripped(tree, form.node)
        report["normal"] = normal_digest(tree, form.node)
        again = parse(source)
        report["skeleton"] = skeleton_digest(again, read_form(again).node, str(form.signature))
    except Malformed as error:
        report["error"] = {"gate": error.gate, "reason": str(error)}
    return report
