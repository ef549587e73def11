from __future__ import annotations

from django.urls import path

from pixelbank.learners import views

app_name = "learners"
urlpatterns = [
    path("", views.me, name="me"),
    path("preferences/", views.preferences, name="preferences"),
    path("export/", views.export, name="export"),
    path("delete/", views.forget, name="forget"),
    path("deleted/", views.forgotten, name="forgotten"),
]
