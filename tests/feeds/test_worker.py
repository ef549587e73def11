"""A real worker and a real Valkey: a due source is fetched as soon as the worker is up, and only once."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from feeds.models import FetchLog, Post, Source
from tests.conftest import Worker, wait_until
from tests.feeds.serving import Publisher, Reply, item, rss


@pytest.mark.workers
@pytest.mark.django_db(transaction=True)
def test_a_starting_worker_fetches_what_is_due(publisher: Publisher, celery_worker_process: Worker) -> None:
    publisher.says(Reply(rss(item(1), item(2))))
    Source.objects.create(slug="lab", name="Lab", url=publisher.url, next_poll_at=timezone.now())
    port = {"FETCH_ALLOW_LOOPBACK_PORTS": str(urlsplit(publisher.url).port)}
    with celery_worker_process("feeds", env=port):
        wait_until(lambda: FetchLog.objects.exists(), 60)
    assert Source.objects.get().state == Source.State.OK
    assert Post.objects.count() == 2
    assert len(publisher.requests) == 1
