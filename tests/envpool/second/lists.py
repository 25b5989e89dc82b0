"""Second implementations of the bricks of lists, from their rules alone."""


def add_one_each(numbers: list[int]) -> list[int]:
    return [number + 1 for number in numbers]


def append_zero(numbers: list[int]) -> list[int]:
    return [*numbers, 0]


def count_different(numbers: list[int]) -> int:
    return len(set(numbers))


def count_even(numbers: list[int]) -> int:
    return len([number for number in numbers if number % 2 == 0])


def count_numbers(numbers: list[int]) -> int:
    return len(numbers)


def double_each(numbers: list[int]) -> list[int]:
    return [number * 2 for number in numbers]


def ends(numbers: list[int]) -> tuple[int, int]:
    return numbers[0], numbers[-1]


def first_number(numbers: list[int]) -> int:
    return numbers[0]


def first_to_end(numbers: list[int]) -> list[int]:
    return numbers[1:] + numbers[:1]


def is_sorted(numbers: list[int]) -> bool:
    return all(numbers[place - 1] <= numbers[place] for place in range(1, len(numbers)))


def join_numbers(numbers: list[int]) -> str:
    return "-".join(str(number) for number in numbers)


def keep_even(numbers: list[int]) -> list[int]:
    return [number for number in numbers if number % 2 == 0]


def largest(numbers: list[int]) -> int:
    return max(numbers)


def last_number(numbers: list[int]) -> int:
    return numbers[-1]


def neighbour_pairs(numbers: list[int]) -> list[tuple[int, int]]:
    return [(numbers[place], numbers[place + 1]) for place in range(len(numbers) - 1)]


def remove_repeats(numbers: list[int]) -> list[int]:
    kept: list[int] = []
    for number in numbers:
        if number not in kept:
            kept.append(number)
    return kept


def reverse_list(numbers: list[int]) -> list[int]:
    return numbers[::-1]


def running_totals(numbers: list[int]) -> list[int]:
    return [sum(numbers[: place + 1]) for place in range(len(numbers))]


def second_number(numbers: list[int]) -> int:
    return numbers[1]


def smallest(numbers: list[int]) -> int:
    return min(numbers)


def sort_down(numbers: list[int]) -> list[int]:
    return sorted(numbers, reverse=True)


def sort_up(numbers: list[int]) -> list[int]:
    return sorted(numbers)


def spread(numbers: list[int]) -> int:
    return max(numbers) - min(numbers)


def steps(numbers: list[int]) -> list[int]:
    return [numbers[place] - numbers[place - 1] for place in range(1, len(numbers))]


def total(numbers: list[int]) -> int:
    return sum(numbers)


IMPLEMENTATIONS = {
    "lists/add_one_each": add_one_each,
    "lists/append_zero": append_zero,
    "lists/count_different": count_different,
    "lists/count_even": count_even,
    "lists/count_numbers": count_numbers,
    "lists/double_each": double_each,
    "lists/ends": ends,
    "lists/first_number": first_number,
    "lists/first_to_end": first_to_end,
    "lists/is_sorted": is_sorted,
    "lists/join_numbers": join_numbers,
    "lists/keep_even": keep_even,
    "lists/largest": largest,
    "lists/last_number": last_number,
    "lists/neighbour_pairs": neighbour_pairs,
    "lists/remove_repeats": remove_repeats,
    "lists/reverse_list": reverse_list,
    "lists/running_totals": running_totals,
    "lists/second_number": second_number,
    "lists/smallest": smallest,
    "lists/sort_down": sort_down,
    "lists/sort_up": sort_up,
    "lists/spread": spread,
    "lists/steps": steps,
    "lists/total": total,
}
