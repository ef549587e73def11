"""Accounts and learners in the admin, whose own sign-in is replaced by the site's.

One door: the site's sign-in is rate-limited and, when multi-factor sign-in comes (it is not there yet), staff
gets it without a second form to protect.
"""

from __future__ import annotations

from typing import ClassVar

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest

from pixelbank.learners.models import Learner, User

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
admin.site.site_header = "PixelBank for operators"
admin.site.site_title = "PixelBank"
admin.site.index_title = "Content, work and accounts"


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    ordering = ("email",)
    list_display = ("email", "is_staff", "is_active", "date_joined", "last_login")
    list_filter = ("is_staff", "is_superuser", "is_active")
    search_fields = ("email",)
    readonly_fields = ("date_joined", "last_login")
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        ("May", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("When", {"fields": ("date_joined", "last_login")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "usable_password", "password1", "password2")}),)


@admin.register(Learner)
class LearnerAdmin(admin.ModelAdmin):
    list_display = ("public_id", "user", "created_at")
    search_fields = ("public_id", "user__email")
    list_select_related = ("user",)
    readonly_fields: ClassVar[tuple[str, ...]] = ("public_id", "user", "preferences", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Learners come into being by doing something, never by hand."""
        return False
