"""kill -9 for a real process in the middle of storing, on the real database."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from feeds import services
from feeds.models import Appearance, FetchLog, Post, Source
from tests.conftest import ROOT
from tests.feeds.serving import Publisher, Reply, item, rss

WORKER = """
import os, sys, time, django
django.setup()
from feeds import services
from feeds.models import Post
save, saved = Post.save, []
def stalling(self, *args, **kwargs):
    save(self, *args, **kwargs)
    saved.append(self.pk)
    if len(saved) == 25:
        print("in the middle", flush=True)
        sys.stdin.read()
Post.save = stalling
services.refresh_source(int(sys.argv[1]))
print("finished", flush=True)
"""


def database_url() -> str:
    """The address of this test's own database, for another process."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    base, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    return f"{base}/{name}"


@pytest.mark.django_db(transaction=True)
def test_kill_9_in_the_middle_of_50_posts_loses_and_doubles_nothing(publisher: Publisher) -> None:
    publisher.says(Reply(rss(*(item(n, f"text {n}") for n in range(50))), headers={"ETag": '"a1"'}))
    source = Source.objects.create(slug="lab", name="Lab", url=publisher.url)
    connection.close()
    environment = os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "pixelbank.settings"}
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(source.pk)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "in the middle\n"
    finally:
        worker.kill()
        worker.communicate(timeout=10)

    assert Post.objects.count() == 0
    assert FetchLog.objects.count() == 0
    source.refresh_from_db()
    assert source.etag == ""
    with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1), tick=True):
        assert services.sweep() == 1
        line = services.refresh_source(source.pk)
    assert line is not None
    assert line.new_posts == 50
    assert Post.objects.count() == Appearance.objects.count() == 50
