"""Second implementations of the bricks of dates, from their rules alone."""

Day = tuple[int, int, int]

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
SATURDAY = 5


def _is_leap(year: int) -> bool:
    return year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)


def _length(year: int, month: int) -> int:
    if month == 2:
        return 29 if _is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days_before_year(year: int) -> int:
    """Days from 1 January of year 1 to 1 January of the year."""
    past = year - 1
    return 365 * past + past // 4 - past // 100 + past // 400


def _number(day: Day) -> int:
    """Days from 1 January 2000 to the day."""
    year, month, of_month = day
    within = sum(_length(year, earlier) for earlier in range(1, month)) + of_month - 1
    return _days_before_year(year) - _days_before_year(2000) + within


def _day(number: int) -> Day:
    """The day whose number it is."""
    cycles, rest = divmod(number + _days_before_year(2000), _days_before_year(401))
    year = 1 + 400 * cycles
    while rest >= (366 if _is_leap(year) else 365):
        rest -= 366 if _is_leap(year) else 365
        year += 1
    month = 1
    while rest >= _length(year, month):
        rest -= _length(year, month)
        month += 1
    return year, month, rest + 1


def _weekday(day: Day) -> str:
    return WEEKDAYS[(SATURDAY + _number(day)) % 7]


def _clock(minutes: int) -> str:
    hours, rest = divmod(minutes % (24 * 60), 60)
    return f"{hours:02}:{rest:02}"


def _written(day: Day) -> str:
    year, month, of_month = day
    return f"{year:04}-{month:02}-{of_month:02}"


def _read(text: str) -> list[Day]:
    days = []
    for word in text.split():
        year, month, of_month = word.split("-")
        days.append((int(year), int(month), int(of_month)))
    return days


def clock_minutes(text: str) -> list[int]:
    minutes = []
    for time in text.split():
        hour, minute = time.split(":")
        minutes.append(60 * int(hour) + int(minute))
    return minutes


def clock_text(minutes: int) -> str:
    return _clock(minutes)


def clock_times(numbers: list[int]) -> str:
    return " ".join(_clock(minutes) for minutes in numbers)


def date_of_number(number: int) -> Day:
    return _day(number)


def date_text(day: Day) -> str:
    return _written(day)


def dates_of_numbers(numbers: list[int]) -> str:
    return " ".join(_written(_day(number)) for number in numbers)


def day_gaps(text: str) -> list[int]:
    numbers = [_number(day) for day in _read(text)]
    return [numbers[place] - numbers[place - 1] for place in range(1, len(numbers))]


def day_month_year(text: str) -> str:
    return " ".join(f"{day}.{month}.{year}" for year, month, day in _read(text))


def day_number(day: Day) -> int:
    return _number(day)


def day_of_year(day: Day) -> int:
    year, month, of_month = day
    return sum(_length(year, earlier) for earlier in range(1, month)) + of_month


def days_apart(text: str) -> int:
    numbers = [_number(day) for day in _read(text)]
    return max(numbers) - min(numbers)


def earliest_day(text: str) -> Day:
    return min(_read(text))


def friday_thirteenths(year: int) -> list[int]:
    return [month for month in range(1, 13) if _weekday((year, month, 13)) == "Friday"]


def is_a_date(day: Day) -> bool:
    year, month, of_month = day
    return year >= 1 and 1 <= month <= 12 and 1 <= of_month <= _length(year, month)


def last_sunday_of_march(year: int) -> Day:
    return max((year, 3, day) for day in range(1, 32) if _weekday((year, 3, day)) == "Sunday")


def leap_year(year: int) -> bool:
    return _is_leap(abs(year))


def month_later(day: Day) -> Day:
    year, month, of_month = day
    if month == 12:
        year, month = year + 1, 1
    else:
        month += 1
    return year, month, min(of_month, _length(year, month))


def month_length(day: Day) -> int:
    return _length(day[0], day[1])


def next_day(day: Day) -> Day:
    return _day(_number(day) + 1)


def next_days(text: str) -> str:
    return " ".join(_written(next_day(day)) for day in _read(text))


def seconds_split(number: int) -> tuple[int, int, int]:
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    return hours, minutes, seconds


def seconds_total(time: tuple[int, int, int]) -> int:
    hours, minutes, seconds = time
    return 3600 * hours + 60 * minutes + seconds


def weekday(day: Day) -> str:
    return _weekday(day)


def weekday_and_day(day: Day) -> tuple[str, int]:
    return _weekday(day), day[2]


def weekday_later(start: tuple[str, int]) -> str:
    name, days = start
    return WEEKDAYS[(WEEKDAYS.index(name) + days) % 7]


def weekdays(text: str) -> list[str]:
    return [_weekday(day) for day in _read(text)]


IMPLEMENTATIONS = {
    "dates/clock_minutes": clock_minutes,
    "dates/clock_text": clock_text,
    "dates/clock_times": clock_times,
    "dates/date_of_number": date_of_number,
    "dates/date_text": date_text,
    "dates/dates_of_numbers": dates_of_numbers,
    "dates/day_gaps": day_gaps,
    "dates/day_month_year": day_month_year,
    "dates/day_number": day_number,
    "dates/day_of_year": day_of_year,
    "dates/days_apart": days_apart,
    "dates/earliest_day": earliest_day,
    "dates/friday_thirteenths": friday_thirteenths,
    "dates/is_a_date": is_a_date,
    "dates/last_sunday_of_march": last_sunday_of_march,
    "dates/leap_year": leap_year,
    "dates/month_later": month_later,
    "dates/month_length": month_length,
    "dates/next_day": next_day,
    "dates/next_days": next_days,
    "dates/seconds_split": seconds_split,
    "dates/seconds_total": seconds_total,
    "dates/weekday": weekday,
    "dates/weekday_and_day": weekday_and_day,
    "dates/weekday_later": weekday_later,
    "dates/weekdays": weekdays,
}
