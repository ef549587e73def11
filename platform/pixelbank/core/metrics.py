"""Prometheus metrics: requests by view, and gauges that are read from the shared stores when they are scraped."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)
REQUESTS = Counter("pixelbank_requests_total", "Requests by view and status.", ["view", "status"])
SECONDS = Histogram("pixelbank_request_seconds", "Time to the response's headers, by view.", ["view"])
EVENT_CLIENTS_REFUSED = Counter("pixelbank_event_clients_refused_total", "Event streams refused by the cap.")


class _Gauges(Collector):
    """Gauges whose value is a question to the database or Redis, asked at each scrape."""

    def __init__(self) -> None:
        self.readers: dict[str, tuple[str, str, Callable[[], dict[str, float]]]] = {}

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, (text, label, read) in self.readers.items():
            family = GaugeMetricFamily(name, text, labels=[label])
            try:
                numbers = read()
            except Exception:
                # One store that is down must not hide the metrics that would show it.
                log.exception("The gauge %s could not be read", name)
                continue
            for value, number in numbers.items():
                family.add_metric([value], number)
            yield family

    def describe(self) -> Iterator[GaugeMetricFamily]:
        # Without this the registry would collect (and ask the database) while the app is being registered.
        return iter(())


_gauges = _Gauges()
REGISTRY.register(_gauges)


def register_gauge(name: str, text: str, label: str, read: Callable[[], dict[str, float]]) -> None:
    """A gauge with one label; `read` returns {label value: number} and runs at each scrape."""
    _gauges.readers[name] = (text, label, read)


def exposition() -> bytes:
    """Everything in Prometheus' text format; where several processes serve pages, the counts of all together.

    They share them through files in the folder that PROMETHEUS_MULTIPROC_DIR names (see docker/compose.yaml).
    """
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest()
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(_gauges)
    return generate_latest(registry)


class MetricsMiddleware:
    """Counts and times requests, in both worlds so that event streams stay on the event loop."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.asynchronous = iscoroutinefunction(get_response)
        if self.asynchronous:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if self.asynchronous:
            return self._await(request)
        start = time.perf_counter()
        response = self.get_response(request)
        _observe(request, response, start)
        return response

    async def _await(self, request: HttpRequest) -> HttpResponseBase:
        start = time.perf_counter()
        response: HttpResponseBase = await self.get_response(request)
        _observe(request, response, start)
        return response


def _observe(request: HttpRequest, response: HttpResponseBase, start: float) -> None:
    match = request.resolver_match
    # The view's name, never the path: a path is unbounded and may hold a visitor's ids.
    view = match.view_name if match and match.view_name else "none"
    REQUESTS.labels(view, str(response.status_code)).inc()
    SECONDS.labels(view).observe(time.perf_counter() - start)
