"""Parts over lists of lower-case words."""

# ruff: noqa: E501 - a table reads best with one part a line

from functools import partial

from envpool.generation.parts.part import Kind, Part, PartKind

_filter = partial(Part, does=PartKind.FILTER, takes=Kind.WORDS, gives=Kind.WORDS)
_map = partial(Part, does=PartKind.MAP, takes=Kind.WORDS, gives=Kind.WORDS)
_order = partial(Part, does=PartKind.ORDER, takes=Kind.WORDS, gives=Kind.WORDS)
_aggregate = partial(Part, does=PartKind.AGGREGATE, takes=Kind.WORDS, gives=Kind.TEXT)
_count = partial(Part, does=PartKind.COUNT, takes=Kind.WORDS, gives=Kind.NUMBER)
_compare = partial(Part, does=PartKind.COMPARE, takes=Kind.WORDS, gives=Kind.TRUTH)
_convert = partial(Part, does=PartKind.CONVERT, takes=Kind.WORDS, gives=Kind.NUMBERS)
_convert_to_label = partial(Part, does=PartKind.CONVERT, takes=Kind.WORDS, gives=Kind.LABEL)

WORDS: tuple[Part, ...] = (
    _filter("longer", "keep only the words with more than {k} letters", "[w for w in {v} if len(w) > {k}]", (2, 3)),
    _filter("shorter", "keep only the words with fewer than {k} letters", "[w for w in {v} if len(w) < {k}]", (3, 4)),
    _filter("with_letter", "keep only the words that contain the letter {k}", '[w for w in {v} if "{k}" in w]', ("a", "e", "o"), alone=False),
    _filter("without_letter", "remove the words that contain the letter {k}", '[w for w in {v} if "{k}" not in w]', ("a", "e", "i"), alone=False),
    _filter("starts_early", "keep only the words whose first letter comes before {k} in the alphabet", '[w for w in {v} if w[:1] < "{k}"]', ("h", "k", "m")),
    _filter("even_length", "keep only the words with an even number of letters", "[w for w in {v} if len(w) % 2 == 0]"),
    _filter("alternate", "keep every second word, starting with the first", "{v}[::2]"),
    _filter("tail", "remove the first word", "{v}[1:]"),
    _filter("unlast", "remove the last word", "{v}[:-1]"),
    _map("reverse_each", "reverse each word", "[w[::-1] for w in {v}]"),
    _map("initials", "replace each word by its first letter", "[w[:1] for w in {v}]"),
    _map("finals", "replace each word by its last letter", "[w[-1:] for w in {v}]"),
    _map("sorted_letters", "sort the letters of each word in alphabetical order", '["".join(sorted(w)) for w in {v}]'),
    _map("no_vowels", "remove the vowels (a, e, i, o, u) from each word", '["".join(c for c in w if c not in "aeiou") for w in {v}]'),
    _map("suffix", 'append "{k}" to each word', '[w + "{k}" for w in {v}]', ("s", "ed", "ing", "y")),
    _map("prefix", 'put "{k}" in front of each word', '["{k}" + w for w in {v}]', ("un", "re", "x")),
    _map("twice", "write each word twice in a row without a space", "[w * 2 for w in {v}]"),
    _order("dictionary", "sort the words in alphabetical order", "sorted({v})", ordered=False),
    _order("anti_dictionary", "sort the words in reverse alphabetical order", "sorted({v}, reverse=True)", ordered=False),
    _order("by_length", "sort the words by length, shortest first (ties keep their order)", "sorted({v}, key=len)", alone=False),
    _order("by_length_down", "sort the words by length, longest first (ties keep their order)", "sorted({v}, key=lambda w: -len(w))"),
    _order("by_final", "sort the words by their last letter (ties keep their order)", "sorted({v}, key=lambda w: w[-1:])"),
    _order("flip", "reverse the order of the words", "{v}[::-1]"),
    _order("carry", "move the first word to the end", "{v}[1:] + {v}[:1]"),
    _aggregate("joined", "join the words without spaces", '"".join({v})'),
    _aggregate("acronym", "join the first letters of the words", '"".join(w[:1] for w in {v})'),
    _aggregate("telestich", "join the last letters of the words", '"".join(w[-1:] for w in {v})'),
    _aggregate("longest", "give the longest word, the first of them if several are equally long (nothing if there are no words)", 'max({v}, key=len, default="")'),
    _aggregate("shortest", "give the shortest word, the first of them if several are equally short (nothing if there are no words)", 'min({v}, key=len, default="")'),
    _aggregate("first_in_dictionary", "give the word that comes first in alphabetical order (nothing if there are no words)", 'min({v}, default="")', ordered=False),
    _aggregate("last_in_dictionary", "give the word that comes last in alphabetical order (nothing if there are no words)", 'max({v}, default="")', ordered=False),
    _aggregate("first_word", "give the first word (nothing if there are no words)", '{v}[0] if {v} else ""'),
    _aggregate("last_word", "give the last word (nothing if there are no words)", '{v}[-1] if {v} else ""'),
    _count("letters_in_all", "give the number of letters in all words together", "sum(map(len, {v}))", ordered=False),
    _count("word_count", "give how many words there are", "len({v})", ordered=False, alone=False),
    _count("count_with", "give how many of the words contain the letter {k}", 'sum("{k}" in w for w in {v})', ("a", "e", "o"), ordered=False),
    _count("count_longer", "give how many of the words have more than {k} letters", "sum(len(w) > {k} for w in {v})", (2, 3), ordered=False),
    _count("vowels_in_all", "give how many vowels (a, e, i, o, u) the words have together", 'sum(c in "aeiou" for w in {v} for c in w)', ordered=False),
    _compare("dictionary_pair", "decide whether the first word comes before the last word in alphabetical order (no, if there are no words)", "bool({v}) and {v}[0] < {v}[-1]"),
    _compare("length_pair", "decide whether the number of letters in all words together is even", "sum(map(len, {v})) % 2 == 0", ordered=False),
    _convert("lengths", "replace each word by its number of letters", "[len(w) for w in {v}]"),
    _convert("vowel_counts", "replace each word by its number of vowels (a, e, i, o, u)", '[sum(c in "aeiou" for c in w) for w in {v}]'),
    _convert_to_label("hyphened", "join the words with a dash between each two", '"-".join({v})'),
    _convert_to_label("shouted", "join the words without spaces and write the result in capital letters", '"".join({v}).upper()'),
)  # fmt: skip
