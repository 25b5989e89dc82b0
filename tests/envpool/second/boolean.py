"""Second implementations of the bricks of boolean, from their rules alone."""


def number_in_base_two(digits: list[bool]) -> int:
    number = 0
    for digit in digits:
        number = number * 2 + (1 if digit else 0)
    return number


def truth_of(formula: str, values: dict[str, bool]) -> bool:
    """The value of a formula with !, & and |: ! binds strongest, then &, then |."""

    def truth_of_part(part: str) -> bool:
        if part[0] == "!":
            return not truth_of_part(part[1:])
        return values[part]

    return any(all(truth_of_part(part) for part in term.split("&")) for term in formula.split("|"))


def add_binary(lists: tuple[list[bool], list[bool]]) -> int:
    return number_in_base_two(lists[0]) + number_in_base_two(lists[1])


def against_ends(numbers: list[int]) -> tuple[list[bool], list[bool]]:
    return [number > numbers[0] for number in numbers], [number < numbers[-1] for number in numbers]


def as_brackets(entries: list[bool]) -> str:
    return "".join("(" if entry else ")" for entry in entries)


def binary_digits(number: int) -> list[bool]:
    return [digit == "1" for digit in f"{number:b}"]


def both_true(lists: tuple[list[bool], list[bool]]) -> list[bool]:
    return [one and other for one, other in zip(*lists, strict=False)]


def count_differences(lists: tuple[list[bool], list[bool]]) -> int:
    first, second = lists
    differing = [place for place in range(min(len(first), len(second))) if first[place] != second[place]]
    return len(differing) + abs(len(first) - len(second))


def dual(formula: str) -> str:
    return formula.translate(str.maketrans("&|TF", "|&FT"))


def evaluate(formula: str) -> bool:
    return truth_of(formula, {"T": True, "F": False})


def halves(entries: list[bool]) -> tuple[list[bool], list[bool]]:
    middle = (len(entries) + 1) // 2
    return entries[:middle], entries[middle:]


def halves_agree(entries: list[bool]) -> bool:
    half = len(entries) // 2
    return entries[:half].count(True) == entries[len(entries) - half :].count(True)


def longest_true_run(entries: list[bool]) -> int:
    longest = 0
    current = 0
    for entry in entries:
        current = current + 1 if entry else 0
        longest = max(longest, current)
    return longest


def neighbours_differ(entries: list[bool]) -> list[bool]:
    return [entries[place] != entries[place + 1] for place in range(len(entries) - 1)]


def places_of_true(entries: list[bool]) -> list[int]:
    return [place for place, entry in enumerate(entries) if entry]


def rises(numbers: list[int]) -> list[bool]:
    return [numbers[place] > numbers[place - 1] for place in range(1, len(numbers))]


def run_lengths(entries: list[bool]) -> list[int]:
    lengths: list[int] = []
    for place, entry in enumerate(entries):
        if place > 0 and entry == entries[place - 1]:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def running_parity(entries: list[bool]) -> list[bool]:
    return [entries[: place + 1].count(True) % 2 == 1 for place in range(len(entries))]


def smooth(entries: list[bool]) -> list[bool]:
    padded = [False, *entries, False]
    return [padded[place : place + 3].count(True) >= 2 for place in range(len(entries))]


def to_number(entries: list[bool]) -> int:
    return number_in_base_two(entries)


def truth_table(formula: str) -> list[bool]:
    rows = [(False, False), (False, True), (True, False), (True, True)]
    return [truth_of(formula, {"a": a, "b": b}) for a, b in rows]


def vowel_flags(text: str) -> list[bool]:
    return [character in "aeiouAEIOU" for character in text]


def write_formula(entries: list[bool]) -> str:
    written = ""
    for place, entry in enumerate(entries):
        if place > 0:
            written += "&" if place % 2 == 1 else "|"
        written += "T" if entry else "F"
    return written


IMPLEMENTATIONS = {
    "boolean/add_binary": add_binary,
    "boolean/against_ends": against_ends,
    "boolean/as_brackets": as_brackets,
    "boolean/binary_digits": binary_digits,
    "boolean/both_true": both_true,
    "boolean/count_differences": count_differences,
    "boolean/dual": dual,
    "boolean/evaluate": evaluate,
    "boolean/halves": halves,
    "boolean/halves_agree": halves_agree,
    "boolean/longest_true_run": longest_true_run,
    "boolean/neighbours_differ": neighbours_differ,
    "boolean/places_of_true": places_of_true,
    "boolean/rises": rises,
    "boolean/run_lengths": run_lengths,
    "boolean/running_parity": running_parity,
    "boolean/smooth": smooth,
    "boolean/to_number": to_number,
    "boolean/truth_table": truth_table,
    "boolean/vowel_flags": vowel_flags,
    "boolean/write_formula": write_formula,
}
