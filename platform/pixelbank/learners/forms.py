"""Forms of the learner's page."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any
from zoneinfo import available_timezones

from django import forms

from pixelbank.learners.models import User


@cache
def _zones() -> list[tuple[str, list[tuple[str, str]]]]:
    """Time zones by continent, in the shape that a select with groups takes."""
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix/")))
    groups = groupby(names, key=lambda name: name.partition("/")[0])
    places = [
        (area, [(name, name.partition("/")[2].replace("_", " ").replace("/", ", ")) for name in group])
        for area, group in groups
    ]
    return [("Everywhere", [("UTC", "UTC")]), *places]


class PreferencesForm(forms.Form):
    time_zone = forms.ChoiceField(
        label="Time zone", choices=_zones, help_text="Dates and times on every page are shown in it."
    )


class ForgetForm(forms.Form):
    """Confirms a deletion: by password, by the address where an account has none, by the button alone for a visitor."""

    password = forms.CharField(
        label="Your password", widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    email = forms.EmailField(label="Your email address, to confirm")

    def __init__(self, user: User | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if user is None or not user.has_usable_password():
            del self.fields["password"]
        if user is None or user.has_usable_password():
            del self.fields["email"]

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if self.user is None or not self.user.check_password(password):
            raise forms.ValidationError("This is not your password. Nothing was deleted.")
        return password

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if self.user is None or email.lower() != self.user.email:
            raise forms.ValidationError("This is not the address of your account. Nothing was deleted.")
        return email
