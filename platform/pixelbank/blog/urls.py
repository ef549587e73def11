from __future__ import annotations

from django.urls import URLPattern

app_name = "blog"
urlpatterns: list[URLPattern] = []
