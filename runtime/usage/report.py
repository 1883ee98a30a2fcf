"""Reports of usage: over which days, grouped by what, and with the names of users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from flows.document import Json, JsonObject
from runtime.usage.entry import Usage, UsageSum
from runtime.usage.log import UsageLog

GROUPS: Final = ("day", "model", "user")
"""What usage can be grouped by."""

DAYS: Final = 30
"""Days of a report that names no first day."""

LONGEST: Final = 3_660
"""Days of a report at most."""

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class UnreadableReport(ValueError):
    """A report cannot be made as asked.

    Attributes:
        parameter: what is wrong: `from`, `to` or `by`.
        message: what is wrong with it.
        fix: what to write instead.
    """

    def __init__(self, parameter: str, message: str, fix: str) -> None:
        super().__init__(f"{message} {fix}")
        self.parameter = parameter
        self.message = message
        self.fix = fix


@dataclass(frozen=True)
class UsageReport:
    """Which usage a report is about.

    Attributes:
        first: the first day, in UTC.
        last: the last day, which is included.
        by: what it is grouped by.
    """

    first: date
    last: date
    by: tuple[str, ...]

    @classmethod
    def read(cls, first: str, last: str, by: str, today: date) -> UsageReport:
        """A report as it is asked for; what is empty takes the usual value.

        Args:
            first: the first day, `YYYY-MM-DD`; the usual one is 29 days before the last.
            last: the last day; the usual one is today.
            by: some of `day`, `model` and `user`, separated by commas; `day` is usual.
            today: the day in UTC.

        Raises:
            UnreadableReport: a day or a group cannot be read, or there are too many days.
        """
        end = _day("to", last, today)
        begin = _day("from", first, max(date.min + timedelta(days=DAYS), end) - timedelta(days=DAYS - 1))
        if begin > end or (end - begin).days >= LONGEST:
            raise UnreadableReport(
                "from", "There are no days, or too many, from the first to the last.", "Name up to ten years."
            )
        wanted = [part.strip() for part in by.split(",")] if by.strip() else ["day"]
        for name in wanted:
            if name not in GROUPS:
                raise UnreadableReport(
                    "by", f"Usage cannot be grouped by {name[:40]!r}.", f"Name some of: {', '.join(GROUPS)}."
                )
        return cls(begin, end, tuple(name for name in GROUPS if name in wanted))

    async def made(self, log: UsageLog, user: str | None, names: Mapping[str, str]) -> JsonObject:
        """The report, as a JSON object.

        Args:
            log: knows what was used.
            user: the user's id; None for all users.
            names: the names of users, by id.

        Raises:
            StoreUnavailable: what was used cannot be read.
        """
        found = await log.sums(user, self.first.isoformat(), self.last.isoformat(), self.by)
        rows: list[Json] = [self._row(one, names) for one in found]
        total = sum((one.usage for one in found), Usage())
        return {
            "from": self.first.isoformat(),
            "to": self.last.isoformat(),
            "by": list[Json](self.by),
            "usage": rows,
            "total": total.to_json(),
        }

    def _row(self, one: UsageSum, names: Mapping[str, str]) -> JsonObject:
        user: JsonObject = {} if one.user is None else {"user": names.get(one.user, one.user)}
        day: JsonObject = {} if one.day is None else {"day": one.day}
        model: JsonObject = {} if one.model is None else {"model": one.model}
        return {**day, **model, **user, **one.usage.to_json()}


def figures(rows: Iterable[JsonObject], groups: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows of a report as columns of text, with a heading.

    Args:
        rows: what a report has under `usage`.
        groups: what it is grouped by.
    """
    counted = ("input_tokens", "output_tokens", "cached_tokens", "requests", "turns", "runs")
    table: list[tuple[str, ...]] = [(*groups, "input", "output", "cached", "requests", "turns", "runs", "cost")]
    for row in rows:
        cost = row["cost"]
        shown = "unknown" if not isinstance(cost, int | float) else f"${cost:.4f}"
        table.append((*(str(row[name]) for name in groups), *(f"{row[name]:,}" for name in counted), shown))
    return table


def _day(parameter: str, given: str, usual: date) -> date:
    if not given.strip():
        return usual
    try:
        if _DAY.fullmatch(given.strip()):
            return date.fromisoformat(given.strip())
    except ValueError:  # a day that no month has
        pass
    raise UnreadableReport(parameter, f"{given[:20]!r} is not a day.", "Write it as YYYY-MM-DD, such as 2026-11-26.")
