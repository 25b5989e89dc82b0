"""Where the ranks of a learner lie: verl's resource pool, in groups that each have one node to themselves or share it.

Invariant: the groups are known to the pool from the moment they are asked for, so whoever ends it gives them back also
while they still wait for room. Nodes to avoid are avoided where there is room elsewhere, and no longer: a learner on a
doubtful node is better than a run that stands still. It starts no rank.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from training.grpo.platform import serve  # first: verl asks for its platform while it is imported

# isort: split
import ray
from ray import PlacementGroupID
from ray.util.placement_group import (
    PlacementGroup,
    placement_group,
    placement_group_table,
    remove_placement_group,
)
from verl.single_controller.ray import RayResourcePool
from verl.single_controller.ray.base import sort_placement_group_by_node_ip

from training.grpo.settings import LearnerSettings, rank_groups

ROOM_SECONDS = 10.0
"""For room away from the nodes to avoid; Ray finds it within milliseconds where it is."""

log = logging.getLogger(__name__)


class RankPool(RayResourcePool):
    """verl's pool of one worker group, one rank a bundle, each group of ranks on one node."""

    pgs: list[PlacementGroup] | None

    def __init__(self, settings: LearnerSettings, avoid: Collection[str] = ()) -> None:
        serve(settings.gpus)
        super().__init__(
            rank_groups(settings.ranks, settings.ranks_per_node),
            use_gpu=settings.gpus,
            max_colocate_count=1,
            name_prefix=settings.name or None,
        )
        self._avoid = sorted(avoid)

    def get_placement_groups(
        self, strategy: str = "STRICT_PACK", name: str | None = None, device_name: str = "cuda"
    ) -> list[PlacementGroup]:
        """The groups, made when they are first asked for, in the order of their nodes. Waits until they have room."""
        if self.pgs is None:
            made = self._reserve(strategy, self._avoid)
            if self._avoid and not all(group.wait(ROOM_SECONDS) for group in made):
                log.warning("no room for the learner's ranks but on nodes to avoid: %s", self._avoid)
                self.release()
                made = self._reserve(strategy, [])
            ray.get([group.ready() for group in made])
            self.pgs = sort_placement_group_by_node_ip(made)
        return self.pgs

    def release(self) -> None:
        """Give the groups back, and end what runs in them."""
        groups, self.pgs = self.pgs, None
        for group in groups or ():
            remove_placement_group(group)

    def _reserve(self, strategy: str, avoid: list[str]) -> list[PlacementGroup]:
        bundle = {"CPU": 1.0} | ({"GPU": 1.0} if self.use_gpu else {})
        away = {"ray.io/node-id": f"!in({','.join(avoid)})"}
        prefix = f"{self.name_prefix}verl_group_{'_'.join(map(str, self.store))}:"
        self.pgs = [
            placement_group(
                [bundle] * ranks,
                strategy=strategy,
                name=f"{prefix}{index}",
                bundle_label_selector=[away] * ranks if avoid else None,
            )
            for index, ranks in enumerate(self.store)
        ]
        return self.pgs


def remove_orphans(name: str) -> None:
    """Ray removes a group with the actor that made it, but not when that actor is killed and restarted."""
    for id, facts in placement_group_table().items():
        if facts["name"].startswith(f"{name}verl_group_") and facts["state"] != "REMOVED":
            log.warning("removing the placement group of a learner that was killed: %s", facts["name"])
            remove_placement_group(PlacementGroup(PlacementGroupID(bytes.fromhex(id))))
