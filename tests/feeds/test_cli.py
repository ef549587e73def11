"""``python -m feeds.pipeline`` as people and other programs call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.feeds.serving import Publisher, Reply, item, rss

CASES = Path(__file__).parent / "cases"


def pipeline(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "feeds.pipeline", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_a_feed_is_printed_as_json() -> None:
    done = pipeline(str(CASES / "c12_relative_link.atom"), "--json", "--url", "https://lab.example/blog/atom.xml")
    assert (done.returncode, done.stderr) == (0, "")
    feed = json.loads(done.stdout)
    assert set(feed) == {"ok", "format", "title", "entries", "warnings"}
    assert feed["entries"] == [
        {
            "id": "urn:1",
            "title": "e",
            "link": "https://lab.example/blog/foo",
            "published": "2026-05-06T00:00:00Z",
            "updated": "2026-05-06T00:00:00Z",
            "summary": None,
            "content_html": None,
            "authors": [],
            "tags": [],
        }
    ]


def test_the_charset_of_the_content_type_is_used(tmp_path: Path) -> None:
    document = tmp_path / "feed.xml"
    document.write_bytes(
        '<rss version="2.0"><channel><title>Größe Ђ</title></channel></rss>'.encode("cp1251", "replace")
    )
    done = pipeline(str(document), "--json", "--content-type", "text/xml; charset=windows-1251")
    assert json.loads(done.stdout)["title"] == "Gr??e Ђ"


def test_what_is_no_feed_exits_with_2_and_one_line(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html></html>")
    for name in (str(page), str(tmp_path), str(tmp_path / "missing.xml"), "http://127.0.0.1/feed"):
        done = pipeline(name, "--json")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert json.loads(done.stdout)["ok"] is False
        assert "Traceback" not in done.stderr


def test_an_address_goes_through_the_guarded_client(publisher: Publisher) -> None:
    publisher.says(Reply(rss(item(1, link="/p1")), headers={"Content-Type": "application/rss+xml"}))
    done = pipeline(f"{publisher.url}/feed", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["entries"][0]["link"] == f"{publisher.url}/p1"
    assert publisher.requests[0][1]["User-Agent"].startswith("PixelBank/")
    publisher.says(Reply(status=404))
    assert pipeline(f"{publisher.url}/feed").returncode == 2


def test_without_json_a_person_can_read_it() -> None:
    done = pipeline(str(CASES / "c09_guid_is_link.xml"))
    assert done.stdout.splitlines()[0] == "Made feed (rss20, 2 entries)"
    assert "  2026-01-05  P" in done.stdout


def test_the_core_knows_neither_django_nor_celery() -> None:
    code = (
        "import sys, feeds.pipeline.cli; "
        "print([n for n in ('django', 'celery', 'redis', 'pixelbank', 'httpx') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
