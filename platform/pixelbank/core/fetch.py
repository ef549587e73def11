"""The one HTTP client of the project: whatever an address says, it never reaches a private network.

Addresses come from strangers (feeds, redirects, admins' pastes), so a request is guarded where it cannot be
talked around, at the connection: the host is resolved once, every address it has must be public, and the
socket goes to that literal address while Host and SNI keep the name. A second DNS answer (rebinding), an odd
spelling (``0x7f.1``, ``2130706433``, ``::ffff:127.0.0.1``) or a redirect meets the same check. Redirects are
followed by hand, at most five, never from https to http. Time, bytes on the wire, bytes after inflating and
the ratio of the two are bounded. No proxy, cookie or credential takes part. Needs no Django.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version

import brotli
import httpcore
import httpx

from pixelbank.core import env

MAX_REDIRECTS = 5
MAX_WIRE_BYTES = 5 * 1024 * 1024
MAX_INFLATED_BYTES = 20 * 1024 * 1024
MAX_RATIO = 100
"""Inflated to wire bytes; text compresses 5 to 20 times. Not applied below one megabyte."""
CONNECT_S, READ_S, TOTAL_S = 10.0, 20.0, 30.0
ACCEPT = (
    "application/feed+json, application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.6, */*;q=0.1"
)
_WEB_PORTS = frozenset({80, 443})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RATIO_FREE_BYTES = 1024 * 1024

# ipaddress.is_global is True for multicast, NAT64, 6to4 and others (Python 3.11.7), so these are named.
_REFUSED = [
    ipaddress.ip_network(block)
    for block in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "2001::/23",  # Teredo, ORCHID and other protocol assignments
        "2001:db8::/32", "2002::/16", "3fff::/20",
    )
]  # fmt: skip
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")
"""The only block from which public IPv6 addresses are given out; leaves out mapped, NAT64, local, multicast."""


class FetchError(OSError):
    """The request failed. ``str(error)`` is one sentence for a person; ``kind`` is a short stable name."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind

    def __str__(self) -> str:
        return str(self.args[0])


class Refused(FetchError):
    """The address may not be fetched at all (scheme, port, private network, redirect to one of those)."""

    def __init__(self, sentence: str) -> None:
        super().__init__("refused", sentence)


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect that was followed: from ``url`` with ``status`` to the next one."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """A reply. ``body`` is decoded from gzip, deflate or br, and empty unless the status is 200 to 299."""

    status: int
    url: str
    """The address that answered, after redirects."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""
    hops: tuple[Hop, ...] = ()
    wire_bytes: int = 0
    elapsed_s: float = 0.0

    @property
    def etag(self) -> str | None:
        return self.headers.get("etag")

    @property
    def last_modified(self) -> str | None:
        return self.headers.get("last-modified")


def loopback_ports() -> frozenset[int]:
    """Ports of this machine that may be fetched: for tests and the sample feed server. None in production."""
    if env.text("PIXELBANK_ENV", "development") == "production":
        return frozenset()
    return frozenset(int(port) for port in env.listing("FETCH_ALLOW_LOOPBACK_PORTS") if port.isdigit())


@cache
def user_agent() -> str:
    """Says who asks; FETCH_CONTACT (an address or e-mail) tells publishers where to complain."""
    contact = os.environ.get("FETCH_CONTACT", "").strip()
    about = f"feed reader; +{contact}" if contact.isascii() and contact.isprintable() and contact else "feed reader"
    return f"PixelBank/{version('pixelbank')} ({about})"


def get(
    url: str,
    *,
    etag: str | None = None,
    last_modified: str | None = None,
    accept: str = ACCEPT,
    max_bytes: int = MAX_WIRE_BYTES,
    timeout: float = TOTAL_S,
) -> Fetched:
    """Fetch ``url`` with GET. The validators make it conditional: a 304 comes back as a reply without body.

    ``max_bytes`` bounds the bytes on the wire, ``timeout`` (seconds) the whole of it with all redirects.
    Raises :class:`Refused` for an address that may not be fetched and :class:`FetchError` for all other
    failures below HTTP; an HTTP error status is a reply, not an exception.
    """
    budget = _Budget(deadline=time.monotonic() + timeout, wire_left=max_bytes)
    headers = {"User-Agent": user_agent(), "Accept": accept, "Accept-Encoding": "gzip, deflate, br"}
    if etag:
        headers["If-None-Match"] = etag
    if last_modified:
        headers["If-Modified-Since"] = last_modified
    started = time.monotonic()
    hops: list[Hop] = []
    target = check_url(url)
    try:
        while True:
            reply = _one(target, headers, budget)
            if reply.status not in _REDIRECTS or "location" not in reply.headers:
                break
            if len(hops) == MAX_REDIRECTS:
                raise FetchError("redirects", f"The server redirects more than {MAX_REDIRECTS} times.")
            hops.append(Hop(str(target), reply.status))
            target = _next(target, reply.headers["location"])
    except httpcore.TimeoutException as error:
        raise FetchError("timeout", "The server did not answer in time.") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, UnicodeError) as error:
        raise FetchError("connection", f"The connection failed ({_short(error)}).") from error
    return Fetched(
        status=reply.status,
        url=str(target),
        headers=reply.headers,
        body=reply.body,
        hops=tuple(hops),
        wire_bytes=budget.wire_read,
        elapsed_s=time.monotonic() - started,
    )


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:120]


def check_url(url: str) -> httpx.URL:
    """The address, parsed, if a request may be tried; also for forms. Raises :class:`Refused` with the reason.

    Looks nothing up: whether the host is public shows when it is connected to.
    """
    try:
        parsed = httpx.URL(url)
        port = parsed.port
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise Refused("This is not a valid web address.") from error
    if parsed.scheme not in ("http", "https"):
        raise Refused("Only http and https addresses are fetched.")
    if parsed.userinfo:
        raise Refused("Addresses with a user name or password are not fetched.")
    if not parsed.host:
        raise Refused("The address names no host.")
    if port is not None and port not in _WEB_PORTS and port not in loopback_ports():
        raise Refused("Only the ports 80 and 443 are fetched.")
    return parsed


def _next(current: httpx.URL, location: str) -> httpx.URL:
    try:
        target = check_url(str(current.join(location)))
    except httpx.InvalidURL as error:
        raise Refused("The server redirects to something that is not a valid web address.") from error
    if current.scheme == "https" and target.scheme == "http":
        raise Refused("The server redirects from https to http, which is not followed.")
    return target


def _one(target: httpx.URL, headers: Mapping[str, str], budget: _Budget) -> Fetched:
    """One request and its reply, without following anything."""
    wanted = httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
    timeouts = {"connect": CONNECT_S, "read": READ_S, "write": READ_S, "pool": CONNECT_S}
    sent = [("Host", target.netloc.decode("ascii")), *headers.items()]
    with (
        httpcore.ConnectionPool(ssl_context=_tls(), network_backend=_Backend(budget), http2=False) as pool,
        pool.stream("GET", wanted, headers=sent, extensions={"timeout": timeouts}) as reply,
    ):
        found = {name.decode("latin-1").lower(): value.decode("latin-1").strip() for name, value in reply.headers}
        body = b""
        if 200 <= reply.status < 300:
            length = found.get("content-length", "")
            if length.isdigit() and int(length) > budget.wire_left:
                raise _too_large(budget.wire_read + budget.wire_left)
            body = inflate(reply.iter_stream(), found.get("content-encoding", ""))
        return Fetched(reply.status, str(target), found, body)


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


@dataclass(slots=True)
class _Budget:
    """What a whole fetch may still use; shared by its hops."""

    deadline: float
    wire_left: int
    wire_read: int = field(default=0)

    def seconds(self, wanted: float | None) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the time for the whole request is used up")
        return left if wanted is None else min(left, wanted)

    def spend(self, count: int) -> None:
        self.wire_read += count
        self.wire_left -= count
        # Some slack for headers: the limit is about bodies, and the reply's header block is bounded by h11.
        if self.wire_left < -128 * 1024:
            raise _too_large(self.wire_read + self.wire_left)


def _too_large(limit: int) -> FetchError:
    return FetchError("too-large", f"The document is larger than {limit / 2**20:.3g} MB.")


class _Backend(httpcore.NetworkBackend):
    """Opens connections, to checked addresses only."""

    def __init__(self, budget: _Budget) -> None:
        self._budget = budget
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in checked_addresses(host, port):
            try:
                # A literal address: nothing is looked up again between the check and the connection.
                stream = self._plain.connect_tcp(address, port, self._budget.seconds(timeout), None, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            return _Stream(stream, self._budget)
        raise failure

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        raise Refused("Sockets of this machine are not fetched.")


class _Stream(httpcore.NetworkStream):
    """A connection that counts its bytes and keeps to the deadline of the whole fetch."""

    def __init__(self, inner: httpcore.NetworkStream, budget: _Budget) -> None:
        self._inner = inner
        self._budget = budget

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._inner.read(max_bytes, self._budget.seconds(timeout))
        self._budget.spend(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._budget.seconds(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._inner.start_tls(ssl_context, server_hostname, self._budget.seconds(timeout))
        return _Stream(secured, self._budget)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


def checked_addresses(host: str, port: int) -> list[str]:
    """All addresses of ``host``, as literals, from a single look-up. Raises :class:`Refused` if any is not public."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise FetchError("dns", f'The host "{host[:100]}" was not found.') from error
    addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
    for address in addresses:
        if not may_connect(address, port):
            raise Refused(f'The host "{host[:100]}" is not on the public internet.')
    return addresses


def may_connect(address: str, port: int) -> bool:
    """Whether a literal address is public, or a loopback address with a port that is allowed."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # a zone such as fe80::1%eth0 is link-local
        return False
    if str(ip) in ("127.0.0.1", "::1") and port in loopback_ports():
        return True
    if port not in _WEB_PORTS:
        return False
    if not ip.is_global or ip.is_multicast or ip.is_reserved or ip.is_unspecified:
        return False
    if ip.version == 6 and ip not in _GLOBAL_V6:
        return False
    return not any(ip in block for block in _REFUSED if block.version == ip.version)


def inflate(chunks: Iterable[bytes], encoding: str, *, limit: int = MAX_INFLATED_BYTES) -> bytes:
    """The body behind one Content-Encoding, bounded in size and in ratio. Raises :class:`FetchError`."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip() not in ("", "identity")]
    if len(names) > 1 or any(name not in ("gzip", "x-gzip", "deflate", "br") for name in names):
        raise FetchError("encoding", f'The server used a compression that was not asked for ("{encoding[:40]}").')
    wire = size = 0
    parts: list[bytes] = []
    for part, used in _inflated(chunks, names[0] if names else "", limit):
        wire = used
        size += len(part)
        if size > limit:
            raise FetchError("too-large", f"The document is larger than {limit // 2**20} MB when unpacked.")
        if size > _RATIO_FREE_BYTES and size > MAX_RATIO * wire:
            raise FetchError("too-large", "The document unpacks to a size that no honest text has.")
        parts.append(part)
    return b"".join(parts)


def _inflated(chunks: Iterable[bytes], name: str, limit: int) -> Iterator[tuple[bytes, int]]:
    """Pieces of at most 64 kB with the wire bytes used so far."""
    if not name:
        wire = 0
        for chunk in chunks:
            wire += len(chunk)
            yield chunk, wire
    elif name == "br":
        yield from _brotli(chunks)
    else:
        yield from _zlib(chunks, gzip=name != "deflate")


_PIECE = 64 * 1024


def _brotli(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    inflater = brotli.Decompressor()
    wire = 0
    try:
        for chunk in chunks:
            wire += len(chunk)
            piece = inflater.process(chunk, output_buffer_limit=_PIECE)
            # Output may wait inside although all input was taken, so it is asked until nothing comes.
            while piece or not inflater.can_accept_more_data():
                yield piece, wire
                piece = inflater.process(b"", output_buffer_limit=_PIECE)
    except brotli.error as error:
        raise FetchError("encoding", "The compressed reply is broken.") from error
    if wire and not inflater.is_finished():
        raise FetchError("encoding", "The compressed reply is cut off.")


def _zlib(chunks: Iterable[bytes], *, gzip: bool) -> Iterator[tuple[bytes, int]]:
    inflater = None
    wire = 0
    try:
        for chunk in chunks:
            wire += len(chunk)
            if inflater is None and chunk:
                # "deflate" means zlib's format, but some servers send the bare stream.
                zlib_header = chunk[0] & 0x0F == 8 and (len(chunk) < 2 or (chunk[0] * 256 + chunk[1]) % 31 == 0)
                inflater = zlib.decompressobj(wbits=31 if gzip else 15 if zlib_header else -15)
            rest = chunk
            while rest and inflater is not None:
                yield inflater.decompress(rest, _PIECE), wire
                rest = inflater.unconsumed_tail
                if inflater.eof:
                    # Another gzip member may follow; anything else after the end is ignored, as browsers do.
                    rest = inflater.unused_data
                    if not gzip or not rest.startswith(b"\x1f\x8b"):
                        break
                    inflater = zlib.decompressobj(wbits=31)
        if inflater is not None:
            yield inflater.flush(), wire
    except zlib.error as error:
        raise FetchError("encoding", "The compressed reply is broken.") from error
    if inflater is not None and not inflater.eof:
        raise FetchError("encoding", "The compressed reply is cut off.")
