"""Pages of the lab. Everything works by plain links and form posts; the live curve is added by <pb-run>."""

from __future__ import annotations

import csv
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from pixelbank.core import ratelimit
from pixelbank.learners.selectors import current_learner
from pixelbank.learners.services import ensure_learner
from training import selectors, services
from training.forms import MAX_STEPS, RunForm, cores
from training.models import Run
from training.page import run_context

STARTS = "60/hour"  # from one address: a class may sit behind one


@require_safe
def lab(request: HttpRequest) -> HttpResponse:
    """The technique, its form, the visitor's runs and one recent run. Settings in the address fill the form."""
    given = {name: request.GET[name] for name in RunForm.base_fields if name in request.GET}
    form = RunForm(initial=given)
    return _lab(request, form)


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Start a run and go to its page; on a mistake the lab comes back with the form as it was filled in."""
    form = RunForm(request.POST)
    if not form.is_valid():
        return _lab(request, form, status=422)
    limited = ratelimit.hit("training.start", request.META.get("REMOTE_ADDR") or "unknown", STARTS)
    if limited:
        form.add_error(None, f"Many runs were started from your address: try again in {limited.retry_after} seconds.")
        return _lab(request, form, status=429)
    try:
        run = services.start_run(ensure_learner(request), form.config)
    except services.RunRefused as refusal:
        if refusal.instead is not None:
            messages.warning(request, str(refusal))
            return redirect(refusal.instead)
        form.add_error(None, str(refusal))
        return _lab(request, form, status=409)
    return redirect(run)


@require_safe
def run(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """One run, from its stored state; anybody who has the address may look."""
    row = get_object_or_404(Run, public_id=public_id)
    learner = current_learner(request)
    is_own = learner is not None and row.learner_id == learner.pk
    return render(request, "training/run.html", {"is_own": is_own, **run_context(row)})


@require_POST
def cancel(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Ask the visitor's own run to stop."""
    row = get_object_or_404(Run, public_id=public_id, learner=current_learner(request))
    if row.is_finished:
        messages.info(request, "This run has ended already.")
    else:
        services.cancel_run(row)
    return redirect(row)


@require_safe
def certificate(_request: HttpRequest, public_id: UUID) -> HttpResponse:
    """The comparison with one process, with all that is needed to repeat it, as a JSON file."""
    row = get_object_or_404(Run, public_id=public_id)
    if row.result is None or row.certificate is None:
        raise Http404
    body = {
        "run": str(row.public_id),
        "finished_at": row.finished_at,
        "command": row.command,
        "config": row.config,
        "environment": {key: row.facts.get(key) for key in ("torch", "device", "backend")},
        "parity": row.certificate,
        "method": "The same model, start and global batches in one process; compared are the mean loss of each "
        "step and every parameter after the last compared step.",
        **{key: row.result[key] for key in ("params_sha256", "replicas_identical", "parameters", "bytes_per_step")},
    }
    response = JsonResponse(body, json_dumps_params={"indent": 2})
    response["Content-Disposition"] = f'attachment; filename="certificate-{row.public_id}.json"'
    return response


@require_safe
def points(_request: HttpRequest, public_id: UUID) -> HttpResponse:
    """The curve as CSV: step, loss, and the loss of the one-process twin where it was trained."""
    row = get_object_or_404(Run, public_id=public_id)
    twin = {int(step): loss for step, loss in row.twin}
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{row.public_id}.csv"'
    writer = csv.writer(response)
    writer.writerow(["step", "loss", "loss_of_one_process"])
    writer.writerows([int(step), loss, twin.get(int(step), "")] for step, loss in row.points)
    return response


def _lab(request: HttpRequest, form: RunForm, status: int = 200) -> HttpResponse:
    learner = current_learner(request)
    recent = selectors.latest_finished()
    context = {
        "form": form,
        "cores": cores(),
        "max_steps": MAX_STEPS,
        "own_runs": selectors.own_runs(learner),
        "live_run": selectors.live_run(learner),
        "recent": run_context(recent, width=440.0, height=240.0) if recent else None,
        "start_url": reverse("training:start"),
    }
    return render(request, "training/lab.html", context, status=status)
