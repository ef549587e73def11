from __future__ import annotations

from django.urls import URLPattern, path

from training import views

app_name = "training"
urlpatterns: list[URLPattern] = [
    path("", views.lab, name="lab"),
    path("runs/", views.start, name="start"),
    path("runs/<uuid:public_id>/", views.run, name="run"),
    path("runs/<uuid:public_id>/cancel/", views.cancel, name="cancel"),
    path("runs/<uuid:public_id>/certificate.json", views.certificate, name="certificate"),
    path("runs/<uuid:public_id>/points.csv", views.points, name="points"),
]
