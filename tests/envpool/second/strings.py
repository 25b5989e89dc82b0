"""Second implementations of the bricks of strings, from their rules alone."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
VOWELS = "aeiouAEIOU"


def add_mark(text: str) -> str:
    return text + "!"


def add_prefix(text: str) -> str:
    return "re-" + text


def alphabet_place(text: str) -> int:
    letters = [letter for letter in text.lower() if letter in ALPHABET]
    return ALPHABET.index(letters[0]) + 1


def contains_e(text: str) -> bool:
    return "e" in text


def count_characters(text: str) -> int:
    return len(text)


def count_letter_a(text: str) -> int:
    return text.count("a")


def count_vowels(text: str) -> int:
    return len([letter for letter in text if letter in VOWELS])


def count_words(text: str) -> int:
    return len(split_words(text))


def dashes_for_spaces(text: str) -> str:
    return text.replace(" ", "-")


def double_letters(text: str) -> str:
    return "".join(character * 2 for character in text)


def first_letter(text: str) -> str:
    return text[0]


def first_to_end(text: str) -> str:
    return text[1:] + text[:1]


def first_word(text: str) -> str:
    return split_words(text)[0]


def in_brackets(text: str) -> str:
    return f"({text})"


def last_letter(text: str) -> str:
    return text[-1]


def last_word(text: str) -> str:
    return split_words(text)[-1]


def letter_counts(text: str) -> dict[str, int]:
    return {character: text.count(character) for character in set(text)}


def next_letters(text: str) -> str:
    return text.translate(str.maketrans(ALPHABET, ALPHABET[1:] + "a"))


def reads_backwards(text: str) -> bool:
    return text == reverse_text(text)


def repeat_twice(text: str) -> str:
    return f"{text} {text}"


def reverse_text(text: str) -> str:
    return text[::-1]


def same_ends(text: str) -> bool:
    return text[0] == text[-1]


def sort_letters(text: str) -> str:
    return "".join(sorted(letter for letter in text if letter in ALPHABET))


def split_letters(text: str) -> list[str]:
    return list(text)


def split_words(text: str) -> list[str]:
    return text.split()


def swap_ends(text: str) -> str:
    if len(text) < 2:
        return text
    return text[-1] + text[1:-1] + text[0]


def upper_case(text: str) -> str:
    return text.upper()


def without_vowels(text: str) -> str:
    return "".join(letter for letter in text if letter not in VOWELS)


def word_lengths(text: str) -> list[int]:
    return [len(word) for word in split_words(text)]


IMPLEMENTATIONS = {
    "strings/add_mark": add_mark,
    "strings/add_prefix": add_prefix,
    "strings/alphabet_place": alphabet_place,
    "strings/contains_e": contains_e,
    "strings/count_characters": count_characters,
    "strings/count_letter_a": count_letter_a,
    "strings/count_vowels": count_vowels,
    "strings/count_words": count_words,
    "strings/dashes_for_spaces": dashes_for_spaces,
    "strings/double_letters": double_letters,
    "strings/first_letter": first_letter,
    "strings/first_to_end": first_to_end,
    "strings/first_word": first_word,
    "strings/in_brackets": in_brackets,
    "strings/last_letter": last_letter,
    "strings/last_word": last_word,
    "strings/letter_counts": letter_counts,
    "strings/next_letters": next_letters,
    "strings/reads_backwards": reads_backwards,
    "strings/repeat_twice": repeat_twice,
    "strings/reverse_text": reverse_text,
    "strings/same_ends": same_ends,
    "strings/sort_letters": sort_letters,
    "strings/split_letters": split_letters,
    "strings/split_words": split_words,
    "strings/swap_ends": swap_ends,
    "strings/upper_case": upper_case,
    "strings/without_vowels": without_vowels,
    "strings/word_lengths": word_lengths,
}
