"""Second implementations of the bricks of simulation, from their rules alone."""


def account(numbers: list[int]) -> list[int]:
    balance = 0
    after: list[int] = []
    for number in numbers:
        if balance + number >= 0:
            balance += number
        after.append(balance)
    return after


def auction(bids: dict[str, int]) -> tuple[str, int]:
    winner = min(bids, key=lambda key: (-bids[key], key))
    return winner, max((bids[key] for key in bids if key != winner), default=0)


def bouncing_ball(ball: tuple[int, int]) -> int:
    far, seconds = ball
    if far == 0:
        return 0
    within = seconds % (2 * far)
    return within if within <= far else 2 * far - within


def card_game(hands: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    first, second = list(hands[0]), list(hands[1])
    for _ in range(5):
        if not first or not second:
            break
        one, other = first.pop(0), second.pop(0)
        if one > other:
            first += [one, other]
        elif other > one:
            second += [other, one]
    return first, second


def cars_on_a_ring(road: list[bool]) -> list[bool]:
    after = list(road)
    for place, car in enumerate(road):
        ahead = (place + 1) % len(road)
        if car and not road[ahead]:
            after[place] = False
            after[ahead] = True
    return after


def counting_out(ring: tuple[int, int]) -> list[int]:
    people = list(range(1, ring[0] + 1))
    left: list[int] = []
    at = 0
    while people:
        at = (at + ring[1] - 1) % len(people)
        left.append(people.pop(at))
    return left


def crashes(numbers: list[int]) -> list[int]:
    row: list[int] = []
    for number in numbers:
        row.append(number)
        while len(row) >= 2 and row[-1] < 0 < row[-2]:
            last, before = row.pop(), row.pop()
            if abs(last) > before:
                row.append(last)
            elif before > abs(last):
                row.append(before)
    return row


def deal(cards: tuple[str, int]) -> list[str]:
    text, players = cards
    return [text[player::players] for player in range(players)]


def differing_neighbours(entries: list[bool]) -> list[bool]:
    padded = [False, *entries, False]
    return [padded[place] != padded[place + 2] for place in range(len(entries))]


def flood(rows: list[list[int]]) -> int:
    reached = {(0, 0)}
    waiting = [(0, 0)]
    while waiting:
        row, column = waiting.pop()
        for there in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = 0 <= there[0] < len(rows) and 0 <= there[1] < len(rows[there[0]])
            if inside and there not in reached and rows[there[0]][there[1]] == rows[0][0]:
                reached.add(there)
                waiting.append(there)
    return len(reached)


def holder_and_count(entries: list[str]) -> tuple[str, int]:
    holder, counter = "", 0
    for entry in entries:
        if counter == 0:
            holder, counter = entry, 1
        elif entry == holder:
            counter += 1
        else:
            counter -= 1
    return holder, counter


def jumps(numbers: list[int]) -> list[int]:
    visited: list[int] = []
    place = 0
    while numbers and place not in visited:
        visited.append(place)
        place = (place + numbers[place]) % len(numbers)
    return visited


def knocked_off(numbers: list[int]) -> list[int]:
    row: list[int] = []
    for number in numbers:
        while row and row[-1] < number:
            row.pop()
        row.append(number)
    return row


def lamp(entries: list[str]) -> list[bool]:
    on = False
    after: list[bool] = []
    for entry in entries:
        if len(entry) % 2 == 1:
            on = not on
        after.append(on)
    return after


def life(rows: list[list[int]]) -> list[list[int]]:
    living = {
        (row, column) for row, cells in enumerate(rows) for column, cell in enumerate(cells) if cell != 0
    }

    def lives_on(row: int, column: int) -> bool:
        around = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} - {
            (row, column)
        }
        neighbours = len(around & living)
        return neighbours == 3 or (neighbours == 2 and (row, column) in living)

    return [
        [1 if lives_on(row, column) else 0 for column in range(len(rows[row]))] for row in range(len(rows))
    ]


def new_pile(piles: list[int]) -> list[int]:
    taken = len([pile for pile in piles if pile > 0])
    lowered = [pile - 1 if pile > 0 else pile for pile in piles]
    return [pile for pile in lowered if pile != 0] + ([taken] if taken else [])


def pass_one_on(values: dict[int, int]) -> dict[int, int]:
    ring = sorted(values)
    after = {key: values[key] for key in ring}
    for place, key in enumerate(ring):
        if values[key] > 0:
            after[key] -= 1
            after[ring[(place + 1) % len(ring)]] += 1
    return after


def queue_by_length(entries: list[str]) -> list[str]:
    row: list[str] = []
    for entry in entries:
        row.append(entry)
        if len(entry) % 2 == 0:
            row.pop(0)
    return row


def recent_three(entries: list[str]) -> list[str]:
    shelf: list[str] = []
    for entry in entries:
        shelf = [entry, *(other for other in shelf if other != entry)][:3]
    return shelf


def turn_at_vowels(text: str) -> tuple[int, int]:
    right, up = 0, 0
    ahead_right, ahead_up = 0, 1
    for character in text:
        if character in "aeiouAEIOU":
            ahead_right, ahead_up = -ahead_up, ahead_right
        else:
            right, up = right + ahead_right, up + ahead_up
    return right, up


def turned_wheel(wheel: tuple[str, int]) -> str:
    text, times = wheel
    if not text:
        return text
    times %= len(text)  # a whole turn changes nothing, and one back is a whole turn less one
    return text[times:] + text[:times]


def two_tills(numbers: list[int]) -> tuple[list[int], list[int]]:
    first: list[int] = []
    second: list[int] = []
    for number in numbers:
        (first if sum(first) <= sum(second) else second).append(number)
    return first, second


def typed_with_eraser(text: str) -> str:
    written = ""
    for character in text:
        written = written[:-1] if character == "e" else written + character
    return written


def ups_and_downs(numbers: list[int]) -> list[str]:
    words: list[str] = []
    for place in range(1, len(numbers)):
        if numbers[place] > numbers[place - 1]:
            words.append("up")
        elif numbers[place] < numbers[place - 1]:
            words.append("down")
        else:
            words.append("same")
    return words


def walk(entries: list[str]) -> tuple[int, int]:
    right = entries.count("right") - entries.count("left")
    return right, entries.count("up") - entries.count("down")


def way_of_the_larger(rows: list[list[int]]) -> list[int]:
    row, column = 0, 0
    passed = [rows[0][0]]
    while (row, column) != (len(rows) - 1, len(rows[-1]) - 1):
        if row == len(rows) - 1:
            column += 1
        elif column == len(rows[row]) - 1 or rows[row + 1][column] > rows[row][column + 1]:
            row += 1
        else:
            column += 1
        passed.append(rows[row][column])
    return passed


IMPLEMENTATIONS = {
    "simulation/account": account,
    "simulation/auction": auction,
    "simulation/bouncing_ball": bouncing_ball,
    "simulation/card_game": card_game,
    "simulation/cars_on_a_ring": cars_on_a_ring,
    "simulation/counting_out": counting_out,
    "simulation/crashes": crashes,
    "simulation/deal": deal,
    "simulation/differing_neighbours": differing_neighbours,
    "simulation/flood": flood,
    "simulation/holder_and_count": holder_and_count,
    "simulation/jumps": jumps,
    "simulation/knocked_off": knocked_off,
    "simulation/lamp": lamp,
    "simulation/life": life,
    "simulation/new_pile": new_pile,
    "simulation/pass_one_on": pass_one_on,
    "simulation/queue_by_length": queue_by_length,
    "simulation/recent_three": recent_three,
    "simulation/turn_at_vowels": turn_at_vowels,
    "simulation/turned_wheel": turned_wheel,
    "simulation/two_tills": two_tills,
    "simulation/typed_with_eraser": typed_with_eraser,
    "simulation/ups_and_downs": ups_and_downs,
    "simulation/walk": walk,
    "simulation/way_of_the_larger": way_of_the_larger,
}
