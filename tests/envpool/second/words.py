"""Second implementations of the bricks of words, from their rules alone."""


def count_items(entries: list[str]) -> int:
    return len(entries)


def first_item(entries: list[str]) -> str:
    return entries[0]


def initials(entries: list[str]) -> str:
    return "".join(entry[:1] for entry in entries)


def join_dash(entries: list[str]) -> str:
    return "-".join(entries)


def join_spaces(entries: list[str]) -> str:
    return " ".join(entries)


def last_item(entries: list[str]) -> str:
    return entries[-1]


def length_of_each(entries: list[str]) -> dict[str, int]:
    return {entry: len(entry) for entry in entries}


def lengths(entries: list[str]) -> list[int]:
    return [len(entry) for entry in entries]


def longest_item(entries: list[str]) -> str:
    longest = max(lengths(entries))
    return next(entry for entry in entries if len(entry) == longest)


def reverse_items(entries: list[str]) -> list[str]:
    return entries[::-1]


def sort_items(entries: list[str]) -> list[str]:
    return sorted(entries, key=len)


def total_length(entries: list[str]) -> int:
    return sum(lengths(entries))


def upper_items(entries: list[str]) -> list[str]:
    return [entry.upper() for entry in entries]


IMPLEMENTATIONS = {
    "words/count_items": count_items,
    "words/first_item": first_item,
    "words/initials": initials,
    "words/join_dash": join_dash,
    "words/join_spaces": join_spaces,
    "words/last_item": last_item,
    "words/length_of_each": length_of_each,
    "words/lengths": lengths,
    "words/longest_item": longest_item,
    "words/reverse_items": reverse_items,
    "words/sort_items": sort_items,
    "words/total_length": total_length,
    "words/upper_items": upper_items,
}
