from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from pixelbank.blog import services
from pixelbank.blog.models import DailyPost
from pixelbank.core.markdown import MarkdownError


class DailyPostForm(forms.ModelForm):  # type: ignore[type-arg]
    """Says what is wrong with a text before anything is saved."""

    class Meta:
        model = DailyPost
        fields = ("date", "title", "summary", "section", "problem", "text")

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        try:
            services.html_of(text)
        except MarkdownError as error:
            raise forms.ValidationError(str(error)) from None
        return text


@admin.register(DailyPost)
class DailyPostAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = DailyPostForm
    list_display = ("date", "title", "section", "problem")
    date_hierarchy = "date"
    search_fields = ("title", "text")

    def save_model(self, request: HttpRequest, obj: DailyPost, form: Any, change: bool) -> None:
        services.publish(obj)
