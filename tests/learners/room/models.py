# ruff: noqa: DJ008 - nobody reads these rows
from __future__ import annotations

from django.db import models


class Note(models.Model):
    """Any number for a learner."""

    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE, related_name="notes")
    text = models.CharField(max_length=50)


class Progress(models.Model):
    """One for each learner and section: these clash when two learners become one."""

    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE)
    section = models.CharField(max_length=20)
    seconds = models.IntegerField()

    class Meta:
        verbose_name_plural = "progress rows"
        constraints = [models.UniqueConstraint(fields=["learner", "section"], name="test_room_progress_once")]


class Mark(models.Model):
    """Reached by no name from the learner: a merge and a deletion must find it all the same."""

    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE, related_name="+")
