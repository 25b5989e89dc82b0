import heapq
import random

from envpool import Environment


class ShortestPath(Environment):
    rule = (
        "The input is a start, a goal and a list of roads (place, place, length) that can be used both ways. "
        "How long is the shortest way from start to goal?"
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, list[tuple[int, int, int]]]:
        places = rng.sample(range(1, 10 + 10 * level), 2 + 2 * level)
        pairs = [(rng.choice(places[:index]), places[index]) for index in range(1, len(places))]
        pairs += [tuple(rng.sample(places, 2)) for _ in range(3 * level)]
        rng.shuffle(pairs)
        start, goal = rng.sample(places, 2)
        return start, goal, [(one, other, rng.randint(1, 9 + 5 * level)) for one, other in pairs]

    def solve(self, x: tuple[int, int, list[tuple[int, int, int]]]) -> int:
        return self.distances(x)[x[1]]

    def distances(self, x: tuple[int, int, list[tuple[int, int, int]]]) -> dict[int, int]:
        start, _, roads = x
        beside: dict[int, list[tuple[int, int]]] = {}
        for one, other, length in roads:
            beside.setdefault(one, []).append((other, length))
            beside.setdefault(other, []).append((one, length))
        known: dict[int, int] = {}
        queue = [(0, start)]
        while queue:
            distance, place = heapq.heappop(queue)
            if place in known:
                continue
            known[place] = distance
            for other, length in beside.get(place, []):
                heapq.heappush(queue, (distance + length, other))
        return known

    def accepts(self, x: tuple[int, int, list[tuple[int, int, int]]]) -> bool:
        return all(length > 0 for _, _, length in x[2]) and x[1] in self.distances(x)
