"""Second implementations of the bricks of matrices, from their rules alone."""

from collections.abc import Iterator

Row = list[int]
Rows = list[Row]


def _width(table: Rows) -> int:
    return len(table[0]) if table else 0


def _around(table: Rows, row: int, column: int) -> Iterator[int]:
    """The numbers directly above, below, left and right of a place."""
    for near_row, near_column in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]:
        if 0 <= near_row < len(table) and 0 <= near_column < len(table[near_row]):
            yield table[near_row][near_column]


def append_column(both: tuple[Rows, Row]) -> Rows:
    rows, column = both
    return [[*rows[place], column[place]] for place in range(min(len(rows), len(column)))]


def best_path(table: Rows) -> int:
    best: dict[tuple[int, int], int] = {}
    for row, numbers in enumerate(table):
        for column, number in enumerate(numbers):
            before = [best[place] for place in [(row - 1, column), (row, column - 1)] if place in best]
            best[row, column] = number + (max(before) if before else 0)
    return best[len(table) - 1, len(table[-1]) - 1]


def border_sum(table: Rows) -> int:
    total = 0
    for row, numbers in enumerate(table):
        for column, number in enumerate(numbers):
            if row in (0, len(table) - 1) or column in (0, len(numbers) - 1):
                total += number
    return total


def chessboard_sums(table: Rows) -> tuple[int, int]:
    white, black = 0, 0
    for row, numbers in enumerate(table):
        for column, number in enumerate(numbers):
            if (row + column) % 2 == 0:
                white += number
            else:
                black += number
    return white, black


def column_sums(table: Rows) -> Row:
    return [sum(row[column] for row in table) for column in range(_width(table))]


def corner_totals(table: Rows) -> Rows:
    return [
        [sum(sum(above[: column + 1]) for above in table[: row + 1]) for column in range(len(table[row]))]
        for row in range(len(table))
    ]


def count_into_table(places: list[tuple[int, int]]) -> Rows:
    table = [[0, 0, 0, 0] for _ in range(4)]
    for row, column in places:
        table[row - 1][column - 1] += 1
    return table


def count_peaks(table: Rows) -> int:
    peaks = 0
    for row, numbers in enumerate(table):
        for column, number in enumerate(numbers):
            if all(number > other for other in _around(table, row, column)):
                peaks += 1
    return peaks


def determinant(matrix: Rows) -> int:
    """By expansion along the first row."""
    if not matrix:
        return 1
    total = 0
    for column, number in enumerate(matrix[0]):
        rest = [row[:column] + row[column + 1 :] for row in matrix[1:]]
        total += (-1) ** column * number * determinant(rest)
    return total


def diagonal(table: Rows) -> Row:
    return [table[place][place] for place in range(min(len(table), _width(table)))]


def dot_product(lists: tuple[Row, Row]) -> int:
    first, second = lists
    return sum(first[place] * second[place] for place in range(len(first)))


def draw_even(rows: Rows) -> str:
    return "/".join("".join("#" if number % 2 == 0 else "." for number in row) for row in rows)


def equal_row_sums(rows: Rows) -> bool:
    return len({sum(row) for row in rows}) <= 1


def first_and_last_row(rows: Rows) -> tuple[Row, Row]:
    return rows[0], rows[-1]


def flatten(rows: Rows) -> Row:
    return [number for row in rows for number in row]


def is_symmetric(table: Rows) -> bool:
    return table == [[row[column] for row in table] for column in range(_width(table))]


def larger_at_each_place(lists: tuple[Row, Row]) -> list[bool]:
    first, second = lists
    return [first[place] > second[place] for place in range(len(first))]


def matrix_square(matrix: Rows) -> Rows:
    size = len(matrix)
    return [
        [sum(matrix[row][place] * matrix[place][column] for place in range(size)) for column in range(size)]
        for row in range(size)
    ]


def mirror_rows(rows: Rows) -> Rows:
    return [row[::-1] for row in rows]


def multiplication_table(numbers: Row) -> Rows:
    return [[of_row * of_column for of_column in numbers] for of_row in numbers]


def number_counts(rows: Rows) -> dict[int, int]:
    counts: dict[int, int] = {}
    for row in rows:
        for number in row:
            counts[number] = counts.get(number, 0) + 1
    return counts


def place_of_largest(rows: Rows) -> tuple[int, int]:
    largest = max(number for row in rows for number in row)
    row = next(place for place, numbers in enumerate(rows) if largest in numbers)
    return row + 1, rows[row].index(largest) + 1


def places_of_zeros(rows: Rows) -> list[tuple[int, int]]:
    return [
        (row + 1, place + 1)
        for row, numbers in enumerate(rows)
        for place, number in enumerate(numbers)
        if number == 0
    ]


def products_of_two(lists: tuple[Row, Row]) -> Rows:
    first, second = lists
    return [[number * other for other in second] for number in first]


def quarter_turn(table: Rows) -> Rows:
    return [[row[column] for row in reversed(table)] for column in range(_width(table))]


def row_maxima(rows: Rows) -> Row:
    return [max(row) for row in rows]


def row_sums(rows: Rows) -> Row:
    return [sum(row) for row in rows]


def rows_and_columns(table: Rows) -> tuple[int, int]:
    return len(table), _width(table)


def rows_as_texts(rows: Rows) -> list[str]:
    return [" ".join(str(number) for number in row) for row in rows]


def rows_by_sum(rows: Rows) -> Rows:
    return sorted(rows, key=sum)


def rows_of_three(numbers: Row) -> Rows:
    return [numbers[start : start + 3] for start in range(0, len(numbers), 3)]


def rows_times_list(both: tuple[Rows, Row]) -> Row:
    rows, factors = both
    return [sum(row[place] * factors[place] for place in range(min(len(row), len(factors)))) for row in rows]


def snake(rows: Rows) -> Row:
    numbers: Row = []
    for place, row in enumerate(rows):
        numbers += row if place % 2 == 0 else row[::-1]
    return numbers


def sort_each_row(rows: Rows) -> Rows:
    return [sorted(row) for row in rows]


def spiral(table: Rows) -> Row:
    """Walk on in one direction until the edge or a number already listed is ahead, then turn right."""
    height, width = len(table), _width(table)
    row, column, down, right = 0, 0, 0, 1
    seen: list[tuple[int, int]] = []
    while len(seen) < height * width:
        seen.append((row, column))
        ahead = row + down, column + right
        if not (0 <= ahead[0] < height and 0 <= ahead[1] < width) or ahead in seen:
            down, right = right, -down
        row, column = row + down, column + right
    return [table[row][column] for row, column in seen]


def split_off_last_row(rows: Rows) -> tuple[Rows, Row]:
    return rows[:-1], rows[-1]


def sum_of_neighbours(table: Rows) -> Rows:
    return [
        [sum(_around(table, row, column)) for column in range(len(table[row]))] for row in range(len(table))
    ]


def transpose(table: Rows) -> Rows:
    return [[row[column] for row in table] for column in range(_width(table))]


def turning_rows(numbers: Row) -> Rows:
    rows: Rows = []
    row = numbers
    for _ in numbers:
        rows.append(row)
        row = [row[-1], *row[:-1]]
    return rows


def without_first_row_and_column(table: Rows) -> Rows:
    return [row[1:] for row in table[1:]]


IMPLEMENTATIONS = {
    "matrices/append_column": append_column,
    "matrices/best_path": best_path,
    "matrices/border_sum": border_sum,
    "matrices/chessboard_sums": chessboard_sums,
    "matrices/column_sums": column_sums,
    "matrices/corner_totals": corner_totals,
    "matrices/count_into_table": count_into_table,
    "matrices/count_peaks": count_peaks,
    "matrices/determinant": determinant,
    "matrices/diagonal": diagonal,
    "matrices/dot_product": dot_product,
    "matrices/draw_even": draw_even,
    "matrices/equal_row_sums": equal_row_sums,
    "matrices/first_and_last_row": first_and_last_row,
    "matrices/flatten": flatten,
    "matrices/is_symmetric": is_symmetric,
    "matrices/larger_at_each_place": larger_at_each_place,
    "matrices/matrix_square": matrix_square,
    "matrices/mirror_rows": mirror_rows,
    "matrices/multiplication_table": multiplication_table,
    "matrices/number_counts": number_counts,
    "matrices/place_of_largest": place_of_largest,
    "matrices/places_of_zeros": places_of_zeros,
    "matrices/products_of_two": products_of_two,
    "matrices/quarter_turn": quarter_turn,
    "matrices/row_maxima": row_maxima,
    "matrices/row_sums": row_sums,
    "matrices/rows_and_columns": rows_and_columns,
    "matrices/rows_as_texts": rows_as_texts,
    "matrices/rows_by_sum": rows_by_sum,
    "matrices/rows_of_three": rows_of_three,
    "matrices/rows_times_list": rows_times_list,
    "matrices/snake": snake,
    "matrices/sort_each_row": sort_each_row,
    "matrices/spiral": spiral,
    "matrices/split_off_last_row": split_off_last_row,
    "matrices/sum_of_neighbours": sum_of_neighbours,
    "matrices/transpose": transpose,
    "matrices/turning_rows": turning_rows,
    "matrices/without_first_row_and_column": without_first_row_and_column,
}
