"""Second implementations of the bricks of algorithms, from their rules alone."""


def best_block(numbers: list[int]) -> int:
    best_ending_here = numbers[0]
    best = numbers[0]
    for number in numbers[1:]:
        best_ending_here = max(best_ending_here, 0) + number
        best = max(best, best_ending_here)
    return best


def boxes(numbers: list[int]) -> list[int]:
    sums: list[int] = []
    for number in numbers:
        if sums and sums[-1] + number <= 20:
            sums[-1] += number
        else:
            sums.append(number)
    return sums


def by_value(values: dict[int, int]) -> list[int]:
    return sorted(values, key=lambda key: (-values[key], key))


def common_subsequence(lists: tuple[list[int], list[int]]) -> int:
    first, second = lists
    row = [0] * (len(second) + 1)
    for number in first:
        above, row = row, [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if number == other else max(above[place + 1], row[place]))
    return row[-1]


def count_by_length(entries: list[str]) -> dict[int, int]:
    lengths = [len(entry) for entry in entries]
    return {length: lengths.count(length) for length in lengths}


def count_each(entries: list[str]) -> dict[str, int]:
    return {entry: entries.count(entry) for entry in entries}


def edit_distance(texts: tuple[str, str]) -> int:
    first, second = texts
    row = list(range(len(second) + 1))
    for made, character in enumerate(first, start=1):
        above, row = row, [made]
        for place, other in enumerate(second):
            replaced = above[place] + (0 if character == other else 1)
            row.append(min(replaced, above[place + 1] + 1, row[place] + 1))
    return row[-1]


def evens_and_odds(numbers: list[int]) -> tuple[list[int], list[int]]:
    return [number for number in numbers if number % 2 == 0], [
        number for number in numbers if number % 2 != 0
    ]


def every_nth(text_and_number: tuple[str, int]) -> str:
    text, number = text_and_number
    return "".join(character for place, character in enumerate(text) if place % number == 0)


def fewest_coins(amount: int) -> int:
    """Twelve coins of 5 are worth five of 12, twelve of 7 seven of 12, and five of 1 one of 5: more are never best."""
    best = amount
    for ones in range(5):
        for fives in range(12):
            for sevens in range(12):
                rest = amount - ones - 5 * fives - 7 * sevens
                if rest >= 0 and rest % 12 == 0:
                    best = min(best, ones + fives + sevens + rest // 12)
    return best


def first_and_last(entries: list[str]) -> tuple[str, str]:
    first, last = sorted([entries[0], entries[-1]])
    return first, last


def follow(steps: dict[int, int]) -> list[int]:
    if not steps:
        return []
    here = min(steps)
    visited = [here]
    while here in steps and steps[here] not in visited:
        here = steps[here]
        visited.append(here)
    return visited


def hop(numbers: list[int]) -> list[int]:
    stood_on: list[int] = []
    place = 0
    while place < len(numbers):
        if numbers[place] < 1:
            raise ValueError("A walk that does not go right never leaves the list.")
        stood_on.append(numbers[place])
        place += numbers[place]
    return stood_on


def interleave(texts: tuple[str, str]) -> str:
    first, second = texts
    both = min(len(first), len(second))
    return "".join(first[place] + second[place] for place in range(both)) + first[both:] + second[both:]


def largest_so_far(numbers: list[int]) -> list[int]:
    return [max(numbers[: place + 1]) for place in range(len(numbers))]


def longest_rise(numbers: list[int]) -> int:
    longest = 0
    current = 0
    for place, number in enumerate(numbers):
        current = current + 1 if place > 0 and number > numbers[place - 1] else 1
        longest = max(longest, current)
    return longest


def longest_with_length(entries: list[str]) -> tuple[str, int]:
    longest = entries[0]
    for entry in entries:
        if len(entry) >= len(longest):
            longest = entry
    return longest, len(longest)


def merge(lists: tuple[list[int], list[int]]) -> list[int]:
    first, second = list(lists[0]), list(lists[1])
    merged: list[int] = []
    while first and second:
        merged.append(first.pop(0) if first[0] <= second[0] else second.pop(0))
    return merged + first + second


def most_frequent(numbers: list[int]) -> int:
    return min(numbers, key=lambda number: (-numbers.count(number), number))


def names_by_number(pairs: list[tuple[str, int]]) -> list[str]:
    return [name for name, _ in sorted(pairs, key=lambda pair: pair[1])]


def no_neighbours(numbers: list[int]) -> int:
    best, best_without_last = 0, 0
    for number in numbers:
        best, best_without_last = max(best, best_without_last + number), best
    return best


def rain_water(heights: list[int]) -> int:
    water = 0
    for place, height in enumerate(heights):
        water += min(max(heights[: place + 1]), max(heights[place:])) - height
    return water


def ranking(scores: dict[str, int]) -> list[tuple[str, int]]:
    return [(name, scores[name]) for name in sorted(scores, key=lambda name: (-scores[name], name))]


def ranks(numbers: list[int]) -> list[int]:
    return [len([other for other in numbers if other < number]) for number in numbers]


def tally(numbers: list[int]) -> dict[int, int]:
    return {number: numbers.count(number) for number in numbers}


def total_by_name(pairs: list[tuple[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for name, number in pairs:
        totals[name] = totals.get(name, 0) + number
    return totals


def wait_for_larger(numbers: list[int]) -> list[int]:
    waits: list[int] = []
    for place, number in enumerate(numbers):
        larger = [later for later in range(place + 1, len(numbers)) if numbers[later] > number]
        waits.append(larger[0] - place if larger else 0)
    return waits


def winner(pairs: list[tuple[str, int]]) -> tuple[str, int]:
    best = pairs[0]
    for pair in pairs:
        if pair[1] > best[1]:
            best = pair
    return best


def with_vowels(entries: list[str]) -> list[tuple[str, int]]:
    return [
        (entry, len([character for character in entry if character in "aeiouAEIOU"])) for entry in entries
    ]


def write_out_tally(counts: dict[int, int]) -> list[int]:
    return [key for key in sorted(counts) for _ in range(counts[key])]


IMPLEMENTATIONS = {
    "algorithms/best_block": best_block,
    "algorithms/boxes": boxes,
    "algorithms/by_value": by_value,
    "algorithms/common_subsequence": common_subsequence,
    "algorithms/count_by_length": count_by_length,
    "algorithms/count_each": count_each,
    "algorithms/edit_distance": edit_distance,
    "algorithms/evens_and_odds": evens_and_odds,
    "algorithms/every_nth": every_nth,
    "algorithms/fewest_coins": fewest_coins,
    "algorithms/first_and_last": first_and_last,
    "algorithms/follow": follow,
    "algorithms/hop": hop,
    "algorithms/interleave": interleave,
    "algorithms/largest_so_far": largest_so_far,
    "algorithms/longest_rise": longest_rise,
    "algorithms/longest_with_length": longest_with_length,
    "algorithms/merge": merge,
    "algorithms/most_frequent": most_frequent,
    "algorithms/names_by_number": names_by_number,
    "algorithms/no_neighbours": no_neighbours,
    "algorithms/rain_water": rain_water,
    "algorithms/ranking": ranking,
    "algorithms/ranks": ranks,
    "algorithms/tally": tally,
    "algorithms/total_by_name": total_by_name,
    "algorithms/wait_for_larger": wait_for_larger,
    "algorithms/winner": winner,
    "algorithms/with_vowels": with_vowels,
    "algorithms/write_out_tally": write_out_tally,
}
