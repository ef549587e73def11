"""The pages of the lab, from the outside."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from pixelbank.learners.models import Learner
from training.engine.config import RunConfig
from training.forms import MAX_STEPS
from training.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
GOOD = {"ranks": "2", "steps": "5", "model": "nano", "dtype": "float32", "seed": "7"}
PARITY = {
    "max_dparam": 3e-7, "max_dloss": 0.0, "tolerance": 1e-4, "holds": True, "steps": 2, "dtype": "float32",
}  # fmt: skip
RESULT = {
    "loss": 3.5, "steps": 2, "params_sha256": "ab" * 32, "replicas_identical": True, "parameters": 111616,
    "tokens_per_s": 1000.0, "bytes_per_step": 446464, "wire_bytes_per_rank": 446464, "parity": PARITY,
}  # fmt: skip
LANES = [[["forward", 0.0, 5.0, -1, 0], ["all_reduce", 5.0, 9.0, 0, 446464]], [["forward", 1.0, 9.0, -1, 0]]]


def finished(**fields: Any) -> Run:
    values = {
        "learner": Learner.objects.create(),
        "config": RunConfig(steps=2, seed=9).to_json(),
        "state": "done",
        "finished_at": timezone.now(),
        "facts": {"note": "On the CPU.", "baselines": {"uniform": 4.2}, "torch": "2.13.0", "backend": "gloo"},
        "points": [[0, 4.2], [1, 3.5]],
        "twin": [[0, 4.2]],
        "live": {"ranks": [2, 2], "tokens_per_s": 1000, "bytes": 446464}
        | {"timeline": {"step": 1, "ms": 9.0, "lanes": LANES}},
        "result": RESULT,
    }
    return Run.objects.create(**{**values, **fields})


def test_start_makes_a_run_for_a_new_visitor_and_shows_it(client: Client) -> None:
    answer = client.post("/lab/runs/", GOOD)
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/lab/runs/{run.public_id}/")
    assert run.run_config == RunConfig(model="nano", ranks=2, steps=5, seed=7, parity_steps=5, deadline_s=180.0)
    assert "learner" in client.cookies
    page = client.get(answer["Location"]).content.decode()
    assert "Waiting for a free worker" in page
    assert "Cancel this run" in page
    assert f'href="/lab/runs/{run.public_id}/"' in client.get("/lab/").content.decode()


def test_a_second_start_leads_to_the_first_run(client: Client) -> None:
    client.post("/lab/runs/", GOOD)
    answer = client.post("/lab/runs/", GOOD, follow=True)
    assert Run.objects.count() == 1
    assert answer.redirect_chain == [(f"/lab/runs/{Run.objects.get().public_id}/", 302)]
    assert "one at a time" in answer.content.decode()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"ranks": "5"}, "Select a valid choice"),
        ({"steps": "0"}, "At least one step"),
        ({"steps": "5000"}, "At most 400 steps"),
        ({"model": "small", "steps": str(MAX_STEPS["small"] + 1)}, "take too long here"),
        ({"seed": "x"}, "Give a whole number"),
        ({"seed": ""}, "Give a whole number"),
        ({"seed": "-1"}, "not negative"),
        ({"dtype": "float8"}, "Select a valid choice"),
    ],
)
def test_a_mistake_comes_back_beside_its_field(client: Client, wrong: dict[str, str], says: str) -> None:
    answer = client.post("/lab/runs/", {**GOOD, **wrong})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert says in page
    (name,) = set(wrong) - {"model"} if len(wrong) > 1 else set(wrong)
    assert f'id="{name}-error"' in page
    assert not Run.objects.exists()


def test_too_many_starts_are_limited(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.views.STARTS", "1/hour")
    client.post("/lab/runs/", GOOD)
    answer = Client().post("/lab/runs/", GOOD)
    assert answer.status_code == 429
    assert "try again in" in answer.content.decode()
    assert Run.objects.count() == 1


def test_only_the_owner_can_cancel(client: Client) -> None:
    client.post("/lab/runs/", GOOD)
    run = Run.objects.get()
    stranger = Client()
    assert stranger.post(f"/lab/runs/{run.public_id}/cancel/").status_code == 404
    assert "Cancel this run" not in stranger.get(run.get_absolute_url()).content.decode()
    assert client.get(f"/lab/runs/{run.public_id}/cancel/").status_code == 405
    client.post(f"/lab/runs/{run.public_id}/cancel/")
    run.refresh_from_db()
    assert run.state == "cancelled"
    answer = client.post(f"/lab/runs/{run.public_id}/cancel/", follow=True)
    assert "has ended already" in answer.content.decode()


def test_a_finished_run_is_whole_without_javascript(client: Client) -> None:
    run = finished()
    page = client.get(run.get_absolute_url()).content.decode()
    for words in (
        "Finished",
        "After 2 of 2 steps the loss fell from 4.200 to 3.500 nats per character.",
        "446,464",
        "4 × 111,616 = 446,464",
        "Agrees with one process",
        "3.0 × 10⁻⁷",
        "Step 1, rank by rank",
        "all-reduce of bucket 0, 446464 bytes, 4.00 ms",
        "python -m training.engine ddp --ranks 2 --steps 2 --seed 9 --device auto --json",
        '<td class="number">3.5000</td>',
    ):
        assert words in page
    assert "Cancel this run" not in page
    assert "style=" not in page
    (stored,) = re.findall(r'<script id="run-state" type="application/json">(.*?)</script>', page)
    assert json.loads(stored)["points"] == run.points


def test_the_latest_finished_run_is_shown_in_the_lab_as_recorded(client: Client) -> None:
    finished(state="failed", result=None)
    assert "Recorded, not live" not in client.get("/lab/").content.decode()
    run = finished()
    page = client.get("/lab/").content.decode()
    assert "Recorded, not live" in page
    assert run.get_absolute_url() in page


def test_settings_in_the_address_fill_the_form(client: Client) -> None:
    page = client.get("/lab/?ranks=4&steps=33&seed=5&model=small&dtype=float64").content.decode()
    assert re.search(r'<input type="radio" name="ranks" value="4"[^>]*checked', page)
    assert re.search(r'name="steps" value="33"', page)
    assert '<option value="small" selected>' in page
    assert '<option value="float64" selected>' in page
    page = client.get("/lab/?steps=%22%3E%3Cb%3Ex").content.decode()
    assert "<b>x" not in page


def test_certificate_and_curve_can_be_taken_along(client: Client) -> None:
    run = finished()
    answer = client.get(f"/lab/runs/{run.public_id}/certificate.json")
    assert answer["Content-Disposition"] == f'attachment; filename="certificate-{run.public_id}.json"'
    body = answer.json()
    assert body["parity"] == PARITY
    assert body["params_sha256"] == RESULT["params_sha256"]
    assert RunConfig.from_mapping(body["config"]) == run.run_config
    rows = list(csv.reader(client.get(f"/lab/runs/{run.public_id}/points.csv").content.decode().splitlines()))
    assert rows == [["step", "loss", "loss_of_one_process"], ["0", "4.2", "4.2"], ["1", "3.5", ""]]
    unproven = finished(result=None, state="cancelled")
    assert client.get(f"/lab/runs/{unproven.public_id}/certificate.json").status_code == 404


def test_unknown_runs_are_not_found(client: Client) -> None:
    unknown = "/lab/runs/00000000-0000-4000-8000-000000000000/"
    assert {client.get(unknown + part).status_code for part in ("", "certificate.json", "points.csv")} == {404}
    assert client.post(unknown + "cancel/").status_code == 404


def test_the_admin_shows_runs_and_cancels_them(admin_client: Client) -> None:
    run = finished(state="queued", result=None, finished_at=None)
    assert str(run.public_id) in admin_client.get("/admin/training/run/").content.decode()
    assert admin_client.get(f"/admin/training/run/{run.pk}/change/").status_code == 200
    assert admin_client.post(f"/admin/training/run/{run.pk}/change/", {"state": "done"}).status_code == 403
    admin_client.post("/admin/training/run/", {"action": "cancel", "_selected_action": [run.pk]})
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_a_state_and_its_reason_are_two_sentences_and_anyone_may_read_them() -> None:
    run = finished(result=None, state="cancelled", reason="It was stopped on request.")
    page = Client().get(f"/lab/runs/{run.public_id}/").content.decode()
    assert "<strong>Cancelled.</strong> It was stopped on request." in page
    assert "Anyone who has the address of this page can see the run." in page
