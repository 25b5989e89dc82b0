"""Second implementations of the bricks of sets, from their rules alone."""

from itertools import combinations

Two = tuple[list[int], list[int]]
Pairs = list[tuple[int, int]]


def _merged(spans: Pairs) -> Pairs:
    merged: Pairs = []
    for start, end in sorted((min(span), max(span)) for span in spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def all_pairs(two: Two) -> Pairs:
    first, second = two
    return [(one, other) for one in first for other in second]


def covered(spans: Pairs) -> int:
    return sum(end - start + 1 for start, end in _merged(spans))


def gaps(numbers: list[int]) -> list[int]:
    if not numbers:
        return []
    return [number for number in range(min(numbers), max(numbers)) if number not in numbers]


def in_all_rows(rows: list[list[int]]) -> list[int]:
    return sorted({number for row in rows for number in row if all(number in other for other in rows)})


def in_and_out(numbers: list[int]) -> list[int]:
    bag: set[int] = set()
    for number in numbers:
        if number in bag:
            bag.remove(number)
        else:
            bag.add(number)
    return sorted(bag)


def in_both(two: Two) -> list[int]:
    return sorted(set(two[0]) & set(two[1]))


def in_just_one(two: Two) -> list[int]:
    return sorted(set(two[0]) ^ set(two[1]))


def merged_spans(spans: Pairs) -> Pairs:
    return _merged(spans)


def most_frequent(numbers: list[int]) -> list[int]:
    most = max((numbers.count(number) for number in numbers), default=0)
    return sorted({number for number in numbers if numbers.count(number) == most})


def overlap(two: Two) -> tuple[int, int]:
    first, second = set(two[0]), set(two[1])
    return len(first & second), len(first | second)


def places_in_first(two: Two) -> list[int]:
    first, second = two
    return [first.index(number) + 1 if number in first else 0 for number in second]


def possible_sums(numbers: list[int]) -> list[int]:
    sums = {0}
    for number in numbers:
        sums |= {before + number for before in sums}
    return sorted(sums)


def runs(numbers: list[int]) -> Pairs:
    found: Pairs = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def second_within_first(two: Two) -> bool:
    return all(number in two[0] for number in two[1])


def side_by_side(two: Two) -> Pairs:
    return [(two[0][place], two[1][place]) for place in range(min(len(two[0]), len(two[1])))]


def single_and_repeated(numbers: list[int]) -> Two:
    different = sorted(set(numbers))
    single = [number for number in different if numbers.count(number) == 1]
    return single, [number for number in different if numbers.count(number) > 1]


def smallest_missing(numbers: list[int]) -> int:
    number = 0
    while number in numbers:
        number += 1
    return number


def subsets(numbers: list[int]) -> list[list[int]]:
    different = sorted(set(numbers))
    return [list(chosen) for size in range(len(different) + 1) for chosen in combinations(different, size)]


def take_away(two: Two) -> list[int]:
    left = list(two[0])
    for number in two[1]:
        if number in left:
            left.remove(number)
    return left


def turn_about(two: Two) -> list[int]:
    first, second = list(two[0]), list(two[1])
    taken: list[int] = []
    while first and second:
        taken.append(first.pop(0))
        taken.append(second.pop(0))
    return taken + first + second


def two_halves(numbers: list[int]) -> Two:
    middle = (len(numbers) + 1) // 2
    return numbers[:middle], numbers[middle:]


def two_of_them(numbers: list[int]) -> Pairs:
    different = sorted(set(numbers))
    return [(smaller, larger) for smaller in different for larger in different if smaller < larger]


def union(two: Two) -> list[int]:
    return sorted(set(two[0]) | set(two[1]))


def unshared_sides(two: Two) -> Two:
    first, second = set(two[0]), set(two[1])
    return sorted(first - second), sorted(second - first)


IMPLEMENTATIONS = {
    "sets/all_pairs": all_pairs,
    "sets/covered": covered,
    "sets/gaps": gaps,
    "sets/in_all_rows": in_all_rows,
    "sets/in_and_out": in_and_out,
    "sets/in_both": in_both,
    "sets/in_just_one": in_just_one,
    "sets/merged_spans": merged_spans,
    "sets/most_frequent": most_frequent,
    "sets/overlap": overlap,
    "sets/places_in_first": places_in_first,
    "sets/possible_sums": possible_sums,
    "sets/runs": runs,
    "sets/second_within_first": second_within_first,
    "sets/side_by_side": side_by_side,
    "sets/single_and_repeated": single_and_repeated,
    "sets/smallest_missing": smallest_missing,
    "sets/subsets": subsets,
    "sets/take_away": take_away,
    "sets/turn_about": turn_about,
    "sets/two_halves": two_halves,
    "sets/two_of_them": two_of_them,
    "sets/union": union,
    "sets/unshared_sides": unshared_sides,
}
