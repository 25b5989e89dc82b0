"""Second implementations of the bricks of number_theory, from their rules alone."""

from math import gcd, isqrt, lcm

Pair = tuple[int, int]


def base_three_digits(number: int) -> list[int]:
    digits = [number % 3]
    while number >= 3:
        number //= 3
        digits.insert(0, number % 3)
    return digits


def common_and_rest(pair: Pair) -> tuple[int, int, int]:
    a, b = pair
    d = gcd(a, b)
    return d, a // d, b // d


def common_divisor_of_all(numbers: list[int]) -> int:
    return gcd(*numbers)


def count_coprime(number: int) -> int:
    return sum(1 for other in range(1, number + 1) if gcd(other, number) == 1)


def count_divisors(number: int) -> int:
    return len(divisors(number))


def count_halve_or_triple(number: int) -> int:
    steps = 0
    while number != 1:
        number = halve_or_triple(number)
        steps += 1
    return steps


def count_multiples(number: int) -> int:
    return number // 3 + number // 5 - number // 15


def divisors(number: int) -> list[int]:
    small = [divisor for divisor in range(1, isqrt(number) + 1) if number % divisor == 0]
    return sorted({*small, *(number // divisor for divisor in small)})


def euclid_quotients(pair: Pair) -> list[int]:
    number, divisor = pair
    quotients: list[int] = []
    while divisor != 0:
        quotients.append(number // divisor)
        number, divisor = divisor, number % divisor
    return quotients


def factor_pairs(number: int) -> list[Pair]:
    return [(first, number // first) for first in range(1, isqrt(number) + 1) if number % first == 0]


def fibonacci_parts(number: int) -> list[int]:
    sequence = [1, 2]
    while sequence[-1] < number:
        sequence.append(sequence[-2] + sequence[-1])
    taken: list[int] = []
    while number > 0:
        largest = max(part for part in sequence if part <= number)
        taken.append(largest)
        number -= largest
    return taken


def goldbach_pair(number: int) -> Pair:
    return next(
        (first, number - first) for first in range(2, number) if is_prime(first) and is_prime(number - first)
    )


def greatest_common_divisor(pair: Pair) -> int:
    return gcd(*pair)


def group_by_remainder(numbers: list[int]) -> dict[int, list[int]]:
    return {
        remainder: [number for number in numbers if number % 3 == remainder]
        for remainder in range(3)
        if any(number % 3 == remainder for number in numbers)
    }


def groups_in_key_order(groups: dict[int, list[int]]) -> list[int]:
    return [number for key in sorted(groups) for number in groups[key]]


def halve_or_triple(number: int) -> int:
    return number // 2 if number % 2 == 0 else 3 * number + 1


def inverse_modulo(pair: Pair) -> int:
    a, m = pair
    return pow(a, -1, m)


def is_abundant(number: int) -> bool:
    return sum_smaller_divisors(number) > number


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor != 0 for divisor in range(2, isqrt(number) + 1))


def is_square_number(number: int) -> bool:
    return number >= 0 and isqrt(number) ** 2 == number


def keep_primes(numbers: list[int]) -> list[int]:
    return [number for number in numbers if is_prime(number)]


def key_of_largest(values: dict[int, int]) -> int:
    largest = max(values.values())
    return min(key for key, value in values.items() if value == largest)


def least_common_multiple(pair: Pair) -> int:
    return lcm(*pair)


def meet_remainders(pairs: list[Pair]) -> int:
    """Pair by pair: step on by what keeps the remainders so far until the next one fits too."""
    number, step = 0, 1
    for remainder, divisor in pairs:
        number = next(
            number + step * turn for turn in range(divisor) if (number + step * turn) % divisor == remainder
        )
        step = lcm(step, divisor)
    return number


def next_prime(number: int) -> int:
    larger = number + 1
    while not is_prime(larger):
        larger += 1
    return larger


def odd_part(number: int) -> Pair:
    times = 0
    while number % 2 == 0:
        number //= 2
        times += 1
    return number, times


def pairs_by_key(values: dict[int, int]) -> list[Pair]:
    return [(key, values[key]) for key in sorted(values)]


def power_remainder(numbers: tuple[int, int, int]) -> int:
    base, exponent, divisor = numbers
    return pow(base, exponent, divisor)


def prime_factors(number: int) -> list[int]:
    factors: list[int] = []
    prime = 2
    while number > 1:
        if number % prime == 0:
            factors.append(prime)
            number //= prime
        elif prime * prime > number:
            prime = number
        else:
            prime += 1
    return factors


def prime_powers(number: int) -> dict[int, int]:
    factors = prime_factors(number)
    return {prime: factors.count(prime) for prime in factors}


def product_of_all(numbers: list[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product


def product_of_powers(powers: dict[int, int]) -> int:
    product = 1
    for base, exponent in powers.items():
        product *= base**exponent
    return product


def repeated_digit_sum(number: int) -> int:
    while number > 9:
        number = sum(int(digit) for digit in str(number))
    return number


def share_no_divisor(pair: Pair) -> bool:
    return gcd(*pair) == 1


def six_decimals(pair: Pair) -> list[int]:
    number, divisor = pair
    rest = number % divisor
    digits: list[int] = []
    for _ in range(6):
        digits.append(10 * rest // divisor)
        rest = 10 * rest % divisor
    return digits


def sum_of_each_group(groups: dict[int, list[int]]) -> dict[int, int]:
    return {key: sum(numbers) for key, numbers in groups.items()}


def sum_smaller_divisors(number: int) -> int:
    return sum(divisor for divisor in divisors(number) if divisor < number)


def sums_of_two_squares(number: int) -> list[Pair]:
    pairs: list[Pair] = []
    for first in range(isqrt(number) + 1):
        second = isqrt(number - first * first)
        if first <= second and first * first + second * second == number:
            pairs.append((first, second))
    return pairs


def whole_square_root(number: int) -> int:
    return isqrt(number)


IMPLEMENTATIONS = {
    "number_theory/base_three_digits": base_three_digits,
    "number_theory/common_and_rest": common_and_rest,
    "number_theory/common_divisor_of_all": common_divisor_of_all,
    "number_theory/count_coprime": count_coprime,
    "number_theory/count_divisors": count_divisors,
    "number_theory/count_halve_or_triple": count_halve_or_triple,
    "number_theory/count_multiples": count_multiples,
    "number_theory/divisors": divisors,
    "number_theory/euclid_quotients": euclid_quotients,
    "number_theory/factor_pairs": factor_pairs,
    "number_theory/fibonacci_parts": fibonacci_parts,
    "number_theory/goldbach_pair": goldbach_pair,
    "number_theory/greatest_common_divisor": greatest_common_divisor,
    "number_theory/group_by_remainder": group_by_remainder,
    "number_theory/groups_in_key_order": groups_in_key_order,
    "number_theory/halve_or_triple": halve_or_triple,
    "number_theory/inverse_modulo": inverse_modulo,
    "number_theory/is_abundant": is_abundant,
    "number_theory/is_prime": is_prime,
    "number_theory/is_square_number": is_square_number,
    "number_theory/keep_primes": keep_primes,
    "number_theory/key_of_largest": key_of_largest,
    "number_theory/least_common_multiple": least_common_multiple,
    "number_theory/meet_remainders": meet_remainders,
    "number_theory/next_prime": next_prime,
    "number_theory/odd_part": odd_part,
    "number_theory/pairs_by_key": pairs_by_key,
    "number_theory/power_remainder": power_remainder,
    "number_theory/prime_factors": prime_factors,
    "number_theory/prime_powers": prime_powers,
    "number_theory/product_of_all": product_of_all,
    "number_theory/product_of_powers": product_of_powers,
    "number_theory/repeated_digit_sum": repeated_digit_sum,
    "number_theory/share_no_divisor": share_no_divisor,
    "number_theory/six_decimals": six_decimals,
    "number_theory/sum_of_each_group": sum_of_each_group,
    "number_theory/sum_smaller_divisors": sum_smaller_divisors,
    "number_theory/sums_of_two_squares": sums_of_two_squares,
    "number_theory/whole_square_root": whole_square_root,
}
