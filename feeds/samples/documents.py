"""The sample sources as real feed documents: RSS 2.0, Atom and JSON Feed."""

from __future__ import annotations

import json
from datetime import datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape, quoteattr

from markdown_it import MarkdownIt

from feeds.samples import AUTHOR, ORIGIN, Sample, SamplePost, posts_of

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
TYPES = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}


def document(sample: Sample, today: datetime) -> bytes:
    """The feed of ``sample`` as it is served on the day ``today`` (aware, UTC)."""
    posts = posts_of(sample)
    text = {"rss": _rss, "atom": _atom, "json": _json}[sample.format](sample, posts, today)
    return text.encode("utf-8")


def _link(sample: Sample, post: SamplePost) -> str:
    return f"{ORIGIN}/{sample.slug}/{post.slug}"


def _summary(post: SamplePost) -> str:
    """The first paragraph, without Markdown's marks."""
    inline = _markdown.parseInline(post.markdown.split("\n\n", 1)[0])[0].children or []
    return "".join(token.content for token in inline)


def _rss(sample: Sample, posts: list[SamplePost], today: datetime) -> str:
    items = "".join(
        f"<item><title>{escape(post.title)}</title><link>{_link(sample, post)}</link>"
        f'<guid isPermaLink="false">pixelbank-sample:{sample.slug}:{post.slug}</guid>'
        f"<dc:creator>{AUTHOR}</dc:creator><pubDate>{format_datetime(post.published(today), usegmt=True)}</pubDate>"
        + "".join(f"<category>{escape(tag)}</category>" for tag in post.tags)
        + f"<description>{escape(escape(_summary(post)))}</description>"
        f"<content:encoded>{escape(_markdown.render(post.markdown))}</content:encoded></item>\n"
        for post in posts
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>'
        f"<title>{escape(sample.name)}</title><link>{ORIGIN}/{sample.slug}/</link>"
        f"<description>{escape(sample.note)}</description><language>en</language>\n{items}</channel></rss>\n"
    )


def _atom(sample: Sample, posts: list[SamplePost], today: datetime) -> str:
    entries = "".join(
        f"<entry><id>urn:pixelbank-sample:{sample.slug}:{post.slug}</id><title>{escape(post.title)}</title>"
        f"<link rel={quoteattr('alternate')} href={quoteattr(_link(sample, post))}/>"
        f"<published>{post.published(today).isoformat()}</published>"
        f"<updated>{post.published(today).isoformat()}</updated>"
        + "".join(f"<category term={quoteattr(tag)}/>" for tag in post.tags)
        + f"<summary>{escape(_summary(post))}</summary>"
        f'<content type="html">{escape(_markdown.render(post.markdown))}</content></entry>\n'
        for post in posts
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">'
        f"<id>urn:pixelbank-sample:{sample.slug}</id><title>{escape(sample.name)}</title>"
        f"<subtitle>{escape(sample.note)}</subtitle><author><name>{AUTHOR}</name></author>"
        f"<link href={quoteattr(f'{ORIGIN}/{sample.slug}/')}/>"
        f"<updated>{posts[0].published(today).isoformat()}</updated>\n{entries}</feed>\n"
    )


def _json(sample: Sample, posts: list[SamplePost], today: datetime) -> str:
    return json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": sample.name,
            "description": sample.note,
            "home_page_url": f"{ORIGIN}/{sample.slug}/",
            "language": "en",
            "authors": [{"name": AUTHOR}],
            "items": [
                {
                    "id": f"pixelbank-sample:{sample.slug}:{post.slug}",
                    "url": _link(sample, post),
                    "title": post.title,
                    "summary": _summary(post),
                    "content_html": _markdown.render(post.markdown),
                    "date_published": post.published(today).isoformat(),
                    "tags": list(post.tags),
                }
                for post in posts
            ],
        },
        ensure_ascii=False,
        indent=1,
    )
