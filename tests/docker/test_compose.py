"""The compose files: valid by the Compose specification, and hardened by our own rules."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

from pixelbank.supervisor import processes
from tests.conftest import ROOT

DOCKER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
LASTING = {name: service for name, service in SERVICES.items() if service["restart"] != "no"}
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("pixelbank-")}
PYTHON = {name: service for name, service in OURS.items() if name != "proxy"}


def problems(compose: dict[str, Any]) -> str:
    """What the Compose specification has against a file whose anchors are resolved; empty if nothing."""
    try:
        PyCompose.from_yaml(yaml.safe_dump(compose))
    except ValueError as error:
        return str(error)
    return ""


def test_the_files_are_valid() -> None:
    assert problems(COMPOSE) == ""
    assert problems(yaml.safe_load((DOCKER / "compose.gpu.yaml").read_text(encoding="utf-8"))) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"read_onyl": True},
        {"healthcheck": {"test": ["CMD", "true"], "intervall": "3s"}},
        {"depends_on": {"redis": {"condition": "service_heathy"}}},
        {"deploy": {"resources": {"limits": {"cpus": "many"}}}},
    ],
)
def test_the_validation_finds_mistakes(change: dict[str, Any]) -> None:
    assert problems({**COMPOSE, "services": {**SERVICES, "web": {**SERVICES["web"], **change}}})


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_hardened(name: str) -> None:
    service = SERVICES[name]
    user, _, group = str(service["user"]).partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    for forbidden in ("privileged", "cap_add", "pid", "ipc", "devices", "userns_mode", "cgroup"):
        assert forbidden not in service, forbidden
    assert service.get("network_mode", "none") == "none"
    limits = service["deploy"]["resources"]["limits"]
    assert set(limits) == {"cpus", "memory", "pids"}
    assert service["logging"]["options"]["max-size"], "logs must not fill the disk"
    assert not any("docker.sock" in str(volume) for volume in service.get("volumes", []))


@pytest.mark.parametrize("name", LASTING)
def test_every_lasting_service_has_a_health_check(name: str) -> None:
    check = LASTING[name]["healthcheck"]
    assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert {"interval", "timeout", "retries"} <= set(check)


def test_only_the_judge_opens_what_bubblewrap_needs() -> None:
    for name, service in SERVICES.items():
        opened = set(service["security_opt"]) - {"no-new-privileges:true"}
        judge = {"seccomp:./seccomp-judge.json", "apparmor:unconfined"}
        assert opened == (judge if name in {"judge", "judge-bulk"} else set()), name


def test_only_the_proxy_is_reachable_and_only_feeds_and_web_reach_out() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["back"] == {"internal": True}
    inside = {name for name, service in SERVICES.items() if service.get("networks") == ["back"]}
    assert {"judge", "judge-bulk", "training", "beat", "redis", "postgres"} <= inside
    assert SERVICES["launcher"]["network_mode"] == "none"


def test_secrets_are_files_and_are_declared() -> None:
    used = {secret for service in SERVICES.values() for secret in service.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])
    script = (DOCKER / "make-secrets").read_text(encoding="utf-8")
    assert set(re.findall(r"^keep (\w+)", script, re.M)) == used
    for service in SERVICES.values():
        for variable, value in service.get("environment", {}).items():
            if variable.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"]


def test_the_secrets_script_makes_them_once(tmp_path: Path) -> None:
    copy = tmp_path / "make-secrets"
    copy.write_text((DOCKER / "make-secrets").read_text(encoding="utf-8"), encoding="utf-8")

    def run() -> dict[str, str]:
        subprocess.run(["sh", str(copy)], check=True, capture_output=True)
        return {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}

    made = run()
    assert run() == made
    assert set(made) == set(COMPOSE["secrets"])
    assert len(made["secret_key"]) >= 50
    assert made["postgres_password"] in made["database_url"]
    assert made["redis_password"] in made["redis_url"]
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_settings_that_compose_passes_exist() -> None:
    """A variable that nobody reads would be a promise that nobody keeps."""
    settings = (ROOT / "platform/pixelbank/settings.py").read_text(encoding="utf-8")
    for service in PYTHON.values():
        for variable in service.get("environment", {}):
            name = variable.removesuffix("_FILE")
            if name.startswith(("GITHUB_", "GOOGLE_")):
                name = "_CLIENT_" + name.partition("_CLIENT_")[2]
            assert name in settings or name == "PROMETHEUS_MULTIPROC_DIR", variable


def test_the_example_names_every_variable() -> None:
    text = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{(\w+)", text))
    assert asked == set(re.findall(r"^(\w+)=", (DOCKER / ".env.example").read_text(encoding="utf-8"), re.M))


def argv(name: str) -> list[str]:
    command: list[str] = SERVICES[name]["command"]
    return command


@pytest.mark.parametrize("name", PYTHON)
def test_commands_name_what_exists(name: str) -> None:
    command = argv(name)
    assert command[0] == "python"
    if command[1] == "-m":
        assert importlib.util.find_spec(command[2])
    else:
        assert (ROOT / command[1]).is_file()
        from django.core.management import get_commands

        assert command[2] in get_commands()
    for word in command:
        if re.fullmatch(r"[\w.]+:application", word):
            assert importlib.util.find_spec(word.partition(":")[0])


@pytest.mark.parametrize("name", ["web", "live"])
def test_granian_knows_the_options(name: str) -> None:
    done = subprocess.run([sys.executable, "-m", "granian", "--help"], capture_output=True, text=True, check=True)
    known = set(re.findall(r"--[a-z-]+", done.stdout))
    options = {word.partition("=")[0] for word in argv(name) if word.startswith("--")}
    assert options <= known


def essence(command: list[str]) -> list[str]:
    """A worker's command line without what may differ: the interpreter, quietness, and how many children."""
    rest = [word for word in command[1:] if word not in {"-q", "--quiet"}]
    at = rest.index("-c")
    return rest[:at] + rest[at + 2 :]


def test_the_workers_are_those_of_dev_run() -> None:
    queues = {argv(name)[argv(name).index("-Q") + 1]: name for name in PYTHON if "-Q" in argv(name)}
    assert set(queues) == set(processes.QUEUES)
    for queue, name in queues.items():
        assert essence(argv(name)) == essence(processes.worker(queue)), name
        assert SERVICES[name]["healthcheck"]["test"][-1] == queue, "the ping must ask the node by its name"


def test_the_worker_and_the_web_find_the_launcher() -> None:
    place = argv("launcher")[argv("launcher").index("--socket") + 1]
    for name in ("training", "web"):
        assert SERVICES[name]["environment"]["TRAINING_SOCKET"] == place
        assert any(str(volume).startswith("launcher:/run/launcher") for volume in SERVICES[name]["volumes"])
    assert SERVICES["launcher"]["healthcheck"]["test"][-1] == place
    assert SERVICES["launcher"]["user"] == SERVICES["training"]["user"], "the socket is for its owner only"


def test_the_launcher_gets_the_gpus_where_there_are_any() -> None:
    gpu = yaml.safe_load((DOCKER / "compose.gpu.yaml").read_text(encoding="utf-8"))
    (device,) = gpu["services"]["launcher"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}


def test_the_seccomp_profile_is_an_allow_list() -> None:
    profile = json.loads((DOCKER / "seccomp-judge.json").read_text(encoding="utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    (rule,) = profile["syscalls"]
    assert rule["action"] == "SCMP_ACT_ALLOW"
    allowed = set(rule["names"])
    assert {"unshare", "clone", "mount", "pivot_root", "umount2"} <= allowed
    dangerous = {
        *("bpf", "kexec_load", "init_module", "finit_module", "delete_module", "ptrace", "process_vm_writev", "keyctl"),
        *("perf_event_open", "userfaultfd", "io_uring_setup", "open_by_handle_at", "setns", "reboot", "iopl", "mknod"),
        *("process_vm_readv", "add_key", "request_key", "swapon", "settimeofday", "quotactl", "fsopen", "open_tree"),
    }
    assert not dangerous & allowed
