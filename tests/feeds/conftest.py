from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.feeds.serving import Publisher, publishing


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """A publisher whose port the guarded client may reach."""
    with publishing() as found:
        monkeypatch.setenv("FETCH_ALLOW_LOOPBACK_PORTS", str(urlsplit(found.url).port))
        yield found
