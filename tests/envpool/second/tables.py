"""Second implementations of the bricks of tables, from their rules alone."""

Table = list[tuple[int, int]]


def firsts(pairs: Table) -> list[int]:
    return [first for first, _ in pairs]


def last_second(pairs: Table) -> int:
    _, second = pairs[-1]
    return second


def sort_by_second(pairs: Table) -> Table:
    return sorted(pairs, key=lambda pair: pair[1])


def sum_each(pairs: Table) -> list[int]:
    return [first + second for first, second in pairs]


def swap_each(pairs: Table) -> Table:
    return [(second, first) for first, second in pairs]


IMPLEMENTATIONS = {
    "tables/firsts": firsts,
    "tables/last_second": last_second,
    "tables/sort_by_second": sort_by_second,
    "tables/sum_each": sum_each,
    "tables/swap_each": swap_each,
}
