"""One run over a real Ray cluster of four nodes: scaled, joined by other policies, robbed of a node and of its head.

Nothing here stands in for a component but the endpoint of an attached policy, which is a scripted server: vLLM, verl,
MiniLM, LMDB and the sandbox are real, and the run is controlled by the commands that an operator types, from other
processes, with no driver anywhere. One story is driven once; the tests say what was seen.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

from actors.roster import kind_of
from envpool.store import PoolReader
from tests.nodes import Nodes, family, of_a_run
from tests.runs import TINY, RunFolder, ending_what_is_left
from tests.training.policy.scripted_endpoint import choices, served

pytestmark = pytest.mark.timeout(3600)  # a hang, not slowness: two quiet cores need a seventh of it
WAIT_SECONDS = 600.0
NODES = 4
MODEL = "smollm2-135m"
MEMBERS = 4
"""On so many environments an attached policy has answered before it leaves again."""
ATTACHED = ("pupil", "far")
NAME = "spread"
SETTINGS: dict[str, Any] = {
    **TINY,
    "run": {"audit": True, "steps": 10_000},
    "learner": {
        **TINY["learner"],
        "checkpoint_every": 10_000,
    },  # only when it is asked for: each is gigabytes
    "composer": {**TINY["composer"], "interval_seconds": 1},
    "evaluation": {"enabled": False},
    "admission": {"calibration_instances": 4},
}
Process = tuple[int, float]
"""Id and start, so that another process under the same id is another one."""


class Watcher(threading.Thread):
    """Looks at the status again and again, and sums up what actors did, whoever of them came and went."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self._last: dict[tuple[str, int], dict[str, float]] = {}
        self.done: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """jobs and groups by actor"""
        self.marks: list[tuple[str, float, Counter[str]]] = []
        """what was done by kind, at moments that have a name"""
        self.lags: defaultdict[str, list[float]] = defaultdict(list)
        """replica lag (p99, seconds) by node"""
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.5):
            status = self._folder.status()
            for name, report in status.get("actors", {}).items():
                self._look(name, report)
            for node in status.get("nodes", ()):
                if node["replica_lag"] is not None and node["alive"]:
                    self.lags[node["id"]].append(node["replica_lag"])

    def mark(self, moment: str) -> None:
        """What had been done by now."""
        total: Counter[str] = Counter()
        for name, counts in list(self.done.items()):
            total[kind_of(name)] += sum(counts.values())
        self.marks.append((moment, time.monotonic(), total))

    def rates(self) -> dict[str, dict[str, float]]:
        """Jobs and groups a second between each mark and the one before."""
        pairs = zip(self.marks, self.marks[1:], strict=False)
        return {
            f"{before[0]} .. {after[0]}": {"seconds": after[1] - before[1]}
            | {kind: (after[2][kind] - before[2][kind]) / (after[1] - before[1]) for kind in sorted(after[2])}
            for before, after in pairs
        }

    def end(self) -> None:
        self._ended.set()
        self.join()

    def _look(self, name: str, report: dict[str, Any]) -> None:
        key, gauges = (name, report["pid"]), report.get("gauges", {})
        before = self._last.get(key, {})
        for gauge in ("jobs", "groups"):
            if gauge in gauges:
                self.done[name][gauge] += max(0, gauges[gauge] - before.get(gauge, 0))
        self._last[key] = gauges


@dataclass
class Story:
    """The run, its cluster, and what was seen of them, in order."""

    nodes: Nodes
    folder: RunFolder
    watcher: Watcher
    said: dict[str, str] = field(default_factory=dict)
    """What the commands printed."""
    seen: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def told(self, *arguments: str) -> str:
        """A command of an operator about this run; what it prints."""
        said = self.nodes.envolve(*arguments, "--run", NAME, "--folder", str(self.folder.root))
        self.said[arguments[0]] = said
        return said

    def start(self) -> None:
        """`envolve run`, which begins or resumes, and leaves."""
        self.nodes.envolve("run", *self.folder.command, "--detach")

    def until(self, condition: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
        """The first true value."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < deadline, f"nothing for {seconds:.0f} s:\n{self.folder.tail()}"
            time.sleep(0.2)
        return value

    @property
    def actors(self) -> dict[str, dict[str, Any]]:
        """The reports of all actors, which each sends from its start on."""
        return self.folder.status().get("actors", {})

    @property
    def version(self) -> int:
        """The policy version that is live; it only rises."""
        return int(self.folder.status().get("progress", {}).get("version", 0))

    def places(self) -> dict[str, list[str]]:
        """The names of the actors on each living node, as the supervisor knows them."""
        overview = self.actors.get("supervisor", {}).get("overview", {})
        return {node["id"]: node["actors"] for node in overview.get("nodes", ()) if node["alive"]}

    def present(self) -> set[str]:
        """The names of all actors that the supervisor knows."""
        return {name for names in self.places().values() for name in names}

    def processes(self, *names: str) -> set[Process]:
        """The actors' processes and all below them."""
        pids = [report["pid"] for name, report in self.actors.items() if name in names]
        return {(p.pid, p.create_time()) for pid in pids for p in family(pid) if p.is_running()}

    def replicas(self) -> dict[str, Path]:
        """The folders of replicas, by the beginning of their node's id."""
        return {path.name: path for path in (self.folder.root / "replicas" / NAME).glob("*")}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    root = tmp_path_factory.mktemp("runs")
    scratch = Path(tempfile.mkdtemp(prefix="ev", dir=tempfile.gettempdir()))
    settings = SETTINGS | {"pool": {**TINY["pool"], "replica_folder": str(root / "replicas")}}
    folder = RunFolder(root, NAME, settings)
    told = Story(Nodes(scratch / "ray"), folder, Watcher(folder))
    try:
        with ending_what_is_left():
            try:
                play(told)
                yield told
            finally:
                told.watcher.end()
                told.nodes.lose_all()
    finally:
        for path in (scratch, root / "replicas", folder.path / "policies"):
            shutil.rmtree(path, ignore_errors=True)
        folder.drop_weights()


def play(story: Story) -> None:
    """The whole of it."""
    for act in (
        begin, scale_up, scale_down, others_join_and_leave, lose_a_node,
        a_node_joins, pause_and_resume, lose_the_head_and_all, stop,
    ):  # fmt: skip
        started = time.monotonic()
        act(story)
        story.watcher.mark(act.__name__)
        story.seconds[act.__name__] = time.monotonic() - started


def begin(story: Story) -> None:
    story.nodes.begin(others=NODES - 1)
    story.start()
    story.watcher.start()
    story.until(lambda: story.version >= 1)
    ids = {node.id[:12] for node in story.nodes.others}
    story.until(lambda: {f"follower-{id}" for id in ids} <= story.actors.keys())
    story.watcher.mark("start")
    story.seen["ids"] = ids
    story.seen["places"] = story.places()
    story.seen["replicas"] = set(story.replicas())
    story.said["status"] = story.nodes.envolve("status", "--address", story.nodes.address)


def scale_up(story: Story) -> None:
    story.told("scale", "sandbox=6", "solver=2")
    story.until(lambda: story.watcher.done["solver-1"]["groups"] > 0)
    story.until(lambda: all(story.watcher.done[f"sandbox-{index}"]["jobs"] > 0 for index in range(6)))
    story.watcher.mark("scaled up")
    version = story.version
    story.until(lambda: story.version > version)


def scale_down(story: Story) -> None:
    extra = ("sandbox-3", "sandbox-4", "sandbox-5", "solver-1")
    processes = story.processes(*extra)
    story.told("scale", "sandbox=3", "solver=1")
    story.until(lambda: not story.present() & {*extra})
    story.seen["left of the extra ones"] = left(story, processes)
    version = story.version
    story.until(lambda: story.version > version)
    story.seen["buffer after scaling"] = story.actors["buffer"]["gauges"]


def left(story: Story, processes: set[Process], seconds: float = 30.0) -> list[str]:
    """Which of these processes still live, after some time to end."""
    deadline = time.monotonic() + seconds
    while (living := [pid for pid, start in processes if lives(pid, start)]) and time.monotonic() < deadline:
        time.sleep(0.2)
    return [f"{pid} {line}" for pid, line in of_a_run([psutil.Process(pid) for pid in living]).items()]


def lives(pid: int, start: float) -> bool:
    try:
        process = psutil.Process(pid)
        return process.create_time() == start and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def answered(story: Story, policy: str) -> int:
    """On how many environments the policy has answered."""
    return sum(bool(levels) for levels in story.folder.pool.all_stats(policy).values())


def others_join_and_leave(story: Story) -> None:
    """A second local model, which is trained beside the run's own, and one behind an endpoint."""
    before = ranks(story)
    with served(lambda request, before: choices(*["<answer>SUN</answer>"] * request.get("n", 1))) as server:
        story.told("attach", "pupil", "--model", MODEL, "--trainable")
        story.told("attach", "far", "--endpoint", server.url, "--model", "scripted")
        for policy in ATTACHED:
            story.until(lambda policy=policy: answered(story, policy) >= MEMBERS)
        story.seen["policies"] = json.loads(story.told("policies", "--json"))
        story.seen["policies in the status"] = story.folder.status()["policies"]
        story.seen["asked of the endpoint"] = len(server.requests)
        story.seen["left of far"] = leave(story, "far")
    story.until(lambda: updates(story, "pupil"))
    story.seen["left of pupil"] = leave(story, "pupil")
    story.seen["ranks that stay"] = (before, ranks(story))
    story.seen["pupil's checkpoints"] = list((story.folder.path / "policies/pupil/checkpoints").glob("*"))


def leave(story: Story, policy: str) -> list[str]:
    """Detach; what is left of its actors' processes, and of its placement groups."""
    names = {name for name in story.present() if name.startswith(f"{policy}.")}
    assert names
    processes = story.processes(*names)
    story.told("detach", policy)
    story.until(lambda: not any(name.startswith(f"{policy}.") for name in story.present()))
    groups = [name for name in story.nodes.groups(f"envolve-{NAME}/") if f"/{policy}." in name]
    return [*left(story, processes), *groups]


def ranks(story: Story) -> int:
    """Processes of learner ranks and of engines, whoever's."""
    lines = [line for node in story.nodes.all for line in of_a_run(node.family()).values()]
    return sum("LearnerWorker" in line or "EngineCore" in line for line in lines)


def updates(story: Story, policy: str = "") -> list[dict[str, Any]]:
    return [line for line in story.folder.lines("step") if line.get("policy", "") == policy]


def lose_a_node(story: Story) -> None:
    """kill -9 of a machine, if possible of the one with the solver."""
    story.told("checkpoint")
    places = story.places()
    node = max(story.nodes.others, key=lambda node: ("solver-0" in places[node.id], len(places[node.id])))
    lost, names = node.id, set(places[node.id]) - {f"follower-{node.id[:12]}"}
    pids, version, start = (
        {name: story.actors[name]["pid"] for name in names},
        story.version,
        time.monotonic(),
    )
    story.nodes.lose(node)
    story.until(lambda: lost not in story.places())
    story.seconds["until the lost node is known"] = time.monotonic() - start
    story.until(
        lambda: all(story.actors.get(name, {}).get("pid", pids[name]) != pids[name] for name in names)
    )
    story.seconds["until all its actors are back"] = time.monotonic() - start
    story.until(lambda: story.version > version)
    story.seconds["until the next update"] = time.monotonic() - start
    story.until(lambda: f"follower-{lost[:12]}" not in story.actors)
    story.seen["lost"] = (lost, names)
    story.seen["places after the loss"] = story.places()


def a_node_joins(story: Story) -> None:
    story.told("scale", "sandbox=6")
    story.until(lambda: "sandbox-5" in story.actors)
    node = story.nodes.join()
    start = time.monotonic()
    story.until(lambda: f"follower-{node.id[:12]}" in story.actors)
    story.seconds["until the new node follows"] = time.monotonic() - start
    story.until(lambda: any(kind_of(name) == "sandbox" for name in story.places()[node.id]))
    story.seconds["until the new node has a sandbox"] = time.monotonic() - start
    story.seen["new"] = node.id
    story.seen["places with the new node"] = story.places()


def pause_and_resume(story: Story) -> None:
    story.told("pause")
    story.until(lambda: story.folder.status()["paused"] and at_rest(story))
    before = story.version
    time.sleep(5)
    story.seen["versions while paused"] = (before, story.version)
    story.seen["buffer while paused"] = story.actors["buffer"]["gauges"]
    story.seen["differences"] = differences(story)
    story.told("resume")
    story.until(lambda: story.version > before)


def at_rest(story: Story) -> bool:
    """No permit is out, and the learner waits for the run: a batch leaves the buffer before its weights are live."""
    gauges, learner = story.actors["buffer"]["gauges"], story.actors["learner"]
    return gauges["reserved"] == gauges["taken"] == 0 and learner["waiting_for"] == "run"


def differences(story: Story) -> list[str]:
    """Nodes whose replica is not the pool, though nothing is being trained; they have a while to catch up."""
    ids = [id[:12] for id in story.places() if id[:12] in story.replicas()]
    found = set(ids)
    deadline = time.monotonic() + 30
    while found and time.monotonic() < deadline:
        for id in list(found):
            with PoolReader.open(story.replicas()[id]) as replica:
                if contents(replica) == contents(story.folder.pool):
                    found.discard(id)
        time.sleep(0.1)
    story.seen["replicas compared"] = ids
    return list(found)


def contents(pool: PoolReader) -> list[Any]:
    """All that a pool says to its readers."""
    with pool.snapshot():
        return list(pool.rows())


def lose_the_head_and_all(story: Story) -> None:
    """Power is lost everywhere; the head returns with its disk, and one other node."""
    story.told("checkpoint")
    pool = story.folder.pool
    story.seen["saved"] = pool.state("checkpoint")
    story.nodes.lose_all()
    story.seen["before"] = (set(pool.ids()), answers(pool), pool.last_sequence(), pool.pool_id())
    story.seen["version before"] = pool.state("weights")["version"]
    start = time.monotonic()
    story.nodes.begin(others=1)
    story.start()
    story.until(lambda: story.version > story.seen["version before"] + 1)
    story.seconds["until the first update under the new head"] = time.monotonic() - start
    [node] = story.nodes.others
    story.until(lambda: f"follower-{node.id[:12]}" in story.actors)
    story.seen["resumed"] = next(
        step for step in updates(story) if step["version"] > story.seen["version before"]
    )
    story.seen["after"] = (set(pool.ids()), answers(pool), pool.last_sequence(), pool.pool_id())
    story.seen["replicas under the new head"] = (set(story.replicas()), {node.id[:12]})


def answers(pool: PoolReader) -> int:
    stats = pool.all_stats("main").values()
    return sum(counts.attempts for levels in stats for counts in levels.values())


def stop(story: Story) -> None:
    story.seen["last status"] = story.folder.status()
    story.told("stop")
    deadline = time.monotonic() + 30
    while (found := running(story)) and time.monotonic() < deadline:
        time.sleep(0.5)
    story.seen["left after the stop"] = found
    story.seen["replicas after the stop"] = story.replicas()
    pool = story.folder.pool
    story.seen["at the stop"] = (pool.state("progress"), pool.state("checkpoint"), pool.state("phase"))


def running(story: Story) -> list[str]:
    return [line for node in story.nodes.all for line in of_a_run(node.family()).values()]


# ---------------------------------------------------------------------------------------------------------------
# What was seen
# ---------------------------------------------------------------------------------------------------------------


def test_actors_are_spread_over_all_nodes_and_each_other_node_has_a_replica(story: Story) -> None:
    places = story.seen["places"]
    assert len(places) == NODES and all(places.values())
    head = next(id for id, names in places.items() if "pool" in names)
    assert {"pool", "metrics", "buffer", "curator"} <= set(places[head])
    counts = [len([name for name in names if kind_of(name) != "follower"]) for names in places.values()]
    assert min(counts) >= 2, places
    assert story.seen["replicas"] == story.seen["ids"] == {id[:12] for id in places if id != head}


def test_the_status_is_told_by_the_cluster_alone(story: Story) -> None:
    assert NAME in story.said["status"] and "training" in story.said["status"]


def test_sandboxes_and_solvers_that_were_added_took_work(story: Story) -> None:
    done = story.watcher.done
    assert done["solver-1"]["groups"] > 0
    assert all(done[f"sandbox-{index}"]["jobs"] > 0 for index in range(6)), done


def test_those_too_many_drain_and_leave_no_process_and_no_permit(story: Story) -> None:
    assert story.seen["left of the extra ones"] == []
    assert "dropped: owner lost" not in story.seen["buffer after scaling"]


def test_attached_policies_are_listed_and_have_statistics_that_stay(story: Story) -> None:
    listed = {row["name"]: row for row in story.seen["policies"]}
    assert set(listed) == {"main", *ATTACHED}
    assert listed["main"]["own"] and listed["pupil"]["trainable"]
    assert listed["far"]["endpoint"].startswith("http://127.0.0.1")
    assert {row["name"] for row in story.seen["policies in the status"]} == set(listed)
    assert story.seen["asked of the endpoint"] >= MEMBERS
    for policy in ATTACHED:
        assert listed[policy]["environments"] >= MEMBERS and listed[policy]["answers"] > 0
        assert answered(story, policy) >= MEMBERS


def test_a_policy_that_leaves_leaves_no_process_and_no_placement_group(story: Story) -> None:
    assert {policy: story.seen[f"left of {policy}"] for policy in ATTACHED} == {"pupil": [], "far": []}
    before, after = story.seen["ranks that stay"]
    assert after <= before


def test_a_trainable_policy_was_trained_and_saved_beside_the_runs_own(story: Story) -> None:
    steps = updates(story, "pupil")
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    assert story.seen["pupil's checkpoints"]
    assert answered(story, "pupil") > 0


def test_a_lost_nodes_actors_return_elsewhere_and_the_run_goes_on(story: Story) -> None:
    lost, names = story.seen["lost"]
    places = story.seen["places after the loss"]
    assert lost not in places and len(places) == NODES - 1
    assert names and names <= {name for actors in places.values() for name in actors}


def test_a_new_node_is_followed_and_used(story: Story) -> None:
    names = story.seen["places with the new node"][story.seen["new"]]
    assert {kind_of(name) for name in names} >= {"follower", "sandbox"}


def test_a_paused_run_stands_still_with_no_permit_out_and_equal_replicas(story: Story) -> None:
    before, after = story.seen["versions while paused"]
    assert before == after
    buffer = story.seen["buffer while paused"]
    assert buffer["reserved"] == buffer["taken"] == 0
    assert story.seen["differences"] == []
    assert len(story.seen["replicas compared"]) == NODES - 1


def test_a_new_head_on_the_same_disk_goes_on_from_what_was_saved(story: Story) -> None:
    assert story.seen["resumed"]["step"] == story.seen["saved"]["step"] + 1
    members, given, sequence, id = story.seen["before"]
    members_now, given_now, sequence_now, id_now = story.seen["after"]
    assert id_now == id
    assert members <= members_now and given <= given_now and sequence <= sequence_now


def test_replicas_of_nodes_that_are_no_more_are_removed(story: Story) -> None:
    there, living = story.seen["replicas under the new head"]
    assert there == living


def test_a_stopped_run_is_saved_and_leaves_neither_process_nor_replica(story: Story) -> None:
    progress, checkpoint, phase = story.seen["at the stop"]
    assert checkpoint["step"] == progress["step"] and phase == "training"
    assert f"step {checkpoint['step']} is saved" in story.said["stop"]
    assert story.seen["left after the stop"] == []
    assert story.seen["replicas after the stop"] == {}


def test_no_group_was_trained_twice_in_weights_that_survived(story: Story) -> None:
    for policy, folder in (("", "samples"), ("pupil", "samples/pupil")):
        versions = surviving(story, policy)
        files = {
            version: story.folder.path / folder / f"version-{version:06d}.parquet" for version in versions
        }
        lost = [version for version, file in files.items() if not file.exists()]
        assert all(version > story.seen["version before"] for version in lost), (
            "rows of groups that waited then"
        )
        groups = Counter(
            group
            for file in files.values()
            if file.exists()
            for group in {row["group"] for row in pq.read_table(file).to_pylist()}
        )
        assert groups and set(groups.values()) == {1}, policy


def surviving(story: Story, policy: str) -> list[int]:
    """Versions whose updates are in the last weights: not those that a fallback gave up."""
    kept: dict[int, int] = {}
    for line in story.folder.lines():
        if line.get("policy", "") != policy:
            continue
        if line["kind"] == "step":
            kept[line["step"]] = line["version"]
        elif line["kind"] == "fallback":
            kept = {step: version for step, version in kept.items() if step <= line["step"]}
    return list(kept.values())


def test_versions_only_rise_and_no_member_is_admitted_twice(story: Story) -> None:
    versions = [line["version"] for line in updates(story)]
    assert versions == sorted(set(versions))
    admitted = Counter(entry.id for entry in story.folder.journal("admit"))
    assert set(admitted.values()) == {1} and set(admitted) == set(story.folder.pool.ids())


def test_no_actor_saw_pool_source_compiled(story: Story) -> None:
    reports = story.seen["last status"]["actors"]
    assert {name: report["audit"] for name, report in reports.items() if report["audit"]} == {}


def test_figures(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    """Printed for who runs this; no machine is asked to be fast."""
    with capsys.disabled():
        for what, seconds in story.seconds.items():
            print(f"\n{what:45} {seconds:7.1f} s", end="")  # noqa: T201
        for node, lags in story.watcher.lags.items():
            low, high = 1000 * sorted(lags)[len(lags) // 2], 1000 * max(lags)
            print(f"\nreplica lag p99 of {node[:12]}: median {low:.0f} ms, worst {high:.0f} ms", end="")  # noqa: T201
        for span, rates in story.watcher.rates().items():
            print(f"\n{span}: " + ", ".join(f"{kind} {rate:.2f}" for kind, rate in rates.items()), end="")  # noqa: T201
        print()  # noqa: T201
    assert story.seconds
