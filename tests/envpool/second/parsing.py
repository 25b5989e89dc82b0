"""Second implementations of the bricks of parsing, from their rules alone."""

import math
import re


def applied(operator: str, one: int, other: int) -> int:
    if operator == "+":
        return one + other
    if operator == "-":
        return one - other
    return one * other


def numbers_and_operators(text: str) -> list[str]:
    return re.findall("[0-9]+|[-+*]", text)


def bracket_height(text: str) -> int:
    height = 0
    largest = 0
    for character in text:
        if character == "(":
            height += 1
        elif character == ")":
            height -= 1
        largest = max(largest, height)
    return largest


def bracket_pairs(text: str) -> list[tuple[int, int]]:
    waiting: list[int] = []
    pairs: list[tuple[int, int]] = []
    for place, character in enumerate(text):
        if character == "(":
            waiting.append(place)
        elif character == ")":
            pairs.append((waiting.pop(), place))
    return sorted(pairs)


def brackets_match(text: str) -> bool:
    still_open = 0
    for character in text:
        if character == "(":
            still_open += 1
        elif character == ")":
            if still_open == 0:
                return False
            still_open -= 1
    return still_open == 0


def csv_fields(text: str) -> list[str]:
    return [field.strip(" ") for field in text.split(",")]


def csv_line(entries: list[str]) -> str:
    return ",".join(f"'{entry}'" if "," in entry or " " in entry else entry for entry in entries)


def cut_at_digits(text: str) -> list[str]:
    return re.findall("[0-9]+|[^0-9]+", text)


def evaluate_postfix(text: str) -> int:
    values: list[int] = []
    for part in text.split():
        if part in ("+", "-", "*"):
            b = values.pop()
            a = values.pop()
            values.append(applied(part, a, b))
        else:
            values.append(int(part))
    return values[-1]


def evaluate_sum(text: str) -> int:
    return sum(int(number) for number in re.findall("[-+]?[0-9]+", text))


def expand_ranges(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        start, dash, end = part.partition("-")
        if dash:
            numbers.extend(range(int(start), int(end) + 1))
        else:
            numbers.append(int(part))
    return numbers


def left_to_right(text: str) -> int:
    parts = numbers_and_operators(text)
    value = int(parts[0])
    for place in range(1, len(parts), 2):
        value = applied(parts[place], value, int(parts[place + 1]))
    return value


def nest_brackets(numbers: list[int]) -> str:
    return "".join("(" * number + ")" * number for number in numbers)


def numbers_in_text(text: str) -> list[int]:
    return [int(digits) for digits in re.findall("[0-9]+", text)]


def products_first(text: str) -> int:
    return sum(math.prod(int(number) for number in product.split("*")) for product in text.split("+"))


def read_roman(text: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}[sign] for sign in text]
    number = 0
    for place, value in enumerate(values):
        if place + 1 < len(values) and values[place + 1] > value:
            number -= value
        else:
            number += value
    return number


def read_scores(text: str) -> list[tuple[str, int]]:
    pairs: list[tuple[str, int]] = []
    for entry in text.split(","):
        name, number = entry.split(":")
        pairs.append((name, int(number)))
    return pairs


def read_settings(text: str) -> dict[str, int]:
    settings: dict[str, int] = {}
    for setting in text.split(";"):
        name, number = setting.split("=")
        settings[name] = int(number)
    return settings


def split_at_space(text: str) -> tuple[str, str]:
    before, _, after = text.partition(" ")
    return before, after


def write_plus_times(numbers: list[int]) -> str:
    written = ""
    for place, number in enumerate(numbers):
        if place > 0:
            written += "+" if place % 2 == 1 else "*"
        written += str(number)
    return written


def write_postfix(text: str) -> str:
    parts = numbers_and_operators(text)
    written = parts[:1]
    for place in range(1, len(parts), 2):
        written += [parts[place + 1], parts[place]]
    return " ".join(written)


def write_ranges(numbers: list[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def write_roman(number: int) -> str:
    signs = [("M", 1000), ("CM", 900), ("D", 500), ("CD", 400), ("C", 100), ("XC", 90), ("L", 50), ("XL", 40)]
    signs += [("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)]
    written = ""
    for sign, value in signs:
        while number >= value:
            written += sign
            number -= value
    return written


def write_scores(pairs: list[tuple[str, int]]) -> str:
    return ",".join(f"{name}:{number}" for name, number in pairs)


def write_settings(settings: dict[str, int]) -> str:
    return ";".join(f"{name}={settings[name]}" for name in sorted(settings))


def write_signed(numbers: list[int]) -> str:
    return "".join(f"{number:+d}" for number in numbers)


IMPLEMENTATIONS = {
    "parsing/bracket_height": bracket_height,
    "parsing/bracket_pairs": bracket_pairs,
    "parsing/brackets_match": brackets_match,
    "parsing/csv_fields": csv_fields,
    "parsing/csv_line": csv_line,
    "parsing/cut_at_digits": cut_at_digits,
    "parsing/evaluate_postfix": evaluate_postfix,
    "parsing/evaluate_sum": evaluate_sum,
    "parsing/expand_ranges": expand_ranges,
    "parsing/left_to_right": left_to_right,
    "parsing/nest_brackets": nest_brackets,
    "parsing/numbers_in_text": numbers_in_text,
    "parsing/products_first": products_first,
    "parsing/read_roman": read_roman,
    "parsing/read_scores": read_scores,
    "parsing/read_settings": read_settings,
    "parsing/split_at_space": split_at_space,
    "parsing/write_plus_times": write_plus_times,
    "parsing/write_postfix": write_postfix,
    "parsing/write_ranges": write_ranges,
    "parsing/write_roman": write_roman,
    "parsing/write_scores": write_scores,
    "parsing/write_settings": write_settings,
    "parsing/write_signed": write_signed,
}
