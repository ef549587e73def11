"""Facts of the problems room: problems, submissions, their cases, and which judges are able to judge."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from pixelbank.core.rows import QueuedRow
from problems.judge.verdicts import Verdict

VERDICTS = {
    Verdict.AC: "Accepted",
    Verdict.WA: "Wrong answer",
    Verdict.RE: "Runtime error",
    Verdict.TLE: "Time limit exceeded",
    Verdict.MLE: "Memory limit exceeded",
    Verdict.OLE: "Output limit exceeded",
    Verdict.CE: "Not a valid program",
    Verdict.JE: "Judge error",
    Verdict.SKIPPED: "Not run",
}
VERDICT_CHOICES = [(str(code), label) for code, label in VERDICTS.items()]


class Problem(models.Model):
    """A problem as it is shown. Rows come from problems/catalogue by services.load_content; the package judges."""

    name = models.SlugField("package name", max_length=60, unique=True)
    title = models.CharField(max_length=120)
    summary = models.CharField(max_length=300)
    signature = models.CharField(max_length=200)
    difficulty = models.PositiveSmallIntegerField(default=1, help_text="1 (easy) to 5.")
    chapter = models.CharField(max_length=80, blank=True, help_text="The chapter section it belongs to.")
    keywords = models.JSONField(default=list, blank=True)
    statement = models.TextField("statement as HTML")
    editorial = models.TextField("editorial as HTML", blank=True)
    hints = models.JSONField("hints as HTML", default=list, blank=True)
    samples = models.JSONField(default=list, help_text="[[[label, text], …], …]")
    starter = models.TextField()
    custom_fields = models.JSONField(default=list, help_text="[[name, label, example], …] of an own input.")
    limits = models.JSONField(default=dict)
    attempts_before_editorial = models.PositiveSmallIntegerField(default=3)
    digest = models.CharField("version", max_length=64)
    is_published = models.BooleanField("published", default=True)
    loaded_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["difficulty", "title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("problems:problem", args=[self.name])

    @property
    def level(self) -> str:
        """The difficulty as a word."""
        return ("easy", "moderate", "medium", "hard", "very hard")[max(1, min(self.difficulty, 5)) - 1]


class Submission(QueuedRow):
    """One source that was sent to the judge. `token` counts the claims by workers (see QueuedRow)."""

    class State(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "being judged"
        DONE = "done", "judged"

    class Kind(models.TextChoices):
        RUN = "run", "run on the samples"
        SUBMIT = "submit", "submission"
        REJUDGE = "rejudge", "rejudge"

    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE, related_name="submissions")
    problem = models.ForeignKey(Problem, on_delete=models.PROTECT, related_name="submissions")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.SUBMIT)
    original = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="rejudges", help_text="Of a rejudge."
    )
    source = models.TextField()
    source_sha256 = models.CharField("version", max_length=64)
    custom = models.JSONField("own input", null=True, blank=True)
    seed = models.PositiveBigIntegerField(help_text="Of the hidden cases: with it the verdict can be repeated.")
    package_digest = models.CharField("version of the problem", max_length=64, blank=True)
    verdict = models.CharField(max_length=4, choices=VERDICT_CHOICES, blank=True, db_index=True)
    reason = models.CharField(max_length=16, blank=True)
    message = models.TextField(blank=True)
    misconception = models.CharField(max_length=60, blank=True, db_index=True, help_text="Only when it is sure.")
    advice = models.JSONField(default=dict, blank=True, help_text="Kind and title of the message, hint and link.")
    passed = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    time_ms = models.FloatField(default=0)
    output = models.TextField(blank=True, help_text="What loading the file printed; that of samples is with the case.")
    evidence = models.JSONField(default=dict, blank=True, help_text="A sample or feedback case that shows the fault.")
    bonus = models.JSONField(default=list, blank=True, help_text="[{note, passed, said}, …], outside the verdict.")
    request_id = models.CharField(max_length=40, blank=True, help_text="Of the page's request; it is in the log lines.")

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["learner", "finished_at"], name="submission_turn"),  # asked before each judging
            models.Index(fields=["learner", "problem", "kind", "-created_at"], name="submission_history"),
        ]

    def __str__(self) -> str:
        return f"{self.short_sha} for {self.problem_id}: {self.verdict or self.state}"

    def get_absolute_url(self) -> str:
        return reverse("problems:submission", args=[self.public_id])

    @property
    def short_sha(self) -> str:
        """The name of this version of the source."""
        return self.source_sha256[:8]

    @property
    def advice_url(self) -> str:
        """The part of the chapter that the message is about; empty when there is none."""
        slug, _, heading = str(self.advice.get("link", "")).partition("#")
        return f"/learn/pretraining/{slug}/#{heading}" if slug else ""

    @property
    def verdict_text(self) -> str:
        """The verdict in words. A run that only met the samples is not called accepted."""
        if self.kind == self.Kind.RUN and self.verdict == Verdict.AC:
            return "Samples pass"
        return VERDICTS[Verdict(self.verdict)] if self.verdict else ""


class CaseResult(models.Model):
    """One case of a judged submission. Inputs and right answers of hidden cases are never stored here."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="cases")
    index = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=60)
    group = models.CharField(max_length=16)
    note = models.CharField(max_length=200, blank=True)
    verdict = models.CharField(max_length=4, choices=VERDICT_CHOICES)
    reason = models.CharField(max_length=16, blank=True)
    message = models.TextField(blank=True)
    ms = models.FloatField(default=0)
    got = models.TextField(blank=True, help_text="Samples and own input only.")
    output = models.TextField(blank=True, help_text="Samples and own input only.")
    shown = models.JSONField(default=list, blank=True, help_text="Samples and own input only: [[label, text], …]")
    observation = models.JSONField(default=dict, blank=True, help_text="What the code did; for the judge's own use.")

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["submission", "index"], name="one_result_a_case")]

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}"

    @property
    def is_shown(self) -> bool:
        return self.group != "secret"

    @property
    def verdict_text(self) -> str:
        if self.group == "custom" and self.verdict == Verdict.AC:
            return "Ran"
        return "Right" if self.verdict == Verdict.AC else VERDICTS[Verdict(self.verdict)]


class JudgeWorker(models.Model):
    """One judge worker: what its self-test found and when it was last heard of."""

    name = models.CharField(max_length=200, unique=True)
    profile = models.CharField(max_length=32)
    is_usable = models.BooleanField("judges", default=False)
    sentence = models.TextField(help_text="What the self-test found.")
    tested_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Rejudge(models.Model):
    """A batch of submissions that are judged again. Nothing changes for a learner until staff applies it."""

    class State(models.TextChoices):
        OPEN = "open", "to be decided"
        STOPPED = "stopped", "stopped, to be decided"
        APPLIED = "applied", "applied"
        DISCARDED = "discarded", "discarded"

    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN, db_index=True)
    scope = models.CharField("what", max_length=200)
    asked = models.PositiveIntegerField("submissions", default=0)
    created_at = models.DateTimeField("begun", auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", verbose_name="begun by"
    )
    decided_at = models.DateTimeField("decided", null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    why = models.CharField(max_length=300, blank=True, help_text="Why it was applied or discarded.")

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.scope

    @property
    def is_decided(self) -> bool:
        return self.state in {self.State.APPLIED, self.State.DISCARDED}


class RejudgeItem(models.Model):
    """One submission of a batch: `again` is judged beside its original; the row stays as the record of a change."""

    class Outcome(models.TextChoices):
        APPLIED = "applied", "applied"
        KEPT = "kept", "kept: it would have taken an accepted verdict away"
        OVERTAKEN = "overtaken", "left alone: the verdict had changed since"

    rejudge = models.ForeignKey(Rejudge, on_delete=models.CASCADE, related_name="items")
    again = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="item")
    old_verdict = models.CharField(max_length=4, choices=VERDICT_CHOICES)
    old_passed = models.PositiveIntegerField()
    old_total = models.PositiveIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    before = models.JSONField(default=dict, help_text="What the original said before, when it was changed.")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.again.short_sha}: {self.old_verdict} → {self.again.verdict or self.again.state}"
