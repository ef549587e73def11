"""``manage.py fetch_sources``."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from feeds.models import Source
from tests.feeds.serving import Publisher, Reply, item, rss

pytestmark = pytest.mark.django_db


def test_each_source_gets_one_line(publisher: Publisher) -> None:
    publisher.answer = lambda path, headers: Reply(rss(item(1))) if path == "/a" else Reply(status=404)
    for slug in ("a", "b"):
        Source.objects.create(slug=slug, name=slug, url=f"{publisher.url}/{slug}")
    Source.objects.create(slug="c", name="c", url=f"{publisher.url}/c", state=Source.State.PAUSED)
    out = StringIO()
    call_command("fetch_sources", "--all", stdout=out)
    assert out.getvalue().splitlines() == [
        "a: new posts: 1 new, 0 changed",
        "b: failed: The server answered with status 404.",
        "c: left alone (paused)",
    ]
    assert Source.objects.get(slug="a").next_poll_at is not None


@pytest.mark.parametrize("arguments", [(), ("no-such",), ("a", "--all")])
def test_a_mistake_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        call_command("fetch_sources", *arguments)
