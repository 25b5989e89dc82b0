"""Second implementations of the bricks of encoding, from their rules alone."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def runs(text: str) -> list[str]:
    """The text cut into runs of the same character, each as long as possible."""
    found: list[str] = []
    for character in text:
        if found and found[-1][0] == character:
            found[-1] += character
        else:
            found.append(character)
    return found


def column_name(number: int) -> str:
    name = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        name = LETTERS[letter] + name
    return name


def column_number(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + LETTERS.index(letter) + 1
    return number


def digit_counts(number: int) -> dict[int, int]:
    digits = str(abs(number))
    return {int(digit): digits.count(digit) for digit in digits}


def gray_code(digits: str) -> str:
    written = digits[:1]
    for place in range(1, len(digits)):
        written += "1" if digits[place] != digits[place - 1] else "0"
    return written


def lengthen_runs(text: str) -> str:
    return "".join(int(text[place]) * text[place + 1] for place in range(0, len(text), 2))


def look_and_say(number: int) -> int:
    return int("".join(f"{len(run)}{run[0]}" for run in runs(str(number))))


def read_binary(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * 2 + int(digit)
    return number


def repeat_each(pairs: list[tuple[str, int]]) -> str:
    return "".join(text * max(number, 0) for text, number in pairs)


def run_lengths(text: str) -> list[tuple[str, int]]:
    return [(run[0], len(run)) for run in runs(text)]


def shorten_runs(text: str) -> str:
    return "".join(str(len(run)) + run[0] for run in runs(text))


def write_binary(number: int) -> str:
    return f"{number:b}"


IMPLEMENTATIONS = {
    "encoding/column_name": column_name,
    "encoding/column_number": column_number,
    "encoding/digit_counts": digit_counts,
    "encoding/gray_code": gray_code,
    "encoding/lengthen_runs": lengthen_runs,
    "encoding/look_and_say": look_and_say,
    "encoding/read_binary": read_binary,
    "encoding/repeat_each": repeat_each,
    "encoding/run_lengths": run_lengths,
    "encoding/shorten_runs": shorten_runs,
    "encoding/write_binary": write_binary,
}
