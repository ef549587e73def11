"""The problems room in the admin."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from problems import selectors, services
from problems.models import CaseResult, JudgeWorker, Problem, Submission


@admin.register(Problem)
class ProblemAdmin(admin.ModelAdmin[Problem]):
    """Problems come from their packages; here they can be taken off the site."""

    list_display = ("title", "name", "level", "is_published", "short_digest", "loaded_at")
    list_filter = ("is_published", "difficulty")
    readonly_fields = [field.name for field in Problem._meta.fields if field.name != "is_published"]
    actions = ["rejudge_all"]

    @admin.display(description="version")
    def short_digest(self, problem: Problem) -> str:
        return problem.digest[:8]

    @admin.action(description="Judge all submissions of these problems again")
    def rejudge_all(self, request: HttpRequest, queryset: QuerySet[Problem]) -> None:
        rows = Submission.objects.filter(problem__in=queryset, kind=Submission.Kind.SUBMIT)
        _rejudge(self, request, rows)

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
class SubmissionAdmin(admin.ModelAdmin[Submission]):
    """Submissions are facts: nothing here edits one. A rejudge stands beside its original."""

    list_display = ("short_sha", "problem", "kind", "state", "verdict", "was", "passed", "total", "token", "created_at")
    list_filter = ("state", "kind", "verdict", "problem")
    search_fields = ("public_id", "source_sha256")
    list_select_related = ("problem", "original")
    date_hierarchy = "created_at"
    inlines = [CaseInline]
    actions = ["rejudge"]
    readonly_fields = [field.name for field in Submission._meta.fields]

    @admin.display(description="was")
    def was(self, submission: Submission) -> str:
        """The verdict of the original, where a rejudge came out differently."""
        original = submission.original
        return original.verdict if original and original.verdict != submission.verdict else ""

    @admin.action(description="Judge again, beside the original")
    def rejudge(self, request: HttpRequest, queryset: QuerySet[Submission]) -> None:
        _rejudge(self, request, queryset)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, str] | None = None):  # type: ignore[no-untyped-def]
        if paused := selectors.judge_problem():
            self.message_user(request, f"The judge is paused. {paused}", messages.WARNING)
        return super().changelist_view(request, extra_context)


def _rejudge(page: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Submission]) -> None:  # type: ignore[type-arg]
    done = rows.filter(state=Submission.State.DONE)
    for row in done.iterator():
        services.rejudge(row)
    page.message_user(request, f"{done.count()} submissions are judged again; compare in the column “was”.")


@admin.register(JudgeWorker)
class JudgeWorkerAdmin(admin.ModelAdmin[JudgeWorker]):
    """Which judges there are and what their self-test found."""

    list_display = ("name", "is_usable", "profile", "sentence", "tested_at", "seen_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: JudgeWorker | None = None) -> bool:
        return False
