"""What is stored of a chapter: its sections as published HTML, and how far each learner has come."""

from __future__ import annotations

from django.db import models


class Chapter(models.Model):
    """A chapter and the titles of its parts, in order."""

    slug = models.SlugField(unique=True)
    title = models.CharField(max_length=120)
    summary = models.TextField()
    parts = models.JSONField(default=list)

    def __str__(self) -> str:
        return self.title


class Section(models.Model):
    """One section. A planned one has a title and a goal; a published one also its HTML and everything around it.

    `html` is made when the content is loaded, never while a page is asked for. `content_hash` names what it was made
    from, so loading the same content again changes nothing and a browser can ask whether its copy is still good.
    """

    class State(models.TextChoices):
        PLANNED = "planned"
        PUBLISHED = "published"

    chapter = models.ForeignKey(Chapter, on_delete=models.CASCADE, related_name="sections")
    slug = models.SlugField()
    number = models.PositiveSmallIntegerField()
    part = models.PositiveSmallIntegerField(help_text="position in the chapter's list of parts, from 1")
    title = models.CharField(max_length=120)
    goal = models.CharField(max_length=240)
    state = models.CharField(max_length=16, choices=State, default=State.PLANNED)
    minutes = models.PositiveSmallIntegerField(default=0)
    words = models.PositiveIntegerField(default=0)
    problem = models.SlugField(blank=True, help_text="name of the coding problem, if there is one")
    lab = models.SlugField(blank=True, help_text="training strategy to run live, if there is one")
    html = models.TextField(blank=True)
    extras = models.JSONField(default=dict, help_text="question, prediction, quiz, sources, cards and facts as HTML")
    content_hash = models.CharField(max_length=64, blank=True)
    published_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=("chapter", "slug"), name="chapters_section_slug")]

    def __str__(self) -> str:
        return f"{self.number}. {self.title}"


class Reading(models.Model):
    """How far one learner is in one section: the block that was last at the top of the view, and when it was done."""

    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE, related_name="+")
    section = models.ForeignKey(Section, on_delete=models.CASCADE, related_name="+")
    anchor = models.CharField(max_length=40, blank=True)
    done_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField()

    class Meta:
        ordering = ("-read_at",)
        constraints = [models.UniqueConstraint(fields=("learner", "section"), name="chapters_reading_once")]

    def __str__(self) -> str:
        return f"{self.section}: {'done' if self.done_at else self.anchor or 'opened'}"


class Answer(models.Model):
    """One answer to a question of a section. All are kept: what was wrong first is what is worth repeating."""

    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE, related_name="+")
    section = models.ForeignKey(Section, on_delete=models.CASCADE, related_name="+")
    question = models.SlugField()
    choice = models.PositiveSmallIntegerField()
    right = models.BooleanField(null=True, help_text="empty for a prediction, which is not marked")
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-answered_at", "-pk")
        indexes = [models.Index(fields=("learner", "section", "question"), name="chapters_answer_by_question")]

    def __str__(self) -> str:
        return f"{self.question}: {self.choice}"
