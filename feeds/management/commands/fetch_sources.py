"""Fetch sources of the feed now, in this process: the way to start the real ones without the admin."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from feeds import services
from feeds.models import Source


class Command(BaseCommand):
    help = "Fetch the named sources, or with --all every feed that is not at rest, one by one; then they are polled."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="*", help="short names of sources, as in feeds/sources/seeds.yaml")
        parser.add_argument("--all", action="store_true", help="every feed that is neither paused nor gone")

    def handle(self, *args: Any, **options: Any) -> None:
        feeds = Source.objects.filter(kind=Source.Kind.FEED)
        wanted: list[str] = options["slug"]
        if bool(wanted) == options["all"]:
            raise CommandError("Name at least one source, or write --all.")
        if unknown := set(wanted) - set(feeds.values_list("slug", flat=True)):
            raise CommandError(f"There is no feed named {', '.join(sorted(unknown))}.")
        for source in feeds.filter(slug__in=wanted) if wanted else feeds.all():
            line = services.refresh_source(source.pk)
            if line is None:
                self.stdout.write(f"{source.slug}: left alone ({source.get_state_display()})")
            else:
                said = line.detail or f"{line.new_posts} new, {line.changed_posts} changed"
                self.stdout.write(f"{source.slug}: {line.get_outcome_display()}: {said}")
