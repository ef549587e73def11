"""A publisher on a loopback port that answers as each test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Publisher:
    """Set ``answer``; look at ``requests`` (path and headers of each)."""

    answer: Callable[[str, Message], Reply] = lambda path, headers: Reply(status=404)
    requests: list[tuple[str, Message]] = field(default_factory=list)
    url: str = ""

    def says(self, *replies: Reply) -> None:
        """One reply after the other; the last one for ever."""
        queue = list(replies)
        self.answer = lambda path, headers: queue.pop(0) if len(queue) > 1 else queue[0]


@contextmanager
def publishing() -> Iterator[Publisher]:
    publisher = Publisher()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            publisher.requests.append((self.path, self.headers))
            reply = publisher.answer(self.path, self.headers)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status not in (204, 304):
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    publisher.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield publisher
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def rss(*items: str, title: str = "Made feed", link: str = "https://lab.example/") -> bytes:
    """An RSS document with these items (XML)."""
    head = f"<title>{title}</title><link>{link}</link><description>d</description>"
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{"".join(items)}</channel></rss>'.encode()


def item(number: int, text: str = "", **elements: str) -> str:
    """An item with title, link, guid and date that follow from ``number``; ``elements`` override them."""
    parts = {
        "title": f"Post {number}",
        "link": f"https://lab.example/p{number}",
        "guid": f"urn:p{number}",
        "pubDate": f"Mon, 05 Jan 2026 {number % 24:02}:00:00 GMT",
        "description": text,
    } | elements
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in parts.items() if value)
    return f"<item>{inner.replace('<guid>', '<guid isPermaLink=' + chr(34) + 'false' + chr(34) + '>')}</item>"
