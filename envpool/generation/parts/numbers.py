"""Parts over lists of integers."""

# ruff: noqa: E501 - a table reads best with one part a line

from functools import partial

from envpool.generation.parts.part import Kind, Part, PartKind

_filter = partial(Part, does=PartKind.FILTER, takes=Kind.NUMBERS, gives=Kind.NUMBERS)
_map = partial(Part, does=PartKind.MAP, takes=Kind.NUMBERS, gives=Kind.NUMBERS)
_order = partial(Part, does=PartKind.ORDER, takes=Kind.NUMBERS, gives=Kind.NUMBERS)
_aggregate = partial(Part, does=PartKind.AGGREGATE, takes=Kind.NUMBERS, gives=Kind.NUMBER)
_count = partial(Part, does=PartKind.COUNT, takes=Kind.NUMBERS, gives=Kind.NUMBER)
_compare = partial(Part, does=PartKind.COMPARE, takes=Kind.NUMBERS, gives=Kind.TRUTH)
_convert = partial(Part, does=PartKind.CONVERT, takes=Kind.NUMBERS, gives=Kind.LABEL)

NUMBERS: tuple[Part, ...] = (
    _filter("even", "keep only the even numbers", "[n for n in {v} if n % 2 == 0]"),
    _filter("odd", "keep only the odd numbers", "[n for n in {v} if n % 2 == 1]"),
    _filter("above", "keep only the numbers larger than {k}", "[n for n in {v} if n > {k}]", (3, 4, 5, 6, 7)),
    _filter("below", "keep only the numbers smaller than {k}", "[n for n in {v} if n < {k}]", (4, 5, 6, 7, 8)),
    _filter("not_multiple", "remove every number that is a multiple of {k}", "[n for n in {v} if n % {k} != 0]", (3, 4, 5), alone=False),
    _filter("every_second", "keep every second number, starting with the first", "{v}[::2]"),
    _filter("every_other", "keep every second number, starting with the second", "{v}[1::2]"),
    _filter("without_first", "remove the first number", "{v}[1:]"),
    _filter("without_last", "remove the last number", "{v}[:-1]"),
    _filter("first_few", "keep only the first {k} numbers", "{v}[:{k}]", (2, 3), alone=False),
    _filter("last_few", "keep only the last {k} numbers", "{v}[-{k}:]", (2, 3), alone=False),
    _filter("distinct", "keep only the first occurrence of each number", "list(dict.fromkeys({v}))", alone=False),
    _filter("rising", "keep only the numbers that are larger than the number just before them (never the first number)", "[b for a, b in itertools.pairwise({v}) if b > a]", imports="itertools"),
    _filter("falling", "keep only the numbers that are smaller than the number just before them (never the first number)", "[b for a, b in itertools.pairwise({v}) if b < a]", imports="itertools"),
    _map("add", "add {k} to each number", "[n + {k} for n in {v}]", (1, 2, 3, 4, 5, 10)),
    _map("from", "replace each number n by {k} - n", "[{k} - n for n in {v}]", (10, 20, 50, 100)),
    _map("times", "multiply each number by {k}", "[n * {k} for n in {v}]", (2, 3, 4, 5, 10)),
    _map("square", "square each number", "[n * n for n in {v}]"),
    _map("half", "divide each number by 2, rounding down", "[n // 2 for n in {v}]"),
    _map("remainder", "replace each number by its remainder after division by {k}", "[n % {k} for n in {v}]", (3, 4, 5, 6, 7)),
    _map("digit_sum", "replace each number by the sum of its digits", "[sum(map(int, str(abs(n)))) for n in {v}]", alone=False),
    _map("distance", "replace each number by its distance from {k}", "[abs(n - {k}) for n in {v}]", (3, 5, 7, 10)),
    _map("cap", "replace each number larger than {k} by {k}", "[min(n, {k}) for n in {v}]", (4, 5, 6)),
    _map("lift", "replace each number smaller than {k} by {k}", "[max(n, {k}) for n in {v}]", (4, 5, 6)),
    _map("add_to_even", "add {k} to each even number and leave the odd numbers as they are", "[n + {k} if n % 2 == 0 else n for n in {v}]", (1, 3, 10)),
    _map("double_odd", "double each odd number and leave the even numbers as they are", "[n * 2 if n % 2 == 1 else n for n in {v}]"),
    _map("negate_even", "change the sign of each even number", "[-n if n % 2 == 0 else n for n in {v}]"),
    _map("by_position", "multiply each number by its position, counting from 1", "[i * n for i, n in enumerate({v}, 1)]"),
    _map("plus_position", "add to each number its position, counting from 1", "[i + n for i, n in enumerate({v}, 1)]"),
    _map("running_sum", "replace each number by the sum of all numbers up to and including it", "list(itertools.accumulate({v}))", imports="itertools"),
    _map("running_max", "replace each number by the largest number up to and including it", "list(itertools.accumulate({v}, max))", imports="itertools"),
    _map("steps", "list the differences between each number and the one before it (later minus earlier)", "[b - a for a, b in itertools.pairwise({v})]", imports="itertools"),
    _map("neighbours", "list the sums of each two neighbouring numbers", "[a + b for a, b in itertools.pairwise({v})]", imports="itertools"),
    _order("ascending", "sort the numbers from small to large", "sorted({v})", ordered=False),
    _order("descending", "sort the numbers from large to small", "sorted({v}, reverse=True)", ordered=False),
    _order("reverse", "reverse the order of the numbers", "{v}[::-1]"),
    _order("by_last_digit", "sort the numbers by their last digit, smallest first (ties keep their order)", "sorted({v}, key=lambda n: abs(n) % 10)", alone=False),
    _order("by_distance", "sort the numbers by their distance from {k}, nearest first (ties keep their order)", "sorted({v}, key=lambda n: abs(n - {k}))", (3, 5, 7)),
    _order("even_first", "put the even numbers before the odd numbers (otherwise keep the order)", "sorted({v}, key=lambda n: n % 2)"),
    _order("odd_first", "put the odd numbers before the even numbers (otherwise keep the order)", "sorted({v}, key=lambda n: -(n % 2))"),
    _order("rotate", "move the first number to the end", "{v}[1:] + {v}[:1]"),
    _order("rotate_back", "move the last number to the front", "{v}[-1:] + {v}[:-1]"),
    _aggregate("sum", "give the sum of the numbers (0 if there are none)", "sum({v})", ordered=False),
    _aggregate("product", "give the product of the numbers (1 if there are none)", "math.prod({v})", ordered=False, imports="math", grows=True),
    _aggregate("largest", "give the largest number (0 if there are none)", "max({v}, default=0)", ordered=False),
    _aggregate("smallest", "give the smallest number (0 if there are none)", "min({v}, default=0)", ordered=False),
    _aggregate("spread", "give the difference between the largest and the smallest number (0 if there are none)", "max({v}, default=0) - min({v}, default=0)", ordered=False),
    _aggregate("ends", "give the largest plus the smallest number (0 if there are none)", "max({v}, default=0) + min({v}, default=0)", ordered=False),
    _aggregate("squares", "give the sum of the squares of the numbers (0 if there are none)", "sum(n * n for n in {v})", ordered=False, grows=True),
    _aggregate("alternating", "subtract the second number from the first, add the third, subtract the fourth, and so on, and give the result (0 if there are none)", "sum({v}[::2]) - sum({v}[1::2])"),
    _aggregate("first", "give the first number (0 if there are none)", "{v}[0] if {v} else 0"),
    _aggregate("last", "give the last number (0 if there are none)", "{v}[-1] if {v} else 0"),
    _aggregate("first_and_last", "give the first number plus the last number (0 if there are none)", "{v}[0] + {v}[-1] if {v} else 0"),
    _aggregate("second_largest", "sort the numbers and give the second largest, counting repeats (0 if there are fewer than two)", "sorted({v})[-2] if len({v}) > 1 else 0", ordered=False),
    _aggregate("lower_median", "sort the numbers and give the middle one, the lower of the two middle ones if their count is even (0 if there are none)", "sorted({v})[(len({v}) - 1) // 2] if {v} else 0", ordered=False),
    _aggregate("mean", "give the average of the numbers, rounded down (0 if there are none)", "sum({v}) // len({v}) if {v} else 0", ordered=False),
    _aggregate("top", "give the sum of the {k} largest numbers (of all, if there are fewer)", "sum(sorted({v})[-{k}:])", (2, 3), ordered=False),
    _aggregate("sum_remainder", "give the remainder of the sum of the numbers after division by {k}", "sum({v}) % {k}", (5, 7, 9, 10), ordered=False),
    _aggregate("place_of_largest", "give the position of the first largest number, counting from 0 (-1 if there are none)", "{v}.index(max({v})) if {v} else -1", alone=False),
    _aggregate("larger_end", "give the larger of the first and the last number (0 if there are none)", "max({v}[0], {v}[-1]) if {v} else 0"),
    _count("how_many", "give how many numbers there are", "len({v})", ordered=False, alone=False),
    _count("how_many_even", "give how many of the numbers are even", "sum(n % 2 == 0 for n in {v})", ordered=False),
    _count("how_many_above", "give how many of the numbers are larger than {k}", "sum(n > {k} for n in {v})", (4, 5, 6), ordered=False),
    _count("how_many_distinct", "give how many different numbers there are", "len(set({v}))", ordered=False),
    _count("rises", "give how often a number is larger than the number just before it", "sum(b > a for a, b in itertools.pairwise({v}))", imports="itertools"),
    _compare("sum_even", "decide whether the sum of the numbers is even", "sum({v}) % 2 == 0", ordered=False),
    _compare("starts_lower", "decide whether the first number is smaller than the last number (no, if there are none)", "bool({v}) and {v}[0] < {v}[-1]"),
    _compare("largest_odd", "decide whether the largest number is odd (no, if there are none)", "max({v}, default=0) % 2 == 1", ordered=False),
    _convert("dashes", "write the numbers one after the other with a dash between each two", '"-".join(map(str, {v}))'),
)  # fmt: skip
