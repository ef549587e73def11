from __future__ import annotations

from django.urls import URLPattern

app_name = "chapters"
urlpatterns: list[URLPattern] = []
