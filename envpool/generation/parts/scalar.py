"""Parts over one integer (as an input it lies between 0 and 10,000)."""

# ruff: noqa: E501 - a table reads best with one part a line

from functools import partial

from envpool.generation.parts.part import Kind, Part, PartKind

_map = partial(Part, does=PartKind.MAP, takes=Kind.NUMBER, gives=Kind.NUMBER)
_compare = partial(Part, does=PartKind.COMPARE, takes=Kind.NUMBER, gives=Kind.TRUTH)
_convert = partial(Part, does=PartKind.CONVERT, takes=Kind.NUMBER, gives=Kind.LABEL)
_convert_to_numbers = partial(Part, does=PartKind.CONVERT, takes=Kind.NUMBER, gives=Kind.NUMBERS)

SCALAR: tuple[Part, ...] = (
    _map("plus", "add {k}", "{v} + {k}", (1, 2, 3, 5, 7, 10, 12, 25)),
    _map("less", "subtract {k}", "{v} - {k}", (1, 2, 3, 5, 10)),
    _map("taken_from", "subtract the number from {k}", "{k} - {v}", (10, 20, 50, 100)),
    _map("multiplied", "multiply by {k}", "{v} * {k}", (2, 3, 4, 5, 9, 10)),
    _map("halved", "divide by 2, rounding down", "{v} // 2"),
    _map("thirds", "divide by 3, rounding down", "{v} // 3"),
    _map("squared", "square the number", "{v} * {v}", grows=True),
    _map("modulo", "take the remainder after division by {k}", "{v} % {k}", (3, 4, 5, 6, 7, 9)),
    _map("gap", "take the distance from {k}", "abs({v} - {k})", (3, 5, 7, 10, 15)),
    _map("at_least", "take the larger of the number and {k}", "max({v}, {k})", (4, 5, 6), alone=False),
    _map("at_most", "take the smaller of the number and {k}", "min({v}, {k})", (5, 6, 7), alone=False),
    _map("halve_or_triple", "halve the number if it is even, otherwise multiply it by 3 and add 1", "{v} // 2 if {v} % 2 == 0 else 3 * {v} + 1"),
    _map("digits_total", "take the sum of the decimal digits (ignoring a minus sign)", "sum(map(int, str(abs({v}))))", alone=False),
    _map("digits_reversed", "write the decimal digits in reverse order (ignoring a minus sign and leading zeros)", "int(str(abs({v}))[::-1])", alone=False),
    _map("next_multiple", "take the smallest multiple of {k} that is larger than the number", "({v} // {k} + 1) * {k}", (3, 4, 5, 10)),
    _map("triangle", "add up all whole numbers from 1 to the number (0 if it is not positive)", "sum(range(1, min({v}, 10**6) + 1))", grows=True),
    _compare("is_even", "decide whether the number is even", "{v} % 2 == 0"),
    _convert("binary", "write the number in binary, with a minus sign if it is negative", 'format({v}, "b")'),
    _convert_to_numbers("digits", "list the decimal digits (ignoring a minus sign)", "[int(d) for d in str(abs({v}))]", alone=False),
    _convert_to_numbers("count_up", "list the whole numbers from 1 to the number (none if it is not positive)", "list(range(1, {v} + 1))", spans=True),
    _convert_to_numbers("count_down", "list the whole numbers from the number down to 1 (none if it is not positive)", "list(range({v}, 0, -1))", spans=True),
    _convert_to_numbers("divisors", "list its positive divisors from small to large (none if it is not positive)", "[d for d in range(1, {v} + 1) if {v} % d == 0]", spans=True),
    _convert_to_numbers("multiples", "list its first {k} multiples, starting with the number itself", "[{v} * i for i in range(1, {k} + 1)]", (3, 4, 5)),
    _convert_to_numbers("halvings", "list the number, then its half rounded down, and so on, as long as the value is positive", "[{v} >> i for i in range(max({v}, 0).bit_length())]"),
)  # fmt: skip
