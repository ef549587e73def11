"""The learner's page: progress, preferences, taking everything along, and deleting it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pixelbank.core import ratelimit
from pixelbank.learners import selectors, services
from pixelbank.learners.forms import ForgetForm, PreferencesForm
from pixelbank.learners.models import User


@never_cache
@require_safe
def me(request: HttpRequest) -> HttpResponse:
    return _page(request, PreferencesForm(initial=_preferences(request)))


@never_cache
@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    form = PreferencesForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=400)
    services.prefer(request, **form.cleaned_data)
    messages.success(request, "Your preferences are kept.")
    return redirect("learners:me")


@never_cache
@require_safe
def export(request: HttpRequest) -> HttpResponse:
    """Everything that is kept about the asking visitor, as one JSON file."""
    learner, user = selectors.current_learner(request), _user(request)
    who = f"learner:{learner.pk}" if learner else f"user:{user.pk}" if user else request.META.get("REMOTE_ADDR", "")
    if limited := ratelimit.hit("export", who, "20/hour"):
        return _too_many(request, limited)
    response = JsonResponse(selectors.export(user, learner), json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="pixelbank-{timezone.now():%Y-%m-%d}.json"'
    return response


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: HttpRequest) -> HttpResponse:
    """Ask once more, then delete the learner, the account if there is one, and all that hangs on them."""
    learner, user = selectors.current_learner(request), _user(request)
    if learner is None and user is None:
        return redirect("learners:me")
    if request.method == "POST":
        # Guessing a password here must not be easier than at the sign-in.
        if user and (limited := ratelimit.hit("forget", str(user.pk), "5/5 minutes")):
            return _too_many(request, limited)
        form = ForgetForm(user, request.POST)
        if form.is_valid():
            services.forget(request)
            return redirect("learners:forgotten")
    else:
        form = ForgetForm(user)
    context = {"form": form, "account": user, "kept": selectors.kept_rows(learner) if learner else []}
    return render(request, "learners/forget.html", context, status=400 if form.errors else 200)


@require_safe
def forgotten(request: HttpRequest) -> HttpResponse:
    return render(request, "learners/forgotten.html")


def _page(request: HttpRequest, form: PreferencesForm, status: int = 200) -> HttpResponse:
    learner = selectors.current_learner(request)
    context = {
        "learner": learner,
        "account": _user(request),
        "overviews": selectors.overviews(learner) if learner else [],
        "kept": selectors.kept_rows(learner) if learner else [],
        "form": form,
    }
    return render(request, "learners/me.html", context, status=status)


def _user(request: HttpRequest) -> User | None:
    return request.user if request.user.is_authenticated else None


def _preferences(request: HttpRequest) -> dict[str, Any]:
    learner = selectors.current_learner(request)
    return {"time_zone": "UTC", **(learner.preferences if learner else {})}


def _too_many(request: HttpRequest, limited: ratelimit.RateLimited) -> HttpResponse:
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(limited.retry_after)
    return response
