from __future__ import annotations

from django.urls import path

from pixelbank.web import live, operations, theme, views

app_name = "web"
urlpatterns = [
    path("", views.home, name="home"),
    path("about/", views.about, name="about"),
    path("theme/", theme.choose, name="theme"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("robots.txt", views.robots, name="robots"),
    path("events/<slug:source>/<uuid:public_id>/", live.stream, name="events"),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("metrics", operations.metrics, name="metrics"),
]
