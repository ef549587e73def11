from __future__ import annotations

from django.urls import URLPattern, path

from problems import views

app_name = "problems"
urlpatterns: list[URLPattern] = [
    path("", views.index, name="index"),
    path("submissions/<uuid:public_id>/", views.submission, name="submission"),
    path("submissions/<uuid:public_id>/result/", views.result, name="result"),
    path("<slug:name>/", views.problem, name="problem"),
    path("<slug:name>/history/", views.history, name="history"),
    path("<slug:name>/judge/", views.judge, name="judge"),
]
