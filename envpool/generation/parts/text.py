"""Parts over one word of lower-case letters."""

# ruff: noqa: E501 - a table reads best with one part a line

from functools import partial

from envpool.generation.parts.part import Kind, Part, PartKind

_filter = partial(Part, does=PartKind.FILTER, takes=Kind.TEXT, gives=Kind.TEXT)
_map = partial(Part, does=PartKind.MAP, takes=Kind.TEXT, gives=Kind.TEXT)
_order = partial(Part, does=PartKind.ORDER, takes=Kind.TEXT, gives=Kind.TEXT)
_map_to_label = partial(Part, does=PartKind.MAP, takes=Kind.TEXT, gives=Kind.LABEL)
_aggregate = partial(Part, does=PartKind.AGGREGATE, takes=Kind.TEXT, gives=Kind.TEXT)
_count = partial(Part, does=PartKind.COUNT, takes=Kind.TEXT, gives=Kind.NUMBER)
_aggregate_to_number = partial(Part, does=PartKind.AGGREGATE, takes=Kind.TEXT, gives=Kind.NUMBER)
_compare = partial(Part, does=PartKind.COMPARE, takes=Kind.TEXT, gives=Kind.TRUTH)
_convert = partial(Part, does=PartKind.CONVERT, takes=Kind.TEXT, gives=Kind.NUMBERS)
_convert_to_words = partial(Part, does=PartKind.CONVERT, takes=Kind.TEXT, gives=Kind.WORDS)

TEXT: tuple[Part, ...] = (
    _filter("vowels", "keep only the vowels (a, e, i, o, u)", '"".join(c for c in {v} if c in "aeiou")'),
    _filter("consonants", "remove all vowels (a, e, i, o, u)", '"".join(c for c in {v} if c not in "aeiou")'),
    _filter("early", "keep only the letters that come before {k} in the alphabet", '"".join(c for c in {v} if c < "{k}")', ("h", "k", "m")),
    _filter("late", "keep only the letters that come after {k} in the alphabet", '"".join(c for c in {v} if c > "{k}")', ("e", "h", "k")),
    _filter("odd_places", "keep every second letter, starting with the first", "{v}[::2]"),
    _filter("even_places", "keep every second letter, starting with the second", "{v}[1::2]"),
    _filter("beheaded", "remove the first letter", "{v}[1:]"),
    _filter("curtailed", "remove the last letter", "{v}[:-1]"),
    _filter("once", "keep only the first occurrence of each letter", '"".join(dict.fromkeys({v}))', alone=False),
    _map("next", "move each letter forward by {k} in the alphabet (after z comes a)", '"".join(chr((ord(c) - 97 + {k}) % 26 + 97) for c in {v})', (1, 2, 3, 13)),
    _map("doubled", "write each letter twice", '"".join(c * 2 for c in {v})'),
    _map("repeated", "write the text twice in a row", "{v} * 2"),
    _map("mirror", "append the text in reverse order to itself", "{v} + {v}[::-1]"),
    _map("ending", 'append "{k}" at the end', '{v} + "{k}"', ("a", "ed", "ing", "s", "xyz")),
    _map("beginning", 'put "{k}" in front', '"{k}" + {v}', ("re", "un", "z", "abc")),
    _map("vowel_to", "replace each vowel (a, e, i, o, u) by {k}", '"".join("{k}" if c in "aeiou" else c for c in {v})', ("a", "o", "x"), alone=False),
    _order("backwards", "reverse the text", "{v}[::-1]"),
    _order("alphabetic", "sort the letters in alphabetical order", '"".join(sorted({v}))', ordered=False),
    _order("anti_alphabetic", "sort the letters in reverse alphabetical order", '"".join(sorted({v}, reverse=True))', ordered=False),
    _order("turn", "move the first letter to the end", "{v}[1:] + {v}[:1]"),
    _order("turn_back", "move the last letter to the front", "{v}[-1:] + {v}[:-1]"),
    _order("vowels_first", "put the vowels (a, e, i, o, u) before the other letters (otherwise keep the order)", '"".join(sorted({v}, key=lambda c: c not in "aeiou"))'),
    _map_to_label("capitals", "write the text in capital letters", "{v}.upper()"),
    _map_to_label("spaced", "put a dash between each two letters", '"-".join({v})'),
    _map_to_label("capital_vowels", "write each vowel (a, e, i, o, u) as a capital letter", '"".join(c.upper() if c in "aeiou" else c for c in {v})', alone=False),
    _aggregate("latest", "give the letter that comes last in the alphabet (nothing if there are no letters)", 'max({v}, default="")', ordered=False),
    _aggregate("earliest", "give the letter that comes first in the alphabet (nothing if there are no letters)", 'min({v}, default="")', ordered=False),
    _aggregate("outer", "give the first letter followed by the last letter", "{v}[:1] + {v}[-1:]", alone=False),
    _count("length", "give the number of letters", "len({v})", ordered=False),
    _count("vowel_count", "give how many of the letters are vowels (a, e, i, o, u)", 'sum(c in "aeiou" for c in {v})', ordered=False),
    _count("consonant_count", "give how many of the letters are not vowels (a, e, i, o, u)", 'sum(c not in "aeiou" for c in {v})', ordered=False),
    _count("letter_kinds", "give how many different letters there are", "len(set({v}))", ordered=False),
    _count("early_count", "give how many of the letters come before {k} in the alphabet", 'sum(c < "{k}" for c in {v})', ("h", "k", "m"), ordered=False),
    _count("climbs", "give how often a letter comes later in the alphabet than the letter just before it", "sum(b > a for a, b in itertools.pairwise({v}))", imports="itertools"),
    _aggregate_to_number("worth", "give the sum of the letters' positions in the alphabet (a is 1)", "sum(ord(c) - 96 for c in {v})", ordered=False),
    _compare("first_before_last", "decide whether the first letter comes before the last letter in the alphabet", "{v}[:1] < {v}[-1:]"),
    _compare("length_even", "decide whether the number of letters is even", "len({v}) % 2 == 0", ordered=False),
    _convert("positions", "replace each letter by its position in the alphabet (a is 1), as a list of numbers", "[ord(c) - 96 for c in {v}]"),
    _convert_to_words("chunks", "cut the text into words of {k} letters (the last one may be shorter)", "[{v}[i : i + {k}] for i in range(0, len({v}), {k})]", (2, 3)),
)  # fmt: skip
