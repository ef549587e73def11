"""The form of the lab: the few settings of a data-parallel run that a visitor may choose, and their bounds."""

from __future__ import annotations

import os
import secrets
from typing import Any

from django import forms

from training.engine.config import SIZES, ConfigError, RunConfig

RANKS = (1, 2, 3, 4)
MAX_STEPS = {"nano": 400, "tiny": 300, "small": 60}  # about half a minute on two busy cores, twin included
DEADLINE_S = 180.0
PARITY_STEPS = 50
WHOLE = "Give a whole number, please."


class RunForm(forms.Form):
    """Validated by its fields first and by RunConfig last; `config` is the run that was asked for."""

    ranks = forms.TypedChoiceField(
        label="Ranks", coerce=int, choices=[(n, str(n)) for n in RANKS], initial=2, widget=forms.RadioSelect
    )
    steps = forms.IntegerField(
        label="Steps",
        min_value=1,
        max_value=max(MAX_STEPS.values()),
        initial=100,
        error_messages={
            "min_value": "At least one step, please.",
            "max_value": "At most %(limit_value)s steps, please.",
            "invalid": WHOLE,
            "required": WHOLE,
        },
    )
    model = forms.ChoiceField(
        label="Model",
        choices=[
            (name, f"{name}: {size.layers} layer{'s' if size.layers > 1 else ''}, width {size.width}")
            for name, size in SIZES.items()
        ],
        initial="tiny",
    )
    dtype = forms.ChoiceField(
        label="Numbers", choices=[("float32", "float32 (usual)"), ("float64", "float64 (exact to 13 digits)")]
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**31 - 1,
        error_messages={
            "min_value": "A seed is not negative.",
            "max_value": "A seed is at most %(limit_value)s.",
            "invalid": WHOLE,
            "required": WHOLE,
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seed"].initial = secrets.randbelow(1000)
        for name, field in self.fields.items():
            if name in self.errors:
                field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"{name}-error {name}-hint"}
            else:
                field.widget.attrs["aria-describedby"] = f"{name}-hint"

    def clean(self) -> dict[str, Any]:
        """Check what concerns more than one field."""
        cleaned = super().clean() or {}
        model, steps = cleaned.get("model"), cleaned.get("steps")
        if model and steps and steps > MAX_STEPS[model]:
            self.add_error(
                "steps", f"{steps} steps of the {model} model take too long here: at most {MAX_STEPS[model]}."
            )
        elif not self.errors:
            try:
                self.config = RunConfig(
                    strategy="ddp", deadline_s=DEADLINE_S, parity_steps=min(steps or 0, PARITY_STEPS), **cleaned
                )
            except ConfigError as error:
                self.add_error(None, str(error))
        return cleaned


def cores() -> int:
    """Processor cores of this machine, for the page to be honest about."""
    return os.cpu_count() or 1
