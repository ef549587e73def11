"""Runs in the admin: look, and cancel. Nothing can be edited: a run is what happened."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from training import services
from training.models import Run


@admin.register(Run)
class RunAdmin(admin.ModelAdmin[Run]):
    list_display = ("public_id", "strategy", "state", "token", "created_at", "finished_at", "reason")
    list_filter = ("state", "strategy")
    search_fields = ("public_id",)
    date_hierarchy = "created_at"
    actions = ("cancel",)

    @admin.action(description="Cancel the chosen runs")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        """Ask each live run among the chosen ones to stop."""
        live = [run for run in queryset if not run.is_finished]
        for run in live:
            services.cancel_run(run)
        messages.info(request, f"{len(live)} runs were asked to stop.")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Runs come from the lab."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        """See the class."""
        return obj is None and super().has_change_permission(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        """Who may change runs in general may look at them."""
        return super().has_view_permission(request, obj) or super().has_change_permission(request)
