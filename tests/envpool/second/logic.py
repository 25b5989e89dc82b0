"""Second implementations of the bricks of logic, from their rules alone."""


def all_true(flags: list[bool]) -> bool:
    return False not in flags


def count_true(flags: list[bool]) -> int:
    return flags.count(True)


def even_flags(numbers: list[int]) -> list[bool]:
    return [number % 2 == 0 for number in numbers]


def flip(flags: list[bool]) -> list[bool]:
    return [not flag for flag in flags]


def odd_trues(flags: list[bool]) -> bool:
    return flags.count(True) % 2 == 1


IMPLEMENTATIONS = {
    "logic/all_true": all_true,
    "logic/count_true": count_true,
    "logic/even_flags": even_flags,
    "logic/flip": flip,
    "logic/odd_trues": odd_trues,
}
