"""From bytes to text that a parser can take: encoding, forbidden characters, DOCTYPE, entities, prefixes.

Every repair here answers a fault that real feeds have; each is done by one left-to-right scan, so that a
hostile document costs time in proportion to its length.
"""

from __future__ import annotations

import codecs
import html
import html.entities
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from feeds.pipeline.model import NotAFeed

MAX_BYTES = 20 * 1024 * 1024
"""Of a document after inflating; the guarded client uses the same limit."""
MAX_ENTRIES = 1000
"""More is an archive, not news: the first ones are kept and a warning says so."""

_SINGLE_BYTE = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030"}
"""As the WHATWG Encoding Standard reads these labels."""
_NOT_FOR_PEOPLE = {"unicode_escape", "raw_unicode_escape", "utf-7", "idna", "punycode", "undefined", "palmos"}
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']\s*([\w.:-]{1,40})""", re.I)
_SENT = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.I | re.ASCII)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?:#(\d{1,12}|[xX][0-9a-fA-F]{1,12});|([A-Za-z][A-Za-z0-9]{0,40});|)")
_DOCTYPE_END = re.compile(r"[\[>]")
_SUBSET_END = re.compile(r"\]\s*>")
_ITEM = re.compile(r"</?(?:rss:)?item[\s>/]", re.I)
_OWN = re.compile(r"<(?:rss:)?(title|description)[\s>]")
_ROOTS = {"rss", "feed", "rdf", "channel"}
_XML_ENTITIES = {"amp", "lt", "gt", "quot", "apos"}
_TOKEN = re.compile(
    r"(?P<cdata><!\[CDATA\[.*?(?:\]\]>|\Z))"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<pi><\?.*?(?:\?>|\Z))"
    r"|(?P<doctype><!DOCTYPE\b)"
    r"|(?P<tag><(?P<close>/?)(?P<name>[A-Za-z_](?>[\w.\-]*)(?::(?>[\w.\-]+))?)"
    r"(?P<attrs>(?>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*))>)",
    re.S | re.I,
)
_ATTRIBUTE = re.compile(r"""([\w.\-]+(?::[\w.\-]+)?)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
_KNOWN_PREFIXES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "thr": "http://purl.org/syndication/thread/1.0",
    "wfw": "http://wellformedweb.org/CommentAPI/",
}
_MEDIA_NAMESPACE = re.compile(r"""xmlns:([\w.\-]+)\s*=\s*["']http://search\.yahoo\.com/mrss/?["']""")
_OVERRIDES = {"title", "description", "text", "keywords", "category", "credit"}
"""Children of Media RSS that feedparser lets stand for the entry's own title, summary and tags."""


MAX_DEPTH = 5000
"""Elements that are open at once; far more than even careless documents leave open, and still cheap."""
MAX_SKIPPED = 100_000
"""Characters of an element that may be skipped; a longer one is no title."""


@dataclass(slots=True)
class Document:
    """A decoded document, with what had to be repaired in plain words."""

    text: str
    root: str
    """Local name of the root element in lower case, or ``json``."""
    warnings: list[str] = field(default_factory=list)


def prepare(data: bytes, content_type: str = "") -> Document:
    """Decode and repair ``data``. Raises :class:`NotAFeed` when it can be no feed at all."""
    warnings: list[str] = []
    text = decode(inflate(data), content_type, warnings).lstrip("\ufeff\x00 \t\r\n")
    if not text.strip():
        raise NotAFeed("The document is empty.")
    if text[0] in "{[":
        return Document(text, "json", warnings)
    return _prepare_xml(text, warnings)


def inflate(data: bytes) -> bytes:
    """Undo gzip that a server forgot to declare; the size stays bounded."""
    if not data.startswith(b"\x1f\x8b"):
        if len(data) > MAX_BYTES:
            raise NotAFeed(f"The document is larger than {MAX_BYTES // 2**20} MB.")
        return data
    inflater = zlib.decompressobj(wbits=31)
    try:
        out = inflater.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise NotAFeed("The document starts like gzip but cannot be unpacked.") from error
    if len(out) > MAX_BYTES:
        raise NotAFeed(f"The document is larger than {MAX_BYTES // 2**20} MB when unpacked.")
    return out


def decode(data: bytes, content_type: str, warnings: list[str]) -> str:
    """Text of ``data``: BOM, then the HTTP charset, then the declaration, then UTF-8, then Windows-1252.

    A charset counts only if the bytes decode in it. A declared UTF-16 or UTF-32 without a BOM needs zero
    bytes near the start (an UTF-8 document that says utf-16 is common, and decodes as nonsense). Bytes that
    hold valid UTF-8 sequences win over a one-byte HTTP charset unless the declaration agrees with it: that
    those sequences arise by chance is next to impossible, that a server adds a wrong default is daily life.
    """
    for bom, name in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(bom):
            return data.decode(name, "replace").removeprefix("\ufeff")
    head = data[:64].lstrip()
    zeros = b"\0" in head
    if zeros:
        wide = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
        text = _try(data, wide)
        if text is not None and "<" in text[:64]:
            return text
    declared = _declared(data)
    sent = _charset(content_type)
    is_utf8 = _try(data, "utf-8")
    multibyte = is_utf8 is not None and not data.isascii()
    for name in (sent, declared):
        if not name or (not zeros and name.startswith(("utf-16", "utf-32", "utf_16", "utf_32"))):
            continue
        if name == sent and name != declared and multibyte and declared in ("", "utf-8") and name in _one_byte():
            continue
        text = _try(data, name)
        if text is not None:
            return text
    if is_utf8 is not None:
        if declared:
            warnings.append(f"The document names the encoding {declared}, but it is UTF-8 and was read as that.")
        return is_utf8
    named = _label(_DECLARED.search(data[:1024])) or _label(_SENT.search(content_type))
    fault = f"names the encoding {named}, but is not written in it" if named else "names no encoding and is not UTF-8"
    warnings.append(f"The document {fault}; it was read as Windows-1252.")
    return data.decode("cp1252", "replace")


def _declared(data: bytes) -> str:
    return _codec(_label(_DECLARED.search(data[:1024].replace(b"\0", b""))))


def _charset(content_type: str) -> str:
    return _codec(_label(_SENT.search(content_type)))


def _label(found: re.Match[bytes] | re.Match[str] | None) -> str:
    """A charset as it is written, empty where none is named."""
    if found is None:
        return ""
    name = found[1]
    return name.decode("ascii", "replace") if isinstance(name, bytes) else name


def _codec(label: str) -> str:
    """Python's name for a charset label; empty for one that is unknown or no character set."""
    try:
        name = codecs.lookup(label).name
        "".encode(name)  # codecs such as zlib and rot13 are no text encodings
    except (LookupError, ValueError):
        return ""
    return "" if name in _NOT_FOR_PEOPLE or name.replace("-", "_") in _NOT_FOR_PEOPLE else _SINGLE_BYTE.get(name, name)


def _one_byte() -> tuple[str, ...]:
    return ("cp1252", "cp1254", "iso8859-15", "iso8859-2", "cp1250")


def _try(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name, "replace" if name in ("cp1252", "cp1254") else "strict")
    except (UnicodeError, ValueError):
        return None


def _prepare_xml(text: str, warnings: list[str]) -> Document:
    clean = _FORBIDDEN.sub("", text)
    if len(clean) != len(text):
        warnings.append("Characters that XML does not allow were dropped.")
    clean = _without_cut_entry(clean, warnings)
    rewriter = _Rewriter(
        declared=set(re.findall(r"xmlns:([\w.\-]+)\s*=", clean)),
        used=set(re.findall(r"[<\s]([\w.\-]+):[\w.\-]+[\s=/>]", clean)),
        media=set(_MEDIA_NAMESPACE.findall(clean)) | {"media"},
    )
    body = "".join(rewriter.run(clean))
    if rewriter.root is None:
        raise NotAFeed(_no_feed(rewriter.first))
    return Document(body, rewriter.root, warnings + rewriter.warnings)


def _no_feed(root: str | None) -> str:
    if root is None:
        return "The document is neither XML nor JSON, so it is no feed."
    if root in ("html", "head", "body", "div", "p"):
        return "This is a web page, not a feed: look for the address of its feed (often /feed, /rss.xml or /atom.xml)."
    if root in ("urlset", "sitemapindex"):
        return "This is a sitemap, not a feed."
    if root == "opml":
        return "This is an OPML list of feeds, not a feed."
    return f"The outermost element is <{root[:40]}>, which is neither RSS, Atom nor RDF."


def _without_cut_entry(text: str, warnings: list[str]) -> str:
    """Drop a last entry that the document breaks off in: half of it would get another identity than the whole."""
    last = max(text.rfind("<item>"), text.rfind("<item "), text.rfind("<entry>"), text.rfind("<entry "))
    closed = max(text.rfind("</item"), text.rfind("</entry"))
    if last == -1 or not 0 <= closed < last or re.search(r"</(?:rss|feed|rdf:RDF|channel)\s*>", text[last:]):
        return text
    warnings.append("The document is cut off; its last entry is incomplete and was left out.")
    return text[:last]


class _Rewriter:
    """One scan over the tokens of an XML document that yields the repaired text."""

    def __init__(self, *, declared: set[str], used: set[str], media: set[str]) -> None:
        self.declared = declared
        self.used = used
        self.media = media
        self.root: str | None = None
        self.first: str | None = None  # the first element of all, for the message when no root of a feed comes
        self.warnings: list[str] = []
        self._entries = 0
        self._depth = 0
        self._dropping = False  # inside or between entries beyond the limit
        self._own: set[str] = set()  # which of title and description the RSS item at hand has
        self._parents: list[str] | None = None  # open elements inside that item; None outside of items

    def run(self, text: str) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="utf-8"?>\n'
        place = 0
        while place < len(text):
            token = _TOKEN.search(text, place)
            yield from self._characters(text[place : token.start() if token else len(text)])
            if token is None:
                return
            place = token.end()
            if token["doctype"]:
                place = self._doctype(text, token.end())
            elif token["cdata"]:
                if self._open:
                    inner = token[0] if token[0].endswith("]]>") else token[0] + "]]>"
                    yield _references(inner, in_cdata=True)
            elif token["tag"] and self._overrides(token, text):
                place = self._end_of(token["name"], text, place)
            elif token["tag"]:
                yield from self._tag(token)
            # comments and processing instructions are left out: nothing in a feed is said by them

    @property
    def _open(self) -> bool:
        return self.root is not None and not self._dropping

    def _characters(self, text: str) -> Iterator[str]:
        if text and self._open:
            yield _references(text.replace("<", "&lt;"))

    def _doctype(self, text: str, place: int) -> int:
        """Where the DOCTYPE ends; its entities are never read, so none of them can explode."""
        end = _DOCTYPE_END.search(text, place)
        if end is None or end[0] == ">":
            return end.end() if end else len(text)
        closing = _SUBSET_END.search(text, end.end())
        after = closing.end() if closing else len(text)
        if "<!ENTITY" in text[place:after]:
            self.warnings.append("The document defines entities of its own; they were not expanded.")
        return after

    def _tag(self, token: re.Match[str]) -> Iterator[str]:
        close, name, attrs = token["close"], token["name"], token["attrs"]
        prefix, _, local = name.rpartition(":")
        if self.root is None:
            self.first = self.first or local.lower()
            if close or local.lower() not in _ROOTS or self.first == "html":
                return  # a PHP warning before the document is no part of it
            self.root = local.lower()
            yield self._rebuilt(close, prefix, local, attrs, root=True)
            return
        if local.lower() in ("item", "entry") and prefix not in self.media and self._too_many(bool(close)):
            return
        if self._dropping and not (close and local.lower() in ("channel", "rss", "feed", "rdf")):
            return
        self._dropping = False
        self._depth += -1 if close else not attrs.rstrip().endswith("/")
        if self._depth > MAX_DEPTH:
            raise NotAFeed(f"The document opens {MAX_DEPTH} elements inside each other, which no feed does.")
        yield self._rebuilt(close, prefix, local, attrs)

    def _overrides(self, token: re.Match[str], text: str) -> bool:
        """Whether the element that opens here would take the place of the entry's own title or summary.

        feedparser lets a namesake win: children of Media RSS anywhere, and in an RSS item also ``dc:title``,
        ``itunes:summary`` or a ``title`` inside another element, though the item has its own.
        """
        close, name = token["close"], token["name"]
        prefix, _, local = name.lower().rpartition(":")
        local = {"summary": "description", "subtitle": "description"}.get(local, local)
        if self.root in (None, "feed"):
            return not close and prefix in self.media and local in _OVERRIDES
        if local == "item" and prefix in ("", "rss"):
            end = _ITEM.search(text, token.end())
            inside = text[token.end() : end.start() if end else token.end()]
            self._own = set(_OWN.findall(inside)) if not close else set()
            self._parents = None if close else []
            return False
        if self._parents is None or close:
            if close and self._parents and name in self._parents:
                del self._parents[self._parents.index(name) :]
            return not close and prefix in self.media and local in _OVERRIDES
        if prefix in self.media and local in _OVERRIDES:
            return True
        if name in ("image", "textInput", "textinput"):  # belong to a channel; in an item feedparser raises KeyError
            return True
        if local in self._own and (name.lower() not in ("title", "description", "rss:title", "rss:description")):
            return True
        if local in self._own and any(
            f"</{parent}" in text[token.end() : token.end() + 5000] for parent in self._parents
        ):
            return True
        if not token["attrs"].rstrip().endswith("/"):
            self._parents.append(name)
        return False

    def _end_of(self, name: str, text: str, place: int) -> int:
        """Where the element ends that opened before ``place``; ``place`` itself if it is never closed before the
        entry ends."""
        if text[place - 2] == "/":
            return place
        close = text.find(f"</{name}", place, place + MAX_SKIPPED)
        end = _ITEM.search(text, place, place + MAX_SKIPPED)
        if close == -1 or (end and end.start() < close):
            return place
        return text.find(">", close) + 1 or len(text)

    def _too_many(self, close: bool) -> bool:
        if close:
            return self._dropping
        self._entries += 1
        if self._entries == MAX_ENTRIES + 1:
            self._dropping = True
            self.warnings.append(f"The document holds more than {MAX_ENTRIES} entries; the rest was left out.")
        return self._dropping

    def _rebuilt(self, close: str, prefix: str, local: str, attrs: str, *, root: bool = False) -> str:
        name = f"{prefix}:{local}" if prefix and self._keeps(prefix) else local
        if close:
            return f"</{name}>"
        ending = "/" if attrs.rstrip().endswith("/") and not re.search(r"=\s*[^\s\"'>]*/$", attrs) else ""
        seen: set[str] = set()
        parts = [name]
        for key, value in _ATTRIBUTE.findall(attrs):
            key_prefix, _, key_local = key.rpartition(":")
            if key_prefix and key_prefix not in ("xmlns", "xml") and not self._keeps(key_prefix):
                key = key_local
            if key in seen:
                continue
            seen.add(key)
            bare = value[1:-1] if value[:1] in "\"'" else value
            parts.append(f'{key}="{_references(bare.replace("<", "&lt;")).replace(chr(34), "&quot;")}"')
        if root:
            parts += [f'xmlns:{p}="{u}"' for p, u in _KNOWN_PREFIXES.items() if p in self.used - self.declared]
        return f"<{' '.join(parts)}{ending}>"

    def _keeps(self, prefix: str) -> bool:
        """False for a prefix that the document never declares: it is dropped (``<rss:item>`` is an item)."""
        if prefix in self.declared or prefix in _KNOWN_PREFIXES or prefix == "xml":
            return True
        note = f'The prefix "{prefix[:40]}:" is used but never declared; it was ignored.'
        if note not in self.warnings and len(self.warnings) < 20:
            self.warnings.append(note)
        return False


def _references(text: str, *, in_cdata: bool = False) -> str:
    """Make every ``&`` in ``text`` mean something in XML.

    HTML's names (``&eacute;``) become characters; a number that is no character (``&#1114112;``) becomes
    U+FFFD; numbers 128-159 are read as Windows-1252, as browsers do; a bare ``&`` is escaped. Inside CDATA
    only impossible numbers change, since the rest there is the HTML's own business.
    """

    def replaced(found: re.Match[str]) -> str:
        number, name = found[1], found[2]
        if number:
            code = int(number[1:], 16) if number[0] in "xX" else int(number)
            char = html.unescape(f"&#{code};") if 0x80 <= code < 0xA0 else None
            if char is not None:
                return found[0] if in_cdata else char
            valid = code < 0x110000 and not _FORBIDDEN.match(chr(code))
            return found[0] if valid else "\ufffd"
        if in_cdata:
            return found[0]
        if name in _XML_ENTITIES:
            return found[0]
        char = html.entities.html5.get(f"{name};") if name else None
        return html.escape(char) if char is not None else "&amp;" + found[0][1:]

    return _REFERENCE.sub(replaced, text)
