"""The placement groups of a run's solvers: one bundle each, reserved under a name that outlives its maker.

Invariant: of a name there is one group at most; `reserve` finds it again after any restart, so nothing is reserved
twice, and what the run does not need any more is given back by name. The groups of learner ranks are verl's.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import ray
from ray import PlacementGroupID
from ray.util.placement_group import (
    PlacementGroup,
    placement_group,
    placement_group_table,
    remove_placement_group,
)

from cluster.placement import avoidable, nodes_from, tightest

PLACE_SECONDS = 2.0
"""Ray places a group that fits within milliseconds; a longer wait is for others to give something back."""

log = logging.getLogger(__name__)


def reserve(name: str, gpus: float, cpus: float, avoid: Collection[str] = ()) -> PlacementGroup:
    """The group `name` of one bundle, made or adopted; on the fullest node that has room.

    Never on an avoided one, but where all nodes that are large enough are avoided: the last ones are used all the same.

    Call it only when nothing is to run in the old group: one that waits, lies on an avoided node or is of another size
    is given up and made anew. It is returned also where there is no room: what is put into it waits for that.
    """
    nodes = nodes_from(ray.nodes())
    avoid = avoidable(gpus, nodes, avoid)
    bundle = {unit: round(float(value), 4) for unit, value in (("GPU", gpus), ("CPU", cpus)) if value}
    for id, facts in _standing(name):
        if facts["name"] != name:
            continue
        lies_on = set(facts["bundles_to_node_id"].values())
        if facts["state"] == "CREATED" and facts["bundles"] == {0: bundle} and not lies_on & set(avoid):
            return PlacementGroup(_id(id))
        log.warning("giving up the placement group %s (%s)", name, facts["state"])
        remove_placement_group(PlacementGroup(_id(id)))
    away = [{"ray.io/node-id": f"!in({','.join(sorted(avoid))})"}] if avoid else None
    target = tightest(gpus, nodes, reserved_gpus(), avoid)
    group = placement_group(
        [bundle],
        strategy="STRICT_PACK",
        name=name,
        lifetime="detached",
        bundle_label_selector=away,
        _soft_target_node_id=target,
    )
    group.wait(PLACE_SECONDS)
    return group


def waits(name: str) -> bool:
    """Whether the group of that name is there, and no node has room for it."""
    return any(facts["name"] == name and facts["state"] == "PENDING" for _, facts in _standing(name))


def release(name: str) -> None:
    """Give the group of that name back, and end what runs in it. Idempotent."""
    for id, facts in _standing(name):
        if facts["name"] == name:
            remove_placement_group(PlacementGroup(_id(id)))


def release_all(prefix: str) -> None:
    """Give back every group whose name begins so, learner ranks' among them. Idempotent."""
    for id, _ in _standing(prefix):
        remove_placement_group(PlacementGroup(_id(id)))


def _standing(prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id and facts of each group that was not removed."""
    for id, facts in placement_group_table().items():
        if facts["name"].startswith(prefix) and facts["state"] != "REMOVED":
            yield id, facts


def reserved_gpus() -> Counter[str]:
    """GPUs reserved by node, whoever's groups hold them."""
    held: Counter[str] = Counter()
    for _, facts in _standing(""):
        for index, node in facts["bundles_to_node_id"].items():
            held[node] += facts["bundles"][index].get("GPU", 0.0)
    return held


def _id(hexadecimal: str) -> PlacementGroupID:
    return PlacementGroupID(bytes.fromhex(hexadecimal))
