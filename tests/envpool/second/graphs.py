"""Second implementations of the bricks of graphs, from their rules alone."""

from itertools import combinations

Pairs = list[tuple[int, int]]
Lists = dict[int, list[int]]


def _numbers(pairs: Pairs) -> list[int]:
    return sorted({number for pair in pairs for number in pair})


def _both_ways(pairs: Pairs) -> Lists:
    joined: Lists = {number: [] for number in _numbers(pairs)}
    for one, other in pairs:
        joined[one].append(other)
        joined[other].append(one)
    return joined


def _one_way(pairs: Pairs) -> Lists:
    ends: Lists = {number: [] for number in _numbers(pairs)}
    for start, end in pairs:
        ends[start].append(end)
    return ends


def _fewest_steps(lists: Lists, start: int) -> dict[int, int]:
    """For every number reached from the start, the fewest steps to it."""
    steps = {start: 0}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        for there in lists.get(here, []):
            if there not in steps:
                steps[there] = steps[here] + 1
                waiting.append(there)
    return steps


def all_joined(pairs: Pairs) -> bool:
    joined = _both_ways(pairs)
    return all(len(_fewest_steps(joined, number)) == len(joined) for number in joined)


def arrivals(lists: Lists) -> dict[int, int]:
    return {key: sum(numbers.count(key) for numbers in lists.values()) for key in sorted(lists)}


def arrow_ends(pairs: Pairs) -> Lists:
    return _one_way(pairs)


def arrows(lists: Lists) -> Pairs:
    return [(key, number) for key in sorted(lists) for number in lists[key]]


def as_matrix(lists: Lists) -> list[list[int]]:
    keys = sorted(lists)
    return [[1 if column in lists[row] else 0 for column in keys] for row in keys]


def breadth_first(lists: Lists) -> list[int]:
    written = [min(lists)]
    for number in written:  # what is appended below is gone through as well
        for other in lists.get(number, []):
            if other not in written:
                written.append(other)
    return written


def count_triangles(pairs: Pairs) -> int:
    joined = {frozenset(pair) for pair in pairs}
    return sum(
        all(frozenset(two) in joined for two in combinations(three, 2))
        for three in combinations(_numbers(pairs), 3)
    )


def degrees(pairs: Pairs) -> dict[int, int]:
    ends = [number for pair in pairs for number in pair]
    return {number: ends.count(number) for number in _numbers(pairs)}


def depth_first(lists: Lists) -> list[int]:
    written: list[int] = []

    def visit(number: int) -> None:
        written.append(number)
        for other in lists.get(number, []):
            if other not in written:
                visit(other)

    visit(min(lists))
    return written


def fewest_edges(pairs: Pairs) -> int:
    start, end = pairs[0][0], pairs[-1][1]
    return _fewest_steps(_both_ways(pairs), start).get(end, -1)


def group_sizes(pairs: Pairs) -> list[int]:
    joined = _both_ways(pairs)
    groups = {frozenset(_fewest_steps(joined, number)) for number in joined}
    return sorted((len(group) for group in groups), reverse=True)


def has_round_trip(lists: Lists) -> bool:
    return any(key in _fewest_steps(lists, after) for key in lists for after in lists[key])


def keys_of_values(values: dict[int, int]) -> Lists:
    return {
        value: sorted(key for key in values if values[key] == value) for value in sorted(set(values.values()))
    }


def longest_list(lists: Lists) -> int:
    return min(lists, key=lambda key: (-len(lists[key]), key))


def matrix_places(rows: list[list[int]]) -> Lists:
    return {place: [at for at, number in enumerate(row) if number != 0] for place, row in enumerate(rows)}


def neighbour_lists(pairs: Pairs) -> Lists:
    return {number: sorted(set(others)) for number, others in _both_ways(pairs).items()}


def order_of_tasks(pairs: Pairs) -> list[int]:
    done: list[int] = []
    while True:
        waiting = {second for first, second in pairs if first not in done}
        ready = [number for number in _numbers(pairs) if number not in done and number not in waiting]
        if not ready:
            return done
        done.append(min(ready))


def paint_in_order(lists: Lists) -> dict[int, int]:
    colours: dict[int, int] = {}
    for key in sorted(lists):
        taken = {colours[other] for other in colours if other in lists[key] or key in lists[other]}
        colour = 1
        while colour in taken:
            colour += 1
        colours[key] = colour
    return colours


def plain_edges(pairs: Pairs) -> Pairs:
    kept: Pairs = []
    for one, other in pairs:
        edge = (min(one, other), max(one, other))
        if one != other and edge not in kept:
            kept.append(edge)
    return kept


def ranking(values: dict[int, int]) -> Pairs:
    return sorted(values.items(), key=lambda item: (-item[1], item[0]))


def reached_from_first(pairs: Pairs) -> list[int]:
    return sorted(_fewest_steps(_one_way(pairs), pairs[0][0]))


def steps_from_smallest(lists: Lists) -> dict[int, int]:
    return dict(sorted(_fewest_steps(lists, min(lists)).items()))


def trail(pairs: Pairs) -> list[int]:
    unused = list(pairs)
    passed = [pairs[0][0]]
    while True:
        leaving = [arrow for arrow in unused if arrow[0] == passed[-1]]
        if not leaving:
            return passed
        unused.remove(leaving[0])
        passed.append(leaving[0][1])


def tree_edges(pairs: Pairs) -> Pairs:
    kept: Pairs = []
    for one, other in pairs:
        if one != other and other not in _fewest_steps(_both_ways(kept), one):
            kept.append((one, other))
    return kept


def turned_arrows(lists: Lists) -> Lists:
    numbers = sorted({*lists, *(number for others in lists.values() for number in others)})
    return {
        number: [key for key in sorted(lists) for other in lists[key] if other == number]
        for number in numbers
    }


def two_steps(pairs: Pairs) -> Pairs:
    return sorted({(start, end) for start, middle in pairs for again, end in pairs if middle == again})


def without_smallest(lists: Lists) -> Lists:
    smallest = min(lists)
    return {
        key: [number for number in lists[key] if number != smallest]
        for key in sorted(lists)
        if key != smallest
    }


IMPLEMENTATIONS = {
    "graphs/all_joined": all_joined,
    "graphs/arrivals": arrivals,
    "graphs/arrow_ends": arrow_ends,
    "graphs/arrows": arrows,
    "graphs/as_matrix": as_matrix,
    "graphs/breadth_first": breadth_first,
    "graphs/count_triangles": count_triangles,
    "graphs/degrees": degrees,
    "graphs/depth_first": depth_first,
    "graphs/fewest_edges": fewest_edges,
    "graphs/group_sizes": group_sizes,
    "graphs/has_round_trip": has_round_trip,
    "graphs/keys_of_values": keys_of_values,
    "graphs/longest_list": longest_list,
    "graphs/matrix_places": matrix_places,
    "graphs/neighbour_lists": neighbour_lists,
    "graphs/order_of_tasks": order_of_tasks,
    "graphs/paint_in_order": paint_in_order,
    "graphs/plain_edges": plain_edges,
    "graphs/ranking": ranking,
    "graphs/reached_from_first": reached_from_first,
    "graphs/steps_from_smallest": steps_from_smallest,
    "graphs/trail": trail,
    "graphs/tree_edges": tree_edges,
    "graphs/turned_arrows": turned_arrows,
    "graphs/two_steps": two_steps,
    "graphs/without_smallest": without_smallest,
}
