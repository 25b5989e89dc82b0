"""Second implementations of the bricks of ciphers, from their rules alone."""

SMALL = "abcdefghijklmnopqrstuvwxyz"
CAPITAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def moved(character: str, places: int) -> str:
    """A small letter moved forward in the alphabet, anything else as it is."""
    if character not in SMALL:
        return character
    return SMALL[(SMALL.index(character) + places) % 26]


def add_letter_before(text: str) -> str:
    written = text[:1]
    for place in range(1, len(text)):
        written += SMALL[(SMALL.index(text[place]) + SMALL.index(text[place - 1])) % 26]
    return written


def even_then_odd(text: str) -> str:
    return text[::2] + text[1::2]


def key_word(text_and_key: tuple[str, str]) -> str:
    text, key = text_and_key
    if key == "":
        return text
    written = ""
    for place, character in enumerate(text):
        under = key[place % len(key)]
        written += moved(character, SMALL.index(under) if under in SMALL else 0)
    return written


def letter_numbers(text: str) -> list[int]:
    return [SMALL.index(character) + 1 for character in text if character in SMALL]


def mirror_alphabet(text: str) -> str:
    return text.translate(str.maketrans(SMALL + CAPITAL, SMALL[::-1] + CAPITAL[::-1]))


def numbers_to_letters(numbers: list[int]) -> str:
    return "".join(SMALL[number % 26] for number in numbers)


def outside_in(text: str) -> str:
    written = ""
    left = list(text)
    while left:
        written += left.pop(0)
        if left:
            written += left.pop()
    return written


def pig_latin(entries: list[str]) -> list[str]:
    return [entry[1:] + entry[:1] + "ay" for entry in entries]


def read_columns(text: str) -> str:
    return text[0::3] + text[1::3] + text[2::3]


def reverse_each_word(text: str) -> str:
    return " ".join(word[::-1] for word in text.split(" "))


def shift_by_index(text: str) -> str:
    return "".join(moved(character, place) for place, character in enumerate(text))


def shift_by_number(text_and_number: tuple[str, int]) -> str:
    text, number = text_and_number
    return "".join(moved(character, number) for character in text)


def swap_neighbours(text: str) -> str:
    return "".join(text[place : place + 2][::-1] for place in range(0, len(text), 2))


def thirteen_on(text: str) -> str:
    further = SMALL[13:] + SMALL[:13] + CAPITAL[13:] + CAPITAL[:13]
    return text.translate(str.maketrans(SMALL + CAPITAL, further))


IMPLEMENTATIONS = {
    "ciphers/add_letter_before": add_letter_before,
    "ciphers/even_then_odd": even_then_odd,
    "ciphers/key_word": key_word,
    "ciphers/letter_numbers": letter_numbers,
    "ciphers/mirror_alphabet": mirror_alphabet,
    "ciphers/numbers_to_letters": numbers_to_letters,
    "ciphers/outside_in": outside_in,
    "ciphers/pig_latin": pig_latin,
    "ciphers/read_columns": read_columns,
    "ciphers/reverse_each_word": reverse_each_word,
    "ciphers/shift_by_index": shift_by_index,
    "ciphers/shift_by_number": shift_by_number,
    "ciphers/swap_neighbours": swap_neighbours,
    "ciphers/thirteen_on": thirteen_on,
}
