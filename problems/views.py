"""Pages of the problems room. Everything works by plain links and form posts; <pb-problem> adds the editor and the
live results."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from pixelbank.core import ratelimit
from pixelbank.learners.selectors import current_learner
from pixelbank.learners.services import ensure_learner
from problems import selectors, services
from problems.models import Problem, Submission
from problems.page import problem_context, result_context, submission_context

BY_LEARNER = "20/minute"
ACTIONS: Final = {"run": Submission.Kind.RUN, "submit": Submission.Kind.SUBMIT}
BY_ADDRESS = "120/minute"  # a class may sit behind one address


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """All problems, with the learner's own progress."""
    learner = current_learner(request)
    context = {
        "problems": selectors.published(),
        "solved": selectors.solved(learner),
        "tried": selectors.tried(learner),
        "today": selectors.problem_of_the_day(),
    }
    return render(request, "problems/index.html", context)


@require_safe
def problem(request: HttpRequest, name: str) -> HttpResponse:
    """One problem: statement, editor, and the result of the submission that ?submission= names."""
    row = get_object_or_404(selectors.published(), name=name)
    shown = None
    if wanted := request.GET.get("submission"):
        shown = _own(request, wanted)
        if shown is None or shown.problem_id != row.pk:
            raise Http404
    return render(request, "problems/problem.html", problem_context(request, row, shown))


@require_POST
def judge(request: HttpRequest, name: str) -> HttpResponse:
    """Take a source: `action` is run (samples and own input) or submit. Answers in JSON where that is asked for."""
    row = get_object_or_404(selectors.published(), name=name)
    kind = ACTIONS.get(request.POST.get("action", ""))
    source = request.POST.get("source", "")
    custom = {field: request.POST.get(f"own_{field}", "") for field, _, _ in row.custom_fields}
    if kind is None:
        return _refused(
            request, row, "The form says neither run nor submit: use one of its two buttons.", 400, source, custom
        )
    address = request.META.get("REMOTE_ADDR") or "unknown"
    learner = current_learner(request)
    limited = ratelimit.hit("problems.judge.address", address, BY_ADDRESS)
    if not limited and learner is not None:
        limited = ratelimit.hit("problems.judge", str(learner.pk), BY_LEARNER)
    if limited:
        said = f"You sent many programs in a short time; try again in {limited.retry_after} seconds."
        return _refused(request, row, said, 429, source, custom)
    try:
        sent = services.submit(ensure_learner(request), row, source, kind, custom)
    except services.SubmissionRefused as refusal:
        return _refused(request, row, str(refusal), 422, source, custom)
    page = f"{row.get_absolute_url()}?submission={sent.public_id}#result"
    if not _wants_json(request):
        return redirect(page)
    return JsonResponse(
        {
            "id": str(sent.public_id),
            "page": page,
            "result": reverse("problems:result", args=[sent.public_id]),
            "events": reverse("web:events", args=["submission", sent.public_id]),
            "kind": sent.kind,
            "version": sent.short_sha,
            "paused": selectors.judge_problem() or "",
        },
        status=202,
    )


@require_safe
def submission(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """One submission of the asking learner: source, result, and the changes since the version that ?against= names."""
    row = selectors.own_submission(request, public_id)
    if row is None:
        raise Http404
    return render(request, "problems/submission.html", submission_context(row, request.GET.get("against")))


@require_safe
def result(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """The result part of a page alone, for <pb-problem>."""
    row = selectors.own_submission(request, public_id)
    if row is None:
        raise Http404
    return render(request, "problems/_result.html", result_context(row))


@require_safe
def history(request: HttpRequest, name: str) -> HttpResponse:
    """The learner's submissions for a problem alone, for <pb-problem>."""
    row = get_object_or_404(selectors.published(), name=name)
    past = selectors.history(current_learner(request), row)
    return render(request, "problems/_history.html", {"history": past})


def _own(request: HttpRequest, wanted: str) -> Submission | None:
    try:
        return selectors.own_submission(request, UUID(wanted))
    except ValueError:
        return None


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _refused(
    request: HttpRequest, row: Problem, said: str, status: int, source: str, custom: dict[str, str]
) -> HttpResponse:
    """The same page with the sentence and with what was typed, or the sentence alone in JSON."""
    if _wants_json(request):
        return JsonResponse({"error": said}, status=status)
    context: dict[str, Any] = problem_context(request, row, None)
    context |= {"error": said, "source": source, "own_values": custom}
    context["fields"] = [{**field, "value": custom.get(field["name"], "")} for field in context["fields"]]
    return render(request, "problems/problem.html", context, status=status)
