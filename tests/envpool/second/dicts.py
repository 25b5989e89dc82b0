"""Second implementations of the bricks of dicts, from their rules alone."""


def add_one_values(numbers: dict[str, int]) -> dict[str, int]:
    return {key: value + 1 for key, value in numbers.items()}


def best_key(numbers: dict[str, int]) -> str:
    largest = max(numbers.values())
    return min(key for key, value in numbers.items() if value == largest)


def count_keys(numbers: dict[str, int]) -> int:
    return len(numbers)


def keys_above_four(numbers: dict[str, int]) -> list[str]:
    return sorted(key for key, value in numbers.items() if value > 4)


def largest_value(numbers: dict[str, int]) -> int:
    return max(numbers.values())


def sorted_keys(numbers: dict[str, int]) -> list[str]:
    return sorted(numbers)


def total_values(numbers: dict[str, int]) -> int:
    return sum(numbers.values())


def values_by_key(numbers: dict[str, int]) -> list[int]:
    return [numbers[key] for key in sorted(numbers)]


IMPLEMENTATIONS = {
    "dicts/add_one_values": add_one_values,
    "dicts/best_key": best_key,
    "dicts/count_keys": count_keys,
    "dicts/keys_above_four": keys_above_four,
    "dicts/largest_value": largest_value,
    "dicts/sorted_keys": sorted_keys,
    "dicts/total_values": total_values,
    "dicts/values_by_key": values_by_key,
}
