"""The problems room in the admin: problems, submissions, judges, and rejudging with a preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.views.decorators.http import require_POST

from pixelbank.learners.models import User
from problems import rejudge, selectors
from problems.models import CaseResult, JudgeWorker, Problem, Rejudge, Submission
from problems.rejudge import RejudgeRefused

ITEMS_A_PAGE = 100


class Facts(admin.ModelAdmin[Any]):
    """What happened: it can be looked at, never added or edited by hand."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All fields; without this those that no form may edit would not be shown at all."""
        return [field.name for field in self.model._meta.fields]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or super().has_change_permission(request)


@admin.register(Problem)
class ProblemAdmin(admin.ModelAdmin[Problem]):
    """Problems come from their packages; here they can be taken off the site."""

    list_display = ("title", "name", "level", "is_published", "short_digest", "loaded_at")
    list_filter = ("is_published", "difficulty")
    search_fields = ("name", "title")
    readonly_fields = [field.name for field in Problem._meta.fields if field.name != "is_published"]
    actions = ["rejudge_all"]

    @admin.display(description="version")
    def short_digest(self, problem: Problem) -> str:
        return problem.digest[:8]

    @admin.action(description="Judge all submissions of these problems again (with a preview)", permissions=["change"])
    def rejudge_all(self, request: HttpRequest, queryset: QuerySet[Problem]) -> HttpResponse | None:
        names = ", ".join(queryset.order_by("title").values_list("title", flat=True))
        return _start(self, request, Submission.objects.filter(problem__in=queryset), f"All submissions to {names}")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Problem | None = None) -> bool:
        return False


class CaseInline(admin.TabularInline[CaseResult, Submission]):
    model = CaseResult
    fields = readonly_fields = ("index", "name", "group", "verdict", "reason", "message", "ms")
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Submission | None = None) -> bool:
        return False


@admin.register(Submission)
class SubmissionAdmin(Facts):
    """Submissions are facts: nothing here edits one. A rejudge stands beside its original."""

    list_display = ("version", "state", "code", "learner", "age", "time", "problem", "kind", "cases_right", "token")
    list_filter = ("state", "verdict", "kind", "problem", "created_at")
    search_fields = ("public_id", "source_sha256", "request_id", "learner__public_id", "learner__user__email")
    search_help_text = "Id of the submission, version (its first characters do), request id, or the learner."
    list_select_related = ("problem", "learner__user")
    date_hierarchy = "created_at"
    list_per_page = 50
    show_full_result_count = False
    inlines = [CaseInline]
    actions = ["rejudge"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["program" if name == "source" else name for name in super().get_readonly_fields(request, obj)]

    @admin.display(description="source")
    def program(self, submission: Submission) -> str:
        """With its indentation."""
        return format_html("<pre>{}</pre>", submission.source)

    @admin.display(description="version", ordering="source_sha256")
    def version(self, submission: Submission) -> str:
        return submission.short_sha

    @admin.display(description="verdict", ordering="verdict")
    def code(self, submission: Submission) -> str:
        return submission.verdict

    @admin.display(description="cases right")
    def cases_right(self, submission: Submission) -> str:
        return f"{submission.passed} of {submission.total}" if submission.total else ""

    @admin.display(description="time", ordering="time_ms")
    def time(self, submission: Submission) -> str:
        return f"{submission.time_ms:.0f} ms" if submission.time_ms else ""

    @admin.display(description="age", ordering="-created_at")
    def age(self, submission: Submission) -> str:
        return timesince(submission.created_at)

    @admin.action(description="Judge again (with a preview)", permissions=["view"])
    def rejudge(self, request: HttpRequest, queryset: QuerySet[Submission]) -> HttpResponse | None:
        chosen = queryset.count()
        first = queryset.first()
        one = f"Submission {first.short_sha} to {first.problem}" if first else ""
        return _start(self, request, queryset, one if chosen == 1 else f"{chosen} chosen submissions")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, str] | None = None) -> HttpResponse:
        if paused := selectors.judge_problem():
            self.message_user(request, f"The judge is paused. {paused}", messages.WARNING)
        return super().changelist_view(request, extra_context)


def _start(
    page: admin.ModelAdmin[Any], request: HttpRequest, rows: QuerySet[Submission], scope: str
) -> HttpResponse | None:
    if not request.user.has_perm("problems.add_rejudge"):
        raise PermissionDenied
    try:
        batch = rejudge.start(rows, scope, cast(User, request.user))
    except RejudgeRefused as refusal:
        page.message_user(request, str(refusal), messages.ERROR)
        return None
    page.log_addition(request, batch, f"Rejudge begun: {batch.scope}, {batch.asked} submissions.")
    return HttpResponseRedirect(reverse("admin:problems_rejudge_change", args=[batch.pk]))


@admin.register(JudgeWorker)
class JudgeWorkerAdmin(Facts):
    """Which judges there are, what their self-test found, and whether they are still heard of."""

    list_display = ("name", "is_usable", "profile", "heartbeat", "is_alive", "sentence", "tested_at")

    @admin.display(description="last heard of", ordering="seen_at")
    def heartbeat(self, judge: JudgeWorker) -> str:
        return f"{max(0, round((timezone.now() - judge.seen_at).total_seconds()))} s ago"

    @admin.display(description="alive", boolean=True)
    def is_alive(self, judge: JudgeWorker) -> bool:
        return judge.seen_at >= timezone.now() - selectors.SEEN_WITHIN


class RejudgeForm(forms.ModelForm):  # type: ignore[type-arg]
    """What to judge again."""

    problem = forms.ModelChoiceField(
        Problem.objects.all(), required=False, empty_label="all problems", help_text="Whose submissions to judge again."
    )
    verdict = forms.ChoiceField(
        choices=[("", "all verdicts"), *Submission._meta.get_field("verdict").choices[:-1]],  # type: ignore[index]
        required=False,
        help_text="Only those that have this verdict now.",
    )

    class Meta:
        model = Rejudge
        fields: ClassVar[list[str]] = []


@admin.register(Rejudge)
class RejudgeAdmin(admin.ModelAdmin[Rejudge]):
    """Batches: begun here or by the actions of submissions and problems, looked at, then applied or discarded."""

    form = RejudgeForm
    list_display = ("scope", "state", "done", "asked", "created_by", "created_at", "decided_by", "decided_at", "why")
    list_filter = ("state", "created_at")
    list_select_related = ("created_by", "decided_by")

    def has_delete_permission(self, request: HttpRequest, obj: Rejudge | None = None) -> bool:
        return False

    @admin.display(description="judged")
    def done(self, batch: Rejudge) -> int:
        return rejudge.progress(batch).done

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The form of a new batch; saving it begins the batch instead of storing a row by hand."""
        form = RejudgeForm(request.POST if request.method == "POST" else None)
        if not form.is_valid():
            buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
            return super().add_view(request, form_url, {"title": "Judge submissions again", **buttons})
        problem, verdict = form.cleaned_data["problem"], form.cleaned_data["verdict"]
        rows = Submission.objects.all()
        scope = "All submissions"
        if problem:
            rows, scope = rows.filter(problem=problem), f"{scope} to {problem.title}"
        if verdict:
            rows, scope = rows.filter(verdict=verdict), f"{scope} with {verdict}"
        return _start(self, request, rows, scope) or HttpResponseRedirect(request.path)

    def get_urls(self) -> list[URLPattern]:
        def decision(name: str, act: Callable[[HttpRequest, Rejudge], str]) -> URLPattern:
            def view(request: HttpRequest, pk: int) -> HttpResponse:
                return self._act(request, pk, act)

            wrapped = self.admin_site.admin_view(require_POST(view))
            return path(f"<int:pk>/{name}/", wrapped, name=f"problems_rejudge_{name}")

        own = [decision("stop", self._stop), decision("apply", self._apply), decision("discard", self._discard)]
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The preview: progress, what would change and for whom, and the decision."""
        batch = self.get_object(request, object_id)
        if batch is None:
            raise Http404
        if not self.has_view_or_change_permission(request, batch):
            raise PermissionDenied
        only = request.GET.get("all") is None
        items = batch.items.select_related("again__original", "again__problem", "again__learner__user")
        if only:
            items = items.filter(rejudge_filter(request.GET.get("old"), request.GET.get("new")))
        progress = rejudge.progress(batch)
        context = {
            **self.admin_site.each_context(request),
            "title": batch.scope,
            "opts": self.opts,
            "original": batch,
            "batch": batch,
            "progress": progress,
            "changes": rejudge.changes(batch),
            "failed": batch.items.filter(rejudge.FAILED).count(),
            "effects": rejudge.effects(batch),
            "only_changed": only,
            "page": Paginator(items, ITEMS_A_PAGE).get_page(request.GET.get("p")),
            "running": bool(progress.left),
            "live": bool(progress.left) and not batch.is_decided and "still" not in request.GET,
            "may_decide": self.has_change_permission(request, batch) and not batch.is_decided,
            "paused": selectors.judge_problem() if progress.left else None,
        }
        request.current_app = self.admin_site.name  # type: ignore[attr-defined]
        return TemplateResponse(request, "admin/problems/rejudge/preview.html", context)

    def _act(self, request: HttpRequest, pk: int, act: Callable[[HttpRequest, Rejudge], str]) -> HttpResponse:
        """Do what a button of the preview asks for, note who did it in the admin's log, and show the preview again."""
        batch = get_object_or_404(Rejudge, pk=pk)
        if not self.has_change_permission(request, batch):
            raise PermissionDenied
        try:
            said = act(request, batch)
        except RejudgeRefused as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        else:
            self.log_change(request, batch, said)
            self.message_user(request, said, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:problems_rejudge_change", args=[pk]))

    def _stop(self, request: HttpRequest, batch: Rejudge) -> str:
        if not rejudge.stop(batch):
            raise RejudgeRefused("This batch was not running any more.")
        return "Stopped: what waited was taken back, and what has been judged can still be applied."

    def _apply(self, request: HttpRequest, batch: Rejudge) -> str:
        why = request.POST.get("why", "")
        done = rejudge.apply(batch, cast(User, request.user), why, losses="losses" in request.POST)
        return (
            f"Applied. Changed: {done['applied']}; accepted and kept: {done['kept']}; left alone, as they had changed "
            f"since: {done['overtaken']}. Why: {batch.why}"
        )

    def _discard(self, request: HttpRequest, batch: Rejudge) -> str:
        rejudge.discard(batch, cast(User, request.user), request.POST.get("why", ""))
        return f"Discarded: no verdict was changed. Why: {batch.why}"


def rejudge_filter(old: str | None, new: str | None) -> Q:
    """The changed items, or those of one kind of change."""
    chosen = rejudge.CHANGED
    if old:
        chosen &= Q(old_verdict=old)
    if new:
        chosen &= Q(again__verdict=new)
    return chosen
