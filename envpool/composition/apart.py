"""A search with one brick a child: the same walk as `together`, at the price of a sandbox call a step.

It is what a search falls back on where the bricks in one child falsify each other, and what the benchmark compares
with. Nothing here chooses what to extend.
"""

from collections.abc import Sequence

from envpool.composition.chains import State
from envpool.composition.extension import Extender
from envpool.composition.together import Node, Task
from envpool.frontier import START, Edge, Walk


async def apart(extender: Extender, task: Task) -> list[Node]:
    """The steps that ran. Raises InfrastructureFault from the executor."""
    walk = Walk(task.plan)
    states: list[State] = []
    nodes: list[Node] = []
    for edges in walk.levels():
        for edge, state in zip(edges, await _reached(extender, task, edges, states), strict=True):
            if state is not None:
                walk.ran(edge)
                states.append(state)
                nodes.append(_node(task, edge, state, nodes))
    return nodes


async def _reached(
    extender: Extender, task: Task, edges: Sequence[Edge], states: Sequence[State]
) -> list[State | None]:
    starts = [(task.bricks[task.plan.starts[n]], task.recipes[n]) for node, n in edges if node == START]
    if starts:
        return await extender.begin(starts)
    return await extender.extend([(states[node], task.bricks[brick]) for node, brick in edges])


def _node(task: Task, edge: Edge, state: State, nodes: Sequence[Node]) -> Node:
    node, number = edge
    values = state.traces[0].values
    if node == START:
        return Node(START, state.path[-1], values, task.recipes[number])
    return Node(node, state.path[-1], values[-1:], nodes[node].start)
