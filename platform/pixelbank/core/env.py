"""Typed reading of the process environment. A bad value stops the start with one clear sentence."""

from __future__ import annotations

import os
from pathlib import Path


class BadEnvironment(SystemExit):
    """Raised while settings load; as a SystemExit it prints its sentence and no traceback."""


def text(name: str, default: str = "") -> str:
    """The value of NAME, else of the file that NAME_FILE points to (for mounted secrets), else `default`."""
    if name in os.environ:
        return os.environ[name]
    path = os.environ.get(f"{name}_FILE")
    if path is None:
        return default
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadEnvironment(f"{name}_FILE points to {path}, which can't be read: {error.strerror}.") from error


def choice(name: str, options: tuple[str, ...], default: str) -> str:
    value = text(name, default)
    if value not in options:
        raise BadEnvironment(f"{name} is {value!r}; it must be one of {', '.join(options)}.")
    return value


def boolean(name: str, default: bool = False) -> bool:
    value = text(name, str(default)).strip().lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off", ""}:
        return False
    raise BadEnvironment(f"{name} is {value!r}; write true or false.")


def integer(name: str, default: int, minimum: int = 0) -> int:
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise BadEnvironment(f"{name} is {value!r}; it must be a whole number.") from None
    if number < minimum:
        raise BadEnvironment(f"{name} is {number}; it must be at least {minimum}.")
    return number


def listing(name: str, default: str = "") -> list[str]:
    """A comma-separated list, blanks dropped."""
    return [item.strip() for item in text(name, default).split(",") if item.strip()]
