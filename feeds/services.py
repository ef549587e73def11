"""Writes of the feed: fetch a source, store its posts, load the shipped sources.

A fetch asks and parses without holding the database, then writes posts, validators and log in one transaction: a
process that dies at any moment leaves either all of a fetch or nothing of it, and the source falls due again.
"""

from __future__ import annotations

import logging
import os
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from feeds import polling, topics
from feeds.models import Appearance, FetchLog, Post, Source, Topic, key_of, moment_of
from feeds.pipeline import Entry, Feed, NotAFeed, parse
from feeds.pipeline.text import count_words, excerpt, text_of
from feeds.samples import SAMPLES
from pixelbank.core import fetch

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=120)
"""Longer than any fetch may take (the task is killed after 60 s); a claim that is older belongs to a dead worker."""
RESEND_AFTER = timedelta(minutes=5)
KEEP_LOGS = timedelta(days=30)
SUMMARY_LENGTH = 420
FORMATS = {
    "rss090": "RSS 0.90",
    "rss091u": "RSS 0.91",
    "rss092": "RSS 0.92",
    "rss10": "RSS 1.0",
    "rss20": "RSS 2.0",
    "atom03": "Atom 0.3",
    "atom10": "Atom",
    "json1": "JSON Feed",
    "json1.0": "JSON Feed",
    "json1.1": "JSON Feed",
}
SEEDS = Path(__file__).parent / "sources" / "seeds.yaml"


# --- Fetching ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stored:
    """What a fetch changed."""

    new: int = 0
    changed: int = 0


def refresh_source(pk: int) -> FetchLog | None:
    """Fetch one source and store what it brought. None when another worker has it or it is not to be fetched.

    Safe to run twice, at the same time or one after the other: entries are matched by their identity.
    """
    token = _claim(pk)
    if token is None:
        return None
    source = Source.objects.get(pk=pk)
    now = timezone.now()
    full = source.full_fetch_at is None or now - source.full_fetch_at > polling.FULL_FETCH_EVERY
    try:
        reply = fetch.get(
            source.url,
            etag=None if full else source.etag or None,
            last_modified=None if full else source.last_modified or None,
        )
    except fetch.FetchError as error:
        return _failed(source, token, str(error))
    if reply.status == 304:
        return _not_modified(source, token, reply)
    if reply.status != 200:
        return _refused(source, token, reply)
    try:
        feed = parse(reply.body, url=reply.url, content_type=reply.headers.get("content-type", ""), images=False)
    except NotAFeed as error:
        # The validators stay as they were: the next fetch must see this document in full again.
        return _failed(source, token, str(error), reply=reply)
    return _store(source, token, reply, feed, full=full)


def _claim(pk: int) -> int | None:
    """Take the source for one fetch, by compare-and-set; the fencing token, or None if it is taken or at rest."""
    now = timezone.now()
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    at_rest = Q(state__in=[Source.State.PAUSED, Source.State.GONE])
    row = Source.objects.filter(free, pk=pk, kind=Source.Kind.FEED).exclude(at_rest).values("token").first()
    if row is None:
        return None
    taken = Source.objects.filter(free, pk=pk, token=row["token"]).update(
        token=row["token"] + 1, claimed_until=now + LEASE
    )
    return row["token"] + 1 if taken else None


def _finish(source: Source, token: int, wait: timedelta, **fields: Any) -> bool:
    """Give the source back with its new facts. False when another worker took it over meanwhile."""
    now = timezone.now()
    due = now + polling.jittered(wait, random.random)
    done = Source.objects.filter(pk=source.pk, token=token).update(
        claimed_until=None, last_fetch_at=now, next_poll_at=due, **fields
    )
    return bool(done)


def _log(source: Source, outcome: FetchLog.Outcome, reply: fetch.Fetched | None, **fields: Any) -> FetchLog:
    return FetchLog.objects.create(
        source=source,
        outcome=outcome,
        status=reply.status if reply else None,
        wire_bytes=reply.wire_bytes if reply else 0,
        milliseconds=round(reply.elapsed_s * 1000) if reply else 0,
        **fields,
    )


def _interval(source: Source) -> timedelta:
    return polling.SAMPLE_INTERVAL if source.is_sample else polling.INTERVAL


def _good(source: Source, reply: fetch.Fetched, now: datetime) -> dict[str, Any]:
    """Fields of a source whose fetch went well."""
    return {
        "state": Source.State.OK,
        "problem": "",
        "failures": 0,
        "gone_since": None,
        "last_status": reply.status,
        "last_success_at": now,
        "verified_at": source.verified_at or now,
    }


@transaction.atomic
def _not_modified(source: Source, token: int, reply: fetch.Fetched) -> FetchLog | None:
    # A 304 may carry new validators; where it carries none the old ones stay good.
    fields = _good(source, reply, timezone.now())
    fields["etag"] = (reply.etag or source.etag)[:1000]
    fields["last_modified"] = (reply.last_modified or source.last_modified)[:100]
    if not _finish(source, token, _interval(source), **fields):
        return None
    return _log(source, FetchLog.Outcome.NOT_MODIFIED, reply)


@transaction.atomic
def _refused(source: Source, token: int, reply: fetch.Fetched) -> FetchLog | None:
    """The server answered, but not with a document."""
    now = timezone.now()
    asked = polling.retry_after(reply.headers.get("retry-after"), now)
    if reply.status == 429:  # a busy server is no broken source: no strike, only patience
        wait = max(asked or polling.back_off(1), _interval(source))
        detail = f"The server asks for patience (429); next try in {_duration(wait)}."
        if not _finish(source, token, wait, last_status=429, problem=detail):
            return None
        return _log(source, FetchLog.Outcome.FAILED, reply, detail=detail)
    if reply.status == 410:
        return _gone(source, token, reply, now)
    return _failed(source, token, f"The server answered with status {reply.status}.", reply=reply, at_least=asked)


def _gone(source: Source, token: int, reply: fetch.Fetched, now: datetime) -> FetchLog | None:
    since = source.gone_since or now
    over = now - since >= polling.GONE_AFTER
    detail = "The publisher says that this feed is gone for good (410)."
    fields = {"gone_since": since, "last_status": 410, "problem": detail, "failures": source.failures + 1}
    fields["state"] = Source.State.GONE if over else Source.State.DEGRADED
    if not _finish(source, token, polling.GONE_AFTER, **fields):
        return None
    return _log(source, FetchLog.Outcome.FAILED, reply, detail=detail)


@transaction.atomic
def _failed(
    source: Source,
    token: int,
    problem: str,
    *,
    reply: fetch.Fetched | None = None,
    at_least: timedelta | None = None,
) -> FetchLog | None:
    failures = source.failures + 1
    if failures >= polling.FAILING_AFTER:
        state = Source.State.FAILING
    else:
        state = Source.State.DEGRADED if source.verified_at else Source.State.UNVERIFIED
    wait = max(polling.back_off(failures), at_least or timedelta(0))
    fields = {"state": state, "failures": failures, "problem": problem[:300], "gone_since": None}
    fields["last_status"] = reply.status if reply else None
    if not _finish(source, token, wait, **fields):
        return None
    return _log(source, FetchLog.Outcome.FAILED, reply, detail=problem[:300])


def _duration(wait: timedelta) -> str:
    minutes = max(1, round(wait.total_seconds() / 60))
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"


# --- Storing -------------------------------------------------------------------------------------------------------


def _store(source: Source, token: int, reply: fetch.Fetched, feed: Feed, *, full: bool) -> FetchLog | None:
    """Write all of a fetch, or nothing. A clash with another worker's insert is resolved by doing it again."""
    for attempt in range(3):
        try:
            with transaction.atomic():
                return _write(source, token, reply, feed, full=full)
        except IntegrityError:
            if attempt == 2:
                raise
            log.info("source %s: another worker stored one of its posts first; matching again", source.slug)
    return None


def _write(source: Source, token: int, reply: fetch.Fetched, feed: Feed, *, full: bool) -> FetchLog | None:
    now = timezone.now()
    fields = _good(source, reply, now)
    # Both validators, exactly as this reply has them, also when the body is the same as before.
    fields["etag"] = (reply.etag or "")[:1000]
    fields["last_modified"] = (reply.last_modified or "")[:100]
    if full:
        fields["full_fetch_at"] = now
    fields["format"] = FORMATS.get(feed.format, feed.format)[:20]
    if feed.site_url and not source.site_url:
        fields["site_url"] = feed.site_url
    if not _finish(source, token, _interval(source), **fields):
        return None
    stored = store_entries(source, feed.entries)
    outcome = FetchLog.Outcome.NEW if stored.new else FetchLog.Outcome.UNCHANGED
    return _log(
        source, outcome, reply, new_posts=stored.new, changed_posts=stored.changed, warnings=list(feed.warnings)
    )


def store_entries(source: Source, entries: tuple[Entry, ...]) -> Stored:
    """Match each entry to a stored post, or make one. Call inside a transaction."""
    known = _Known.of(source, entries)
    shelves = {topic.slug: topic for topic in Topic.objects.all()}
    own_topics = {topic.slug for topic in source.topics.all()}
    new = changed = 0
    # Oldest first, so that the order of primary keys follows the order of publication.
    for entry in reversed(entries):
        facts = _facts(entry)
        post = known.match(entry)
        if post is None:
            seen = timezone.now()
            post = Post(source=source, first_seen_at=seen, published_at=entry.published, **facts)
            post.sort_at = moment_of(entry.published, seen)
            post.url_key = known.free_url_key(entry)
            new += 1
            _save_with_topics(post, shelves, own_topics)
        else:
            changed += _revise(post, source, facts, known.free_url_key(entry), shelves, own_topics)
        known.remember(entry, post)
    return Stored(new, changed)


def _facts(entry: Entry) -> dict[str, Any]:
    """The fields of a post that come from its entry and may change with it."""
    body = text_of(entry.content_html or "")
    summary = entry.summary or body
    return {
        "url": entry.link if entry.link and entry.canonical_url else "",
        "title": entry.title or "",
        "summary": excerpt(summary, SUMMARY_LENGTH),
        "content_html": entry.content_html or "",
        "content_key": key_of("\x1f".join((entry.title or "", entry.summary or "", entry.content_html or ""))),
        "authors": list(entry.authors),
        "tags": list(entry.tags),
        "words": count_words(body),
    }


def _revise(
    post: Post,
    source: Source,
    facts: dict[str, Any],
    url_key: str,
    shelves: dict[str, Topic],
    own_topics: set[str],
) -> bool:
    """Bring a known post up to date. Its first date stays: publishers move dates without a change of text."""
    if post.source_id != source.pk:
        if not _publishes(source, post) or _publishes(post.source, post):
            return False  # an aggregator's copy does not overwrite what is known
        post.source = source
    elif post.content_key == facts["content_key"] and post.url == facts["url"]:
        return False
    for name, value in facts.items():
        setattr(post, name, value)
    post.url_key = url_key or post.url_key
    post.changed_at = timezone.now()
    _save_with_topics(post, shelves, own_topics)
    return True


def _publishes(source: Source, post: Post) -> bool:
    """Whether the post lies on the source's own site: then that source is its home, others only list it."""
    hosts = {Post(url=source.url).host, Post(url=source.site_url).host} - {""}
    return any(post.host == host or post.host.endswith("." + host) for host in hosts)


def _save_with_topics(post: Post, shelves: dict[str, Topic], own_topics: set[str]) -> None:
    reasons = topics.classify(post.title, f"{post.summary} {text_of(post.content_html)}", post.tags)
    reasons = {slug: reason for slug, reason in reasons.items() if slug in shelves}
    for slug in own_topics - reasons.keys():
        reasons[slug] = "all posts of this source belong there"
    post.topic_reasons = reasons
    post.save()
    post.topics.set([shelves[slug] for slug in reasons])


class _Known:
    """The stored posts that the entries of one document may be, read with a handful of queries."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.by_guid: dict[str, Appearance] = {}
        self.by_hash: dict[str, Appearance] = {}
        self.by_url: dict[str, Post] = {}
        self.by_post: dict[int, Appearance] = {}

    @classmethod
    def of(cls, source: Source, entries: tuple[Entry, ...]) -> _Known:
        known = cls(source)
        keys = [_keys(entry) for entry in entries]
        guids = [key["guid"] for key in keys if key["guid"]]
        hashes = [key["hash"] for key in keys if key["hash"]]
        urls = [key["url"] for key in keys if key["url"]]
        for part in _parts(urls):
            for post in Post.objects.filter(url_key__in=part).select_related("source"):
                known.by_url[post.url_key] = post
        mine = Appearance.objects.filter(source=source).select_related("post__source")
        posts = [post.pk for post in known.by_url.values()]
        for field, values in (("guid_key", guids), ("hash_key", hashes), ("post_id", posts)):
            for part in _parts(values):
                for appearance in mine.filter(**{f"{field}__in": part}):
                    known._add(appearance)
        return known

    def _add(self, appearance: Appearance) -> None:
        self.by_post[appearance.post_id] = appearance
        if appearance.guid_key:
            self.by_guid[appearance.guid_key] = appearance
        if appearance.hash_key:
            self.by_hash[appearance.hash_key] = appearance

    def match(self, entry: Entry) -> Post | None:
        """The post that this entry is, by its strongest key that is known."""
        keys = _keys(entry)
        if found := self.by_guid.get(keys["guid"]) or self.by_hash.get(keys["hash"]):
            return found.post
        return self.by_url.get(keys["url"])

    def free_url_key(self, entry: Entry) -> str:
        """The entry's URL key, or '' when another post holds it already."""
        key = _keys(entry)["url"]
        return "" if key in self.by_url else key

    def remember(self, entry: Entry, post: Post) -> None:
        """Note that this source lists the post, under the identity that the entry has today."""
        keys = _keys(entry)
        if post.url_key:
            self.by_url[post.url_key] = post
        appearance = self.by_post.get(post.pk) or Appearance(source=self.source, post=post)
        before = (appearance.pk, appearance.guid_key, appearance.hash_key, appearance.url)
        holder = self.by_guid.get(keys["guid"]) if keys["guid"] else None
        if keys["guid"] and (holder is None or holder.post_id == post.pk):
            appearance.guid, appearance.guid_key = entry.guid or "", keys["guid"]
        if keys["hash"]:
            appearance.hash_key = keys["hash"]
        appearance.url = entry.link or ""
        if before != (appearance.pk, appearance.guid_key, appearance.hash_key, appearance.url) or not appearance.pk:
            appearance.save()
        self._add(appearance)


def _keys(entry: Entry) -> dict[str, str]:
    """The entry's identity as keys of fixed length; empty where it has none of that kind."""
    keys = {"guid": "", "url": "", "hash": ""}
    for key in entry.keys:
        keys[key.partition(":")[0]] = key_of(key)
    return keys


def _parts(values: list[Any], size: int = 500) -> list[list[Any]]:
    """SQLite takes a limited number of parameters in one query."""
    return [values[start : start + size] for start in range(0, len(values), size)]


# --- Scheduling ----------------------------------------------------------------------------------------------------


def poll_due(limit: int = 60) -> int:
    """Send a task for each source that is due; returns how many. Called every minute.

    The next date moves on first, by compare-and-set, so that a second beat sends nothing twice; should the task be
    lost, the source falls due again five minutes later.
    """
    now = timezone.now()
    due = (
        Source.objects.filter(kind=Source.Kind.FEED, next_poll_at__lte=now)
        .exclude(state__in=[Source.State.PAUSED, Source.State.GONE])
        .order_by("-is_sample", "next_poll_at")  # samples first: they answer at once
    )
    sent = 0
    for source in due[:limit]:
        taken = Source.objects.filter(pk=source.pk, next_poll_at=source.next_poll_at).update(
            next_poll_at=now + RESEND_AFTER
        )
        if not taken:
            continue
        if not _send(source.pk):
            # Without a broker nothing is lost: the source stays due and the next minute tries again.
            Source.objects.filter(pk=source.pk).update(next_poll_at=source.next_poll_at)
            return sent
        sent += 1
    return sent


def _send(pk: int) -> bool:
    from feeds.tasks import fetch_source  # tasks import this module

    try:
        fetch_source.apply_async([pk], retry=False)
    except OperationalError as error:
        log.warning("source %s waits for the next minute: the broker can't be reached (%s)", pk, error)
        return False
    return True


def request_fetch(source: Source) -> bool:
    """Fetch soon, because a person asked; a paused or gone source is revived. False for kinds without a fetcher."""
    if source.kind != Source.Kind.FEED:
        return False
    revived = source.state in (Source.State.PAUSED, Source.State.GONE)
    if revived:
        source.state = Source.State.OK if source.verified_at else Source.State.UNVERIFIED
    source.next_poll_at = timezone.now()
    fields = {"next_poll_at": source.next_poll_at}
    if revived:
        fields |= {"state": source.state, "gone_since": None, "failures": 0, "problem": ""}
    Source.objects.filter(pk=source.pk).update(**fields)
    transaction.on_commit(lambda: _send(source.pk))
    return True


def pause(source: Source) -> None:
    """Stop fetching this source; its posts stay."""
    Source.objects.filter(pk=source.pk).update(state=Source.State.PAUSED, next_poll_at=None, problem="")


def sweep() -> int:
    """Put sources back that a dead worker held, and drop old log lines; returns how many sources were put back."""
    now = timezone.now()
    FetchLog.objects.filter(at__lt=now - KEEP_LOGS).delete()
    return Source.objects.filter(claimed_until__lt=now).update(
        claimed_until=None, next_poll_at=now, token=F("token") + 1
    )


# --- Content -------------------------------------------------------------------------------------------------------


def load_content() -> str:
    """Bring topics, seed sources and sample sources into the database. Idempotent; editors' changes stay."""
    for order, rule in enumerate(topics.RULES):
        Topic.objects.update_or_create(slug=rule.slug, defaults={"name": rule.name, "order": order})
    added = sum(_load_seed(seed) for seed in yaml.safe_load(SEEDS.read_text(encoding="utf-8")))
    samples = _load_samples()
    return f"{added} sources added, {Source.objects.filter(is_sample=False).count()} in all, {samples} sample sources"


def _load_seed(seed: dict[str, Any]) -> bool:
    """One source of seeds.yaml, made if it is not there. It waits, unfetched, for an editor's "fetch now": a site
    that starts on somebody's laptop must not call on 35 hosts unasked."""
    defaults = {
        "name": seed["name"],
        "kind": seed.get("kind", "feed"),
        "url": seed["url"],
        "note": seed.get("note", ""),
        "format": seed.get("format", ""),
        "state": seed.get("state", "unverified"),
    }
    source, made = Source.objects.get_or_create(slug=seed["slug"], defaults=defaults)
    if made:
        source.topics.set(Topic.objects.filter(slug__in=seed.get("topics", [])))
    return made


def _load_samples() -> int:
    """Sources of the sample feed server, where one runs (``./dev run`` names its port); else they rest."""
    port = os.environ.get("PIXELBANK_SAMPLE_FEED_PORT", "")
    if not port.isdigit() or int(port) not in fetch.loopback_ports():
        Source.objects.filter(is_sample=True).update(next_poll_at=None)
        return 0
    for sample in SAMPLES:
        # The port changes with every start; what is known about the document (its ETag) stays good.
        facts = {"name": sample.name, "url": f"http://127.0.0.1:{port}/{sample.path}", "note": sample.note}
        facts |= {"is_sample": True, "fulltext_allowed": True, "next_poll_at": timezone.now()}
        Source.objects.update_or_create(slug=f"sample-{sample.slug}", defaults=facts)
    return len(SAMPLES)
