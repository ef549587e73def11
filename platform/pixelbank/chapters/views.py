"""The chapter's pages, and the three small things a reader sends back: an answer, a place, "done"."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition, require_POST, require_safe

from pixelbank.chapters import selectors, services
from pixelbank.chapters.models import Answer, Section
from pixelbank.core import ratelimit
from pixelbank.learners.selectors import current_learner
from pixelbank.learners.services import ensure_learner
from problems import selectors as problems

View = Callable[..., HttpResponse]


def _etag(request: HttpRequest, chapter: str, slug: str = "") -> str | None:
    """Names the page that this visitor would get now; None while a one-off message waits to be shown."""
    if len(get_messages(request)):
        return None
    learner = current_learner(request)
    seen = (
        selectors.contents_hash(chapter),
        selectors.fingerprint(learner),
        list(problems.published().values_list("name", "title")),
        sorted(problems.solved(learner)),
        request.user.pk,
        sorted((name, value) for name, value in request.COOKIES.items() if name == "theme"),
        _built_at(),
    )
    return f'"{hashlib.sha256(repr(seen).encode()).hexdigest()[:32]}"'


def _built_at() -> tuple[int, int]:
    """When the styles and scripts were built, and when a template was last changed: both are part of the page."""
    manifest = Path(settings.FRONTEND_DIST) / ".vite" / "manifest.json"
    return manifest.stat().st_mtime_ns if manifest.exists() else 0, _templates_at()


@cache
def _templates_at() -> int:
    rooms = Path(__file__).parents[1]
    return max(path.stat().st_mtime_ns for path in rooms.glob("*/templates/**/*.html"))


def conditional(view: View) -> View:
    """Answer "not modified" when the visitor's copy is still what it would get.

    The copy holds the nonce of its own content security policy. A new policy on the 304 would replace the stored
    one and lock the page's scripts out, so the 304 carries none.
    """
    checked = condition(etag_func=_etag)(view)

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = checked(request, *args, **kwargs)
        if response.status_code == 304:
            response._csp_exempt = True  # type: ignore[attr-defined]
        patch_cache_control(response, private=True, no_cache=True)
        return response

    return wrapped


@require_safe
@conditional
def contents(request: HttpRequest, chapter: str) -> HttpResponse:
    outline = selectors.outline(chapter, current_learner(request))
    if outline is None:
        raise Http404("There is no such chapter.")
    return render(request, "chapters/contents.html", {"outline": outline})


@require_safe
@conditional
def section(request: HttpRequest, chapter: str, slug: str) -> HttpResponse:
    found = _find(chapter, slug)
    learner = current_learner(request)
    before, after = selectors.neighbours(found)
    given = selectors.answers(learner, found)
    problem = problems.published().filter(name=found.problem).first()
    context = {
        "section": found,
        "problem": problem,
        "solved": problem is not None and problem.name in problems.solved(learner),
        "outline": selectors.outline(chapter, learner),
        "part": found.chapter.parts[found.part - 1],
        "reading": selectors.reading(learner, found),
        "prediction": _question(found.extras["prediction"], given),
        "quiz": [_question(question, given) for question in found.extras["quiz"]],
        "before": before,
        "after": after,
    }
    return render(request, "chapters/section.html", context)


@require_POST
def answer(request: HttpRequest, chapter: str, slug: str) -> HttpResponse:
    """One answer to a question. A script that asks for JSON gets the feedback; a plain form gets the page again."""
    found = _find(chapter, slug)
    question = request.POST.get("question", "")
    wants_json = "application/json" in request.headers.get("Accept", "")
    learner = ensure_learner(request)
    if limited := ratelimit.hit("chapters.answer", str(learner.pk), "60/minute"):
        return _refused(request, f"Too many answers at once. Try again in {limited.retry_after} seconds.", 429)
    try:
        choice = int(request.POST.get("choice", ""))
    except ValueError:
        return _refused(request, "Choose one of the answers first, then check it.", 400)
    try:
        kept = services.answer(learner, found, question, choice)
    except services.NoSuchChoice as error:
        return _refused(request, str(error), 400)
    if wants_json:
        asked = _question(_asked(found, question), {question: kept})
        html = render_to_string("chapters/feedback.html", {"question": asked})
        return JsonResponse({"right": kept.right, "choice": kept.choice, "feedback": html})
    return HttpResponseRedirect(f"{selectors.url_of(found)}#{question}")


@require_POST
def place(request: HttpRequest, chapter: str, slug: str) -> HttpResponse:
    """The block that is being read, sent by the reading script when the page is left or after a pause."""
    found = _find(chapter, slug)
    learner = ensure_learner(request)
    if ratelimit.hit("chapters.place", str(learner.pk), "120/minute"):
        return HttpResponse(status=429)
    services.keep_place(learner, found, request.POST.get("anchor", ""))
    return HttpResponse(status=204)


@require_POST
def done(request: HttpRequest, chapter: str, slug: str) -> HttpResponse:
    found = _find(chapter, slug)
    services.mark(ensure_learner(request), found, done=request.POST.get("done") != "no")
    return HttpResponseRedirect(f"{selectors.url_of(found)}#done")


def _find(chapter: str, slug: str) -> Section:
    found = selectors.published(chapter, slug)
    if found is None:
        raise Http404("There is no such section, or it is not written yet.")
    return found


def _asked(section: Section, name: str) -> dict[str, Any]:
    asked: list[dict[str, Any]] = [section.extras["prediction"], *section.extras["quiz"]]
    return next(question for question in asked if question["id"] == name)


def _question(question: dict[str, Any], given: dict[str, Answer]) -> dict[str, Any]:
    """A question as the template shows it: which option the learner chose last, and the feedback to it."""
    mine = given.get(question["id"])
    if mine is None or mine.choice >= len(question["options"]):
        return {**question, "chosen": None, "feedback": "", "right": None}
    option = question["options"][mine.choice]
    return {**question, "chosen": mine.choice, "feedback": option["feedback"], "right": option["right"]}


def _refused(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"error": sentence}, status=status)
    return render(request, "chapters/refused.html", {"sentence": sentence}, status=status)
