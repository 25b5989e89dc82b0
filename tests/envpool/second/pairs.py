"""Second implementations of the bricks of pairs, from their rules alone."""

Pair = tuple[int, int]


def add(pair: Pair) -> int:
    first, second = pair
    return first + second


def add_one_both(pair: Pair) -> Pair:
    first, second = pair
    return first + 1, second + 1


def as_list(pair: Pair) -> list[int]:
    first, second = pair
    return [first, first + second, second]


def distance(pair: Pair) -> int:
    return max(pair) - min(pair)


def first_is_larger(pair: Pair) -> bool:
    first, second = pair
    return first > second


def first_of_pair(pair: Pair) -> int:
    return pair[0]


def larger(pair: Pair) -> int:
    return max(pair)


def multiply(pair: Pair) -> int:
    first, second = pair
    return first * second


def second_of_pair(pair: Pair) -> int:
    return pair[1]


def smaller(pair: Pair) -> int:
    return min(pair)


def sum_and_first(pair: Pair) -> Pair:
    first, second = pair
    return first + second, first


def swap(pair: Pair) -> Pair:
    first, second = pair
    return second, first


IMPLEMENTATIONS = {
    "pairs/add": add,
    "pairs/add_one_both": add_one_both,
    "pairs/as_list": as_list,
    "pairs/distance": distance,
    "pairs/first_is_larger": first_is_larger,
    "pairs/first_of_pair": first_of_pair,
    "pairs/larger": larger,
    "pairs/multiply": multiply,
    "pairs/second_of_pair": second_of_pair,
    "pairs/smaller": smaller,
    "pairs/sum_and_first": sum_and_first,
    "pairs/swap": swap,
}
