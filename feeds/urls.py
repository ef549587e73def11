from __future__ import annotations

from django.urls import path

from feeds import views

app_name = "feeds"
urlpatterns = [
    path("", views.post_list, name="list"),
    path("sources/", views.sources, name="sources"),
    path("<int:pk>/", views.post, name="post"),
]
