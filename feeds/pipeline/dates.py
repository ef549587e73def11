"""Dates as feeds write them, read strictly: a wrong date is worse than none.

feedparser 6.0.14 takes a Unix number for the year 1755, moves 30 February to March and drops the time of
``2026-08-20 09:30:39 +0000 UTC``; so PixelBank reads the raw text itself. A form that is not in the list
below, a day that the calendar does not have, and a moment outside 1995 … now + 2 days give None; such an
entry is sorted by the moment it was first seen.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

EARLIEST = datetime(1995, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=2)
"""Clocks and time zones of publishers are wrong by hours, not by weeks."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may",), ("jun", "june"),
            ("jul", "july"), ("aug", "august"), ("sep", "sept", "september"), ("oct", "october"),
            ("nov", "november"), ("dec", "december"),
        ),
        start=1,
    )
    for name in names
}  # fmt: skip
_ZONES = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0,
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    "bst": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9,
}  # fmt: skip

_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?(?:\s*(?P<half>[ap]\.?m\.?))?"
_ZONE = r"(?P<zone>[+-]\d{2}:?\d{2}|[+-]\d{2}|[a-z]{1,5}(?:[+-]\d{1,2}(?::?\d{2})?)?)"
_TAIL = rf"(?:\s*,?\s*(?:at\s+)?{_TIME}(?:\s*{_ZONE})?(?:\s+\(?[a-z]{{1,5}}\)?)?)?"
_DAYNAME = r"(?:[a-z]{2,9}\.?(?:,\s*|\s+))?"
_ORDINAL = r"(?:st|nd|rd|th)?"

_FORMS = [
    re.compile(form, re.ASCII)
    for form in (
        # 2026-08-20, 2026-08-20T09:30:39Z, 2026-08-20 09:30:39 +0000 UTC, 2026/08/20 09:30
        rf"(?P<year>\d{{4}})[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}})"
        rf"(?:(?:t|\s+){_TIME}(?:\s*{_ZONE})?(?:\s+\(?[a-z]{{1,5}}\)?)?)?",
        # 20260820, 20260820T093039Z
        r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})"
        rf"(?:t(?P<hour>\d{{2}})(?P<minute>\d{{2}})(?P<second>\d{{2}})(?:{_ZONE})?)?",
        # Thurs, 30 May 2019 00:00:00 UTC; WED,23 MAY 2012 02:23:01; 23-Sep-24
        rf"{_DAYNAME}(?P<day>\d{{1,2}}){_ORDINAL}[\s-]+(?P<month>[a-z]{{3,9}})\.?,?[\s-]+(?P<year>\d{{4}}|\d{{2}}){_TAIL}",
        # Mon, May 25 2020 04:45:26 +0000; Sep 23, 2024
        rf"{_DAYNAME}(?P<month>[a-z]{{3,9}})\.?\s+(?P<day>\d{{1,2}}){_ORDINAL},?\s+(?P<year>\d{{4}}){_TAIL}",
        # Mon May 25 04:45:26 2020; Mon May 25 04:45:26 UTC 2020
        rf"{_DAYNAME}(?P<month>[a-z]{{3,9}})\s+(?P<day>\d{{1,2}})\s+{_TIME}(?:\s+{_ZONE})?\s+(?P<year>\d{{4}})",
    )
]
_LONGEST = 80


def parse_date(text: str | None, *, now: datetime) -> datetime | None:
    """The moment that ``text`` names, in UTC, or None.

    A time without a zone, or with a zone that is not known, is read as UTC. ``now`` (aware) bounds how far
    in the future a date may lie.
    """
    if not text:
        return None
    wanted = " ".join(text.split()).lower()
    if not wanted or len(wanted) > _LONGEST or not wanted.isascii():
        return None
    moment = _unix(wanted) if wanted.isdigit() and len(wanted) in (10, 13) else _calendar(wanted)
    if moment is None or not EARLIEST <= moment <= now + AHEAD:
        return None
    return moment


def _unix(digits: str) -> datetime:
    seconds = int(digits) if len(digits) == 10 else int(digits) // 1000
    return datetime.fromtimestamp(seconds, UTC)


def _calendar(wanted: str) -> datetime | None:
    for form in _FORMS:
        found = form.fullmatch(wanted)
        if found:
            return _moment(found.groupdict())
    return None


def _moment(part: dict[str, str | None]) -> datetime | None:
    month_text = part["month"] or ""
    month = int(month_text) if month_text.isdigit() else _MONTHS.get(month_text, 0)
    digits = part["year"] or ""
    year = int(digits)
    if len(digits) == 2:  # 0001 is no short year but the zero value of Go and .NET, which means "no date"
        year += 2000 if year < 50 else 1900  # the rule of RFC 2822, section 4.3
    hour = int(part.get("hour") or 0)
    half = (part.get("half") or "").replace(".", "")
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    second = min(int(part.get("second") or 0), 59)  # a leap second is written as 60
    next_day = hour == 24
    try:
        day, minute = int(part["day"] or 0), int(part.get("minute") or 0)
        local = datetime(year, month, day, 0 if next_day else hour, minute, second)
        return (local + timedelta(days=next_day)).replace(tzinfo=_zone(part.get("zone"))).astimezone(UTC)
    except (ValueError, OverflowError):  # 30 February, month 13, an hour of 99, an offset of 99 hours
        return None


def _zone(text: str | None) -> timezone:
    if not text:
        return UTC
    named = re.match(r"[a-z]+", text)
    hours = _ZONES.get(named[0], 0) if named else 0
    offset = re.search(r"([+-])(\d{1,2}):?(\d{2})?$", text)
    delta = timedelta(hours=hours)
    if offset:
        shift = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        delta += -shift if offset[1] == "-" else shift
    return timezone(delta)
