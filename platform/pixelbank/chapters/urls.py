from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from pixelbank.chapters import views
from pixelbank.chapters.selectors import FIRST_CHAPTER

app_name = "chapters"
urlpatterns = [
    path("", RedirectView.as_view(url=f"{FIRST_CHAPTER}/"), name="learn"),
    path("<slug:chapter>/", views.contents, name="contents"),
    path("<slug:chapter>/<slug:slug>/", views.section, name="section"),
    path("<slug:chapter>/<slug:slug>/answers/", views.answer, name="answer"),
    path("<slug:chapter>/<slug:slug>/place/", views.place, name="place"),
    path("<slug:chapter>/<slug:slug>/done/", views.done, name="done"),
]
