"""Second implementations of the bricks of geometry, from their rules alone."""

from itertools import combinations
from math import gcd

Point = tuple[int, int]
Two = tuple[Point, Point]
Three = tuple[int, int, int]
Four = tuple[int, int, int, int]


def add_points(points: list[Point]) -> Point:
    return sum(x for x, _ in points), sum(y for _, y in points)


def along_an_axis(points: Two) -> bool:
    (a, b), (c, d) = points
    return a == c or b == d


def bounding_box(points: list[Point]) -> Four:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def box_surface(sides: Three) -> int:
    length, width, height = sides
    return 2 * length * width + 2 * length * height + 2 * width * height


def corner_path(ends: Two) -> list[Point]:
    (x, y), (last_x, last_y) = ends
    path = [(x, y)]
    while x != last_x:
        x += 1 if last_x > x else -1
        path.append((x, y))
    while y != last_y:
        y += 1 if last_y > y else -1
        path.append((x, y))
    return path


def corners_to_box(points: Two) -> Four:
    (a, b), (c, d) = points
    return min(a, c), min(b, d), max(a, c), max(b, d)


def count_by_side(points: list[Point]) -> Three:
    xs = [x for x, _ in points]
    return len([x for x in xs if x < 0]), len([x for x in xs if x == 0]), len([x for x in xs if x > 0])


def count_left_turns(points: list[Point]) -> int:
    turns = 0
    for place in range(len(points) - 2):
        (a, b), (c, d), (e, f) = points[place : place + 3]
        if (c - a) * (f - d) > (d - b) * (e - c):
            turns += 1
    return turns


def direction(point: Point) -> str:
    x, y = point
    if x == 0 and y == 0:
        return "origin"
    upright = "north" if y > 0 else "south" if y < 0 else ""
    level = "east" if x > 0 else "west" if x < 0 else ""
    return upright + level


def face_sizes(sides: Three) -> list[Point]:
    a, b, c = sides
    return [(a, b), (b, c), (a, c)]


def falling_diagonal(box: Four) -> Two:
    a, b, c, d = box
    return (a, d), (c, b)


def farthest_apart(points: list[Point]) -> Two:
    best, farthest = None, -1
    for (a, b), (c, d) in combinations(points, 2):
        distance = abs(a - c) + abs(b - d)
        if distance > farthest:
            best, farthest = ((a, b), (c, d)), distance
    assert best is not None
    return best


def grid_points_on_segment(ends: Two) -> int:
    (a, b), (c, d) = ends
    return gcd(c - a, d - b) + 1


def has_right_angle(sides: Three) -> bool:
    smallest, middle, largest = sorted(sides)
    return smallest**2 + middle**2 == largest**2


def is_square_shape(box: Four) -> bool:
    a, b, c, d = box
    return abs(c - a) == abs(d - b)


def king_distance(point: Point) -> int:
    x, y = point
    return max(abs(x), abs(y))


def mirror_down(point: Point) -> Point:
    x, y = point
    return x, -y


def move_first_to_origin(points: list[Point]) -> list[Point]:
    first_x, first_y = points[0]
    return [(x - first_x, y - first_y) for x, y in points]


def moves_from_point(point: Point) -> str:
    x, y = point
    moves = ""
    if x != 0:
        moves += ("R" if x > 0 else "L") + str(abs(x))
    if y != 0:
        moves += ("U" if y > 0 else "D") + str(abs(y))
    return moves


def moves_to_point(moves: str) -> Point:
    x, y = 0, 0
    for move in moves:
        if move == "R":
            x += 1
        elif move == "L":
            x -= 1
        elif move == "U":
            y += 1
        elif move == "D":
            y -= 1
    return x, y


def nearest_first(points: list[Point]) -> list[Point]:
    return sorted(points, key=lambda point: point[0] ** 2 + point[1] ** 2)


def on_one_line(points: list[Point]) -> bool:
    different = sorted(set(points))
    if len(different) <= 2:
        return True
    (a, b), (c, d) = different[0], different[1]
    return all((c - a) * (y - b) == (d - b) * (x - a) for x, y in different)


def path_length(points: list[Point]) -> int:
    length = 0
    for place in range(1, len(points)):
        (a, b), (c, d) = points[place - 1], points[place]
        length += abs(c - a) + abs(d - b)
    return length


def rectangle_area(box: Four) -> int:
    a, b, c, d = box
    return abs(c - a) * abs(d - b)


def rectangle_corners(box: Four) -> list[Point]:
    a, b, c, d = box
    return [(a, b), (c, b), (c, d), (a, d)]


def rectangle_perimeter(box: Four) -> int:
    a, b, c, d = box
    return 2 * abs(c - a) + 2 * abs(d - b)


def rotate_three(numbers: Three) -> Three:
    first, second, third = numbers
    return second, third, first


def squared_distance(point: Point) -> int:
    x, y = point
    return x * x + y * y


def step_between(points: Two) -> Point:
    (a, b), (c, d) = points
    return c - a, d - b


def taxi_distance(point: Point) -> int:
    x, y = point
    return abs(x) + abs(y)


def triangle_kind(sides: Three) -> str:
    smallest, middle, largest = sorted(sides)
    if largest >= smallest + middle:
        return "none"
    different = len({smallest, middle, largest})
    return {1: "equilateral", 2: "isosceles", 3: "scalene"}[different]


def turn_left(point: Point) -> Point:
    x, y = point
    return -y, x


def twice_polygon_area(points: list[Point]) -> int:
    total = 0
    for place, (a, b) in enumerate(points):
        c, d = points[(place + 1) % len(points)]
        total += a * d - b * c
    return abs(total)


def widen_by_one(box: Four) -> Four:
    a, b, c, d = box
    return a - 1, b - 1, c + 1, d + 1


def width_and_height(box: Four) -> Point:
    a, b, c, d = box
    return abs(c - a), abs(d - b)


IMPLEMENTATIONS = {
    "geometry/add_points": add_points,
    "geometry/along_an_axis": along_an_axis,
    "geometry/bounding_box": bounding_box,
    "geometry/box_surface": box_surface,
    "geometry/corner_path": corner_path,
    "geometry/corners_to_box": corners_to_box,
    "geometry/count_by_side": count_by_side,
    "geometry/count_left_turns": count_left_turns,
    "geometry/direction": direction,
    "geometry/face_sizes": face_sizes,
    "geometry/falling_diagonal": falling_diagonal,
    "geometry/farthest_apart": farthest_apart,
    "geometry/grid_points_on_segment": grid_points_on_segment,
    "geometry/has_right_angle": has_right_angle,
    "geometry/is_square_shape": is_square_shape,
    "geometry/king_distance": king_distance,
    "geometry/mirror_down": mirror_down,
    "geometry/move_first_to_origin": move_first_to_origin,
    "geometry/moves_from_point": moves_from_point,
    "geometry/moves_to_point": moves_to_point,
    "geometry/nearest_first": nearest_first,
    "geometry/on_one_line": on_one_line,
    "geometry/path_length": path_length,
    "geometry/rectangle_area": rectangle_area,
    "geometry/rectangle_corners": rectangle_corners,
    "geometry/rectangle_perimeter": rectangle_perimeter,
    "geometry/rotate_three": rotate_three,
    "geometry/squared_distance": squared_distance,
    "geometry/step_between": step_between,
    "geometry/taxi_distance": taxi_distance,
    "geometry/triangle_kind": triangle_kind,
    "geometry/turn_left": turn_left,
    "geometry/twice_polygon_area": twice_polygon_area,
    "geometry/widen_by_one": widen_by_one,
    "geometry/width_and_height": width_and_height,
}
