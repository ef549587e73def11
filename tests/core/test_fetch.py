"""The guarded client against a real loopback server: what must arrive arrives, what must not never leaves."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import brotli
import pytest

from pixelbank.core import fetch

Answer = Callable[[bytes], bytes]


@dataclass
class Server:
    """One thread that answers each connection with what ``answer`` makes of the request, and records it."""

    answer: Answer
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)
    server = Server(answer, port=listener.getsockname()[1])
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                server.connections += 1
                request = b""
                try:
                    while b"\r\n\r\n" not in request:
                        piece = connection.recv(65536)
                        if not piece:
                            break
                        request += piece
                    if request:
                        server.requests.append(request)
                        connection.sendall(server.answer(request))
                except OSError:
                    continue  # the client hung up: that is what several tests want

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        stop.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def reply(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def ports(*servers: Server) -> None:
        monkeypatch.setenv("FETCH_ALLOW_LOOPBACK_PORTS", ",".join(str(server.port) for server in servers))

    return ports


# --- What may not be reached ---------------------------------------------------------------------------------------

SPELLINGS = [
    "http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://0x7f.1/", "http://0x7f000001/",
    "http://127.1/", "http://0177.0.0.1/", "http://0.0.0.0/", "http://[::1]/", "http://[::]/",
    "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/", "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", "http://[fe80::1]/",
    "http://[fc00::1]/", "http://[ff02::1]/", "http://224.0.0.1/", "http://100.64.0.1/", "http://10.0.0.1/",
    "http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/latest/", "http://192.0.0.8/",
    "http://198.18.0.1/", "http://240.0.0.1/", "http://255.255.255.255/", "http://127.0.0.1.:80/", "http://①②⑦.⓪.⓪.①/",
]  # fmt: skip


@pytest.mark.parametrize("url", SPELLINGS)
def test_no_spelling_of_a_private_address_is_connected_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []
    monkeypatch.setattr(socket, "create_connection", lambda *args, **kwargs: tried.append(args))
    with pytest.raises(fetch.FetchError):
        fetch.get(url)
    assert tried == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_a_listening_loopback_port_gets_no_connection(host: str) -> None:
    with serving(lambda _: reply(b"secret")) as server:
        with pytest.raises(fetch.Refused):
            fetch.get(f"http://{host}:{server.port}/")
        assert server.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://lab.example/", "gopher://lab.example/", "javascript:alert(1)", "/relative", "",
        "http://user:pw@lab.example/", "http://user@lab.example/", "http://lab.example:22/", "http://lab.example:99999/",
        "http://", "http:///path", "https://lab.example:8443/", "http://[::1/",
    ],
)  # fmt: skip
def test_an_address_that_is_not_plain_web_is_refused_before_any_look_up(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: pytest.fail("looked up"))
    with pytest.raises(fetch.Refused):
        fetch.get(url)


def test_one_private_address_among_public_ones_refuses_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 80)) for ip in ("93.184.216.34", "10.0.0.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answers)
    monkeypatch.setattr(socket, "create_connection", lambda *a, **k: pytest.fail("connected"))
    with pytest.raises(fetch.Refused, match="public internet"):
        fetch.get("http://mixed.test/")


def test_rebinding_a_name_changes_nothing_since_it_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    connected: list[tuple[str, int]] = []

    def resolve(host: str, port: int, *_: object, **__: object) -> list[object]:
        looked_up.append(host)
        ip = "93.184.216.34" if len(looked_up) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(fetch.FetchError):
        fetch.get("http://rebind.test/")
    assert looked_up == ["rebind.test"]
    assert connected == [("93.184.216.34", 80)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_a_private_port_is_not_followed(status: int, allow: Callable[..., None]) -> None:
    with serving(lambda _: reply(b"secret")) as inner:
        location = f"http://127.0.0.1:{inner.port}/latest/"
        with serving(lambda _: reply(status=f"{status} Moved", Location=location)) as outer:
            allow(outer)
            with pytest.raises(fetch.Refused):
                fetch.get(outer.url)
            assert len(outer.requests) == 1
            assert inner.connections == 0


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://a:b@lab.example/", "http://[::1/", "//10.0.0.1/x"])
def test_a_redirect_to_something_else_is_not_followed(location: str, allow: Callable[..., None]) -> None:
    with serving(lambda _: reply(status="302 Found", Location=location)) as server:
        allow(server)
        with pytest.raises(fetch.Refused):
            fetch.get(server.url)


def test_https_is_never_left_for_http() -> None:
    import httpx

    with pytest.raises(fetch.Refused, match="https to http"):
        fetch._next(httpx.URL("https://lab.example/feed"), "http://lab.example/feed")


def test_production_has_no_loopback_ports(allow: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: reply(b"x")) as server:
        allow(server)
        monkeypatch.setenv("PIXELBANK_ENV", "production")
        with pytest.raises(fetch.Refused):
            fetch.get(server.url)
        assert server.connections == 0


def test_an_allowed_loopback_port_does_not_open_that_port_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FETCH_ALLOW_LOOPBACK_PORTS", "8099")
    assert fetch.may_connect("127.0.0.1", 8099)
    assert not fetch.may_connect("93.184.216.34", 8099)
    assert not fetch.may_connect("127.0.0.2", 8099)
    assert not fetch.may_connect("127.0.0.1", 80)
    assert fetch.may_connect("93.184.216.34", 443)


# --- What must arrive ----------------------------------------------------------------------------------------------


def test_get_hands_over_body_validators_and_who_we_are(allow: Callable[..., None]) -> None:
    with serving(lambda _: reply(b"<rss/>", ETag='"a1"', Last_Modified="Mon, 05 Jan 2026 10:00:00 GMT")) as server:
        allow(server)
        got = fetch.get(server.url + "/feed?x=1", etag='"a0"', last_modified="Sun, 04 Jan 2026 10:00:00 GMT")
    assert (got.status, got.body, got.etag) == (200, b"<rss/>", '"a1"')
    assert got.last_modified == "Mon, 05 Jan 2026 10:00:00 GMT"
    request = server.requests[0].decode()
    assert request.startswith("GET /feed?x=1 HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{server.port}\r\n" in request
    assert 'If-None-Match: "a0"\r\n' in request
    assert "If-Modified-Since: Sun, 04 Jan 2026 10:00:00 GMT\r\n" in request
    assert "User-Agent: PixelBank/" in request


def test_proxies_of_the_environment_are_ignored(allow: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: reply(b"direct")) as server, serving(lambda _: reply(b"proxied")) as proxy:
        allow(server, proxy)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert fetch.get(server.url).body == b"direct"
        assert proxy.connections == 0


def test_redirects_are_followed_five_times_and_recorded(allow: Callable[..., None]) -> None:
    def answer(request: bytes) -> bytes:
        step = int(request.split(b" ")[1].strip(b"/") or 0)
        return reply(b"end") if step == 5 else reply(status="308 Permanent", Location=f"/{step + 1}")

    with serving(answer) as server:
        allow(server)
        got = fetch.get(server.url + "/0")
        assert got.body == b"end"
        assert got.url == server.url + "/5"
        assert [hop.status for hop in got.hops] == [308] * 5
        with pytest.raises(fetch.FetchError, match="more than 5"):
            fetch.get(server.url + "/-1")


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"hello " * 99)),
        ("gzip", gzip.compress(b"hello " * 50) + gzip.compress(b"hello " * 49)),
        ("deflate", zlib.compress(b"hello " * 99)),
        ("deflate", zlib.compress(b"hello " * 99)[2:-4]),
        ("br", brotli.compress(b"hello " * 99)),
        ("identity", b"hello " * 99),
    ],
)
def test_compressed_bodies_are_unpacked(encoding: str, packed: bytes, allow: Callable[..., None]) -> None:
    with serving(lambda _: reply(packed, Content_Encoding=encoding)) as server:
        allow(server)
        assert fetch.get(server.url).body == b"hello " * 99


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress)]
)
@pytest.mark.parametrize("megabytes", [3, 40])
def test_bombs_are_stopped(
    encoding: str, pack: Callable[[bytes], bytes], megabytes: int, allow: Callable[..., None]
) -> None:
    with serving(lambda _: reply(pack(bytes(megabytes * 2**20)), Content_Encoding=encoding)) as server:
        allow(server)
        with pytest.raises(fetch.FetchError) as caught:
            fetch.get(server.url)
    assert caught.value.kind == "too-large"


@pytest.mark.parametrize("encoding", ["gzip, br", "compress", "zstd"])
def test_unasked_compression_is_refused(encoding: str, allow: Callable[..., None]) -> None:
    with serving(lambda _: reply(b"xx", Content_Encoding=encoding)) as server:
        allow(server)
        with pytest.raises(fetch.FetchError, match="compression"):
            fetch.get(server.url)


@pytest.mark.parametrize(
    "answer",
    [
        reply(gzip.compress(b"hello " * 99)[:-20], Content_Encoding="gzip"),
        reply(brotli.compress(b"hello " * 99)[:-5], Content_Encoding="br"),
        reply(b"short", Content_Length="500"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"this is no HTTP\r\n\r\n",
        b"",
    ],
)
def test_cut_or_broken_replies_fail_with_a_sentence(answer: bytes, allow: Callable[..., None]) -> None:
    with serving(lambda _: answer) as server:
        allow(server)
        with pytest.raises(fetch.FetchError) as caught:
            fetch.get(server.url)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_the_limit_is_not_read_to_its_end(declared: bool, allow: Callable[..., None]) -> None:
    body = b"x" * 2_000_000
    head = {} if declared else {"Transfer_Encoding": "chunked"}
    whole = reply(body) if declared else reply(b"1e8480\r\n" + body + b"\r\n0\r\n\r\n", **head)
    with serving(lambda _: whole) as server:
        allow(server)
        with pytest.raises(fetch.FetchError) as caught:
            fetch.get(server.url, max_bytes=100_000)
    assert caught.value.kind == "too-large"


def test_a_dripping_server_meets_the_deadline(allow: Callable[..., None]) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            try:
                while not done.wait(0.05):
                    connection.sendall(b"x")
            except OSError:
                return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    server = Server(lambda _: b"", port=listener.getsockname()[1])
    allow(server)
    with pytest.raises(fetch.FetchError) as caught:
        fetch.get(server.url, timeout=0.5)
    done.set()
    thread.join(5)
    listener.close()
    assert caught.value.kind == "timeout"


def test_an_error_status_is_a_reply_without_body(allow: Callable[..., None]) -> None:
    with serving(lambda _: reply(b"go away", status="429 Too Many", Retry_After="120")) as server:
        allow(server)
        got = fetch.get(server.url)
    assert (got.status, got.body, got.headers["retry-after"]) == (429, b"", "120")


def test_a_304_keeps_its_validators(allow: Callable[..., None]) -> None:
    with serving(lambda _: b'HTTP/1.1 304 Not Modified\r\nETag: "b2"\r\n\r\n') as server:
        allow(server)
        got = fetch.get(server.url, etag='"b1"')
    assert (got.status, got.body, got.etag) == (304, b"", '"b2"')
