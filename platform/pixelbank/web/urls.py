from __future__ import annotations

from django.urls import path

from pixelbank.web import live, operations

app_name = "web"
urlpatterns = [
    path("events/<slug:source>/<uuid:public_id>/", live.stream, name="events"),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("metrics", operations.metrics, name="metrics"),
]
