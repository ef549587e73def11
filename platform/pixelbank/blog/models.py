"""The daily post: one topic, one problem, one thing worth a look, for one day."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse


class DailyPost(models.Model):
    """What stands on the home page on `date` and stays in the blog afterwards.

    `html` is made from `text` when the post is saved (services.publish), never while a page is asked for.
    """

    date = models.DateField(unique=True)
    title = models.CharField(max_length=140)
    summary = models.CharField(max_length=280, help_text="one or two sentences for lists and feed readers")
    section = models.CharField(
        max_length=120,
        blank=True,
        validators=[RegexValidator(r"^[a-z0-9-]+/[a-z0-9-]+$", "Write chapter/section, as in the page's address.")],
        help_text="the day's topic, for example pretraining/data-parallelism",
    )
    problem = models.SlugField(blank=True, help_text="the day's problem, for example numericalgradient")
    text = models.TextField(help_text="Markdown, with formulas between $ signs")
    html = models.TextField(blank=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-date",)

    def __str__(self) -> str:
        return f"{self.date}: {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("blog:post", args=[self.date.isoformat()])

    @property
    def section_url(self) -> str:
        """The address of the day's topic; empty without one."""
        return reverse("chapters:section", args=self.section.split("/")) if self.section else ""
