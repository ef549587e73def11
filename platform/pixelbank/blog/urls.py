from __future__ import annotations

from django.urls import path

from pixelbank.blog import views
from pixelbank.blog.feed import DailyFeed

app_name = "blog"
urlpatterns = [
    path("", views.listing, name="list"),
    path("feed.xml", DailyFeed(), name="feed"),
    path("<slug:day>/", views.post, name="post"),
]
