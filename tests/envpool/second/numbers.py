"""Second implementations of the bricks of numbers, from their rules alone."""

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def add_one(number: int) -> int:
    return number + 1


def append_zero(number: int) -> int:
    return number * 10


def change_sign(number: int) -> int:
    return -number


def count_apples(number: int) -> str:
    return f"{number} apples"


def digit_sum(number: int) -> int:
    return sum(digits(number))


def digits(number: int) -> list[int]:
    return [int(digit) for digit in str(abs(number))]


def divides_by_three(number: int) -> bool:
    return number % 3 == 0


def double(number: int) -> int:
    return number * 2


def first_digit(number: int) -> int:
    return digits(number)[0]


def half(number: int) -> int:
    return number // 2 if number >= 0 else -(-number // 2)


def is_even(number: int) -> bool:
    return number % 2 == 0


def is_negative(number: int) -> bool:
    return number < 0


def last_digit(number: int) -> int:
    return digits(number)[-1]


def neighbours(number: int) -> tuple[int, int]:
    return number - 1, number + 1


def next_three(number: int) -> list[int]:
    return [number + 1, number + 2, number + 3]


def remainder_by_three(number: int) -> int:
    return number % 3


def reverse_digits(number: int) -> str:
    return "".join(str(digit) for digit in reversed(digits(number)))


def same_end_digits(number: int) -> bool:
    return first_digit(number) == last_digit(number)


def spell_digits(number: int) -> str:
    return " ".join(WORDS[digit] for digit in digits(number))


def square(number: int) -> int:
    return number * number


def subtract_ten(number: int) -> int:
    return number - 10


def tens_and_rest(number: int) -> tuple[int, int]:
    return number // 10, number % 10


IMPLEMENTATIONS = {
    "numbers/add_one": add_one,
    "numbers/append_zero": append_zero,
    "numbers/change_sign": change_sign,
    "numbers/count_apples": count_apples,
    "numbers/digit_sum": digit_sum,
    "numbers/digits": digits,
    "numbers/divides_by_three": divides_by_three,
    "numbers/double": double,
    "numbers/first_digit": first_digit,
    "numbers/half": half,
    "numbers/is_even": is_even,
    "numbers/is_negative": is_negative,
    "numbers/last_digit": last_digit,
    "numbers/neighbours": neighbours,
    "numbers/next_three": next_three,
    "numbers/remainder_by_three": remainder_by_three,
    "numbers/reverse_digits": reverse_digits,
    "numbers/same_end_digits": same_end_digits,
    "numbers/spell_digits": spell_digits,
    "numbers/square": square,
    "numbers/subtract_ten": subtract_ten,
    "numbers/tens_and_rest": tens_and_rest,
}
