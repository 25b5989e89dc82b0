"""`doctor`: what it says of a machine for each user and profile, and that what it says is what happens."""

import json
from pathlib import Path
from typing import Any

import profiles
import pytest
from typer.testing import CliRunner

from cluster.cli import app
from cluster.cli import doctor as command
from envpool.sandbox import Sandbox, SandboxUnavailable, doctor
from envpool.sandbox.doctor import Finding, Report, State

ALWAYS = {
    "zygote", "seccomp", "rlimits", "supervisor", "data boundary", "no new privileges", "not dumpable", "self-test",
}  # fmt: skip
OUTSIDE = {"cgroup memory limit", "pod"}
ROOT_ONLY = {"uid drop", "empty root"}
SECOND = {"landlock", "namespaces"}


def examined(identity: str, profile: str = "plain") -> dict[str, Any]:
    if reason := profiles.unavailable(identity):
        pytest.skip(reason)
    return profiles.run_as(identity, "report_apart", "doctor", profile=profile)


def states(report: dict[str, Any]) -> dict[str, str]:
    return {found["layer"]: found["state"] for found in report["findings"] if found["layer"] not in OUTSIDE}


def golden(identity: str, **second: str) -> dict[str, str]:
    """What each layer must be said to be."""
    roots = "holds" if identity == "root" else "not needed"
    return dict.fromkeys(ALWAYS, "holds") | dict.fromkeys(ROOT_ONLY, roots) | second


@pytest.mark.parametrize("identity", ["root", "nobody"])
def test_on_a_node_that_offers_all_every_layer_holds(identity: str) -> None:
    report = examined(identity)
    if report["taken"] != "strict":
        pytest.skip(f"rung strict is not offered here: {report['rungs']['strict']}")
    assert states(report) == golden(identity, landlock="holds", namespaces="holds")
    assert [rung for rung, why_not in report["rungs"].items() if not why_not] == ["strict", "standard"]
    assert report["machine"]["user"] == {"root": "root", "nobody": "uid 65534"}[identity]


@pytest.mark.parametrize("identity", ["root", "nobody"])
def test_in_the_default_container_standard_holds_and_the_namespaces_are_named_with_the_way_out(identity: str) -> None:
    report = examined(identity, "container")
    assert report["taken"] == "standard"
    found = {finding["layer"]: finding for finding in report["findings"]}
    assert states(report) == golden(identity, landlock=found["landlock"]["state"], namespaces="missing")
    assert found["landlock"]["state"] in ("would hold", "missing")
    assert "unshare" in found["namespaces"]["remark"] and "max_user_namespaces" in found["namespaces"]["needed"]
    assert report["rungs"]["standard"] == "" and "namespaces" in report["rungs"]["strict"]


@pytest.mark.parametrize("identity", ["root", "nobody"])
def test_without_seccomp_nothing_is_offered_and_only_what_was_tried_is_judged(identity: str) -> None:
    report = examined(identity, "no seccomp")
    assert report["taken"] == ""
    assert all(report["rungs"].values())
    said = states(report)
    assert said["seccomp"] == "missing" and said["zygote"] == said["self-test"] == "not reached"


@pytest.mark.parametrize("identity", ["root", "nobody"])
def test_without_landlock_the_namespaces_are_said_to_take(identity: str) -> None:
    report = examined(identity, "no landlock")
    said = states(report)
    assert said["landlock"] == "missing" and said["namespaces"] in ("would hold", "missing")
    assert report["taken"] == "standard"


def test_what_it_says_of_this_machine_is_what_a_sandbox_does() -> None:
    report = doctor.examine()
    for rung in ("strict", "standard"):
        try:
            with Sandbox(rung=rung) as sandbox:
                assert report.rungs[rung] == ""
                layers = set(sandbox.layers())
        except SandboxUnavailable:
            assert report.rungs[rung]
            continue
        holding = {found.layer for found in report.findings if found.state is State.HOLDS}
        assert layers <= holding
    assert [found.layer for found in report.findings] == list(doctor.LAYERS)
    assert all(found.needed for found in report.findings if found.state is State.MISSING)


@pytest.mark.parametrize(("taken", "code"), [("standard", 0), ("strict", 0), ("", 1)])
def test_the_command_ends_with_1_where_no_safe_rung_starts(
    monkeypatch: pytest.MonkeyPatch, taken: str, code: int
) -> None:
    finding = Finding("seccomp", "all", State.MISSING if not taken else State.HOLDS, "a [remark]", "a [kernel]")
    report = Report(taken, {"strict": "why [not]", "standard": ""}, (finding,), {"system": "Linux"})
    monkeypatch.setattr(command, "examine", lambda: report)
    table = CliRunner().invoke(app, ["doctor"])
    assert table.exit_code == code
    assert all(word in table.stdout for word in ("a [remark]", "a [kernel]", "why [not]"))
    told = CliRunner().invoke(app, ["doctor", "--json"])
    assert told.exit_code == code
    assert json.loads(told.stdout) == json.loads(json.dumps(report.to_dict()))


def test_the_tables_are_no_wider_than_a_page_and_have_no_empty_column(monkeypatch: pytest.MonkeyPatch) -> None:
    holding = tuple(Finding(layer, stops, State.HOLDS) for layer, stops in doctor.LAYERS.items())
    monkeypatch.setattr(command, "examine", lambda: Report("strict", {"strict": "", "standard": ""}, holding))
    told = CliRunner().invoke(app, ["doctor"]).stdout
    assert "what it stops" in told
    assert not any(empty in told for empty in ("why not", "remark"))
    wanting = (*holding, Finding("pod", "holes", State.MISSING, "a remark", "a need " * 30))
    monkeypatch.setattr(command, "examine", lambda: Report("strict", {"strict": ""}, wanting))
    told = CliRunner().invoke(app, ["doctor"]).stdout
    assert "remark" in told and "; needed: a need" in " ".join(told.split())
    assert max(len(line.rstrip()) for line in told.splitlines()) <= 120


@pytest.mark.parametrize(
    ("lines", "files", "limit"),
    [
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": "4096"}, 4096),
        ("0::/\n", {"memory.max": "max"}, 0),
        ("7:cpu:/x\n4:memory:/x\n", {"memory/x/memory.limit_in_bytes": "8192"}, 8192),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": str(2**63 - 4096)}, 0),
        ("", {}, 0),
    ],
)
def test_the_memory_limit_is_the_smallest_of_the_groups_above(
    tmp_path: Path, lines: str, files: dict[str, str], limit: int
) -> None:
    (tmp_path / "cgroup").write_text(lines, encoding="utf-8")
    for name, text in files.items():
        (tmp_path / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / name).write_text(text, encoding="utf-8")
    assert doctor.memory_limit(tmp_path / "cgroup", tmp_path / "fs") == limit
