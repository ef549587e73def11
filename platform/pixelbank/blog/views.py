from __future__ import annotations

import datetime

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pixelbank.blog import selectors

POSTS_A_PAGE = 20


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    page = Paginator(selectors.posts(), POSTS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "blog/list.html", {"page": page})


@require_safe
def post(request: HttpRequest, day: str) -> HttpResponse:
    try:
        found = selectors.post(datetime.date.fromisoformat(day))
    except ValueError:
        found = None
    if found is None:
        raise Http404("There is no post of this day.")
    return render(request, "blog/post.html", {"post": found})
