"""Every address of the site, room by room."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from pixelbank.web import errors

urlpatterns = [
    path("learn/", include("pixelbank.chapters.urls")),
    path("problems/", include("problems.urls")),
    path("lab/", include("training.urls")),
    path("feed/", include("feeds.urls")),
    path("blog/", include("pixelbank.blog.urls")),
    path("me/", include("pixelbank.learners.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("", include("pixelbank.web.urls")),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
