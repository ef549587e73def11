"""The sandbox seen from outside: what the kernel says about a child, how deaths are explained, what is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from problems.judge import bwrap, cgroup, selftest, warm
from problems.judge.cold import ColdSandbox
from problems.judge.conversation import Conversation
from problems.judge.jail import wire
from problems.judge.judge import Judge
from problems.judge.package import Package
from problems.judge.sandbox import MIB, Limits, Sandbox, SandboxError
from problems.judge.warm import SPARE, WarmSandbox
from tests.conftest import ROOT, wait_until
from tests.problems.test_sandbox_attacks import GOOD

ECHO = "def entry(x):\n    return x\n"


@pytest.fixture
def fresh(sandbox: Sandbox) -> Iterator[WarmSandbox]:
    """A warm sandbox of the test's own, for tests that hurt it."""
    if not isinstance(sandbox, WarmSandbox):
        pytest.skip("this machine has no warm sandbox")
    made = WarmSandbox(sandbox.path)
    yield made
    made.close()


def _pid(child: Conversation) -> int:
    """The process id outside of the jail."""
    with open(f"/proc/self/fdinfo/{child._end.pidfd}") as lines:
        return int(next(line.split()[1] for line in lines if line.startswith("Pid:")))


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _result(child: Conversation, source: str, *arguments: object) -> object:
    loaded = child.load("entry", source)
    assert loaded.ok, loaded
    seen = child.run([wire.describe(argument) for argument in arguments], None)
    assert seen.value is not None, seen
    return wire.build(seen.value)


def test_the_kernel_agrees_about_what_a_child_is(sandbox: Sandbox) -> None:
    child = sandbox.start(Limits())
    assert isinstance(child, Conversation)
    pid = _pid(child)
    status = _status(pid)
    assert {int(number) for number in status["Uid"].split()}.isdisjoint({0, os.getuid()} if os.getuid() == 0 else {0})
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert all(int(status[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))
    assert status["NSpid"].split()[-1] == "1"
    for kind in ("mnt", "pid", "net", "ipc", "uts"):
        assert os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")
    shown = {line.split()[4] for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines()}
    assert not any(place.startswith(("/home", "/root", "/work", "/etc", "/var", "/sys", "/dev")) for place in shown)
    judge = {place for place in shown if place.startswith("/opt/judge")}
    assert judge == {f"{bwrap.INSIDE}/{name}" for name in bwrap.JAIL_FILES}
    child.close()


def test_a_waiting_child_has_namespaces_of_its_own(fresh: WarmSandbox) -> None:
    first, second = fresh.start(Limits()), fresh.start(Limits())
    outer = psutil.Process(fresh.pids()["numpy"]).children()[0].pid
    for kind in ("user", "mnt", "pid"):
        links = {os.readlink(f"/proc/{pid}/ns/{kind}") for pid in (_pid(first), _pid(second), outer)}
        assert len(links) == 3, f"{kind} namespace is shared"
    assert int(_status(outer)["CapEff"], 16) == 0
    first.close()
    second.close()


def test_limits_are_in_force_where_there_are_control_groups(sandbox: Sandbox) -> None:
    if sandbox.profile != "full":
        pytest.skip("no control group can be written here")
    child = sandbox.start(Limits(memory=77 * MIB))
    assert isinstance(child, Conversation)
    member = Path(f"/proc/{_pid(child)}/cgroup").read_text()
    assert cgroup.PREFIX in member
    assert _result(child, ECHO, 1.5) == 1.5
    child.close()


@pytest.mark.parametrize("kind", [WarmSandbox, ColdSandbox])
def test_a_sandbox_that_loses_its_control_groups_stops(
    sandbox: Sandbox, kind: type[WarmSandbox | ColdSandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    if sandbox.profile != "full" or not isinstance(sandbox, WarmSandbox):
        pytest.skip("no control group can be written here")
    made = kind(sandbox.path)
    made.start(Limits()).close()
    monkeypatch.setattr(cgroup, "create", lambda *_: None)
    for _ in range(SPARE if kind is WarmSandbox else 0):  # those that wait already have theirs
        made.start(Limits()).close()
    with pytest.raises(SandboxError, match="control group"):
        made.start(Limits())
    made.close()


def test_without_control_groups_it_works_and_says_so(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "create", lambda *_: None)
    made, report = selftest.selftest()
    assert made is not None
    assert made.profile == report.profile == "no-cgroup"
    assert "degraded" in report.sentence
    made.close()


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("CLONE_NEWUSER | ", "namespaces could not be made"),
        ("CLONE_NEWNS | ", "could not be mounted"),
        ("CLONE_NEWPID | ", "no pid namespace"),
        ('    _tmpfs(b"/proc", MS_RDONLY, "size=4k,nr_inodes=1,mode=0555")\n', "/proc/self"),
        ('    _tmpfs(b"/tmp", 0, f"size={tmp_size},nr_inodes={TMP_INODES},mode=0700")\n', "/tmp"),
        ("", ""),  # nothing taken away: the copy itself works
    ],
)
def test_without_a_part_of_its_jail_no_child_is_handed_out(
    sandbox: Sandbox, tmp_path: Path, part: str, says: str
) -> None:
    if not isinstance(sandbox, WarmSandbox):
        pytest.skip("this machine has no warm sandbox")
    jail = tmp_path / "jail"
    shutil.copytree(bwrap.JAIL, jail, ignore=shutil.ignore_patterns("__pycache__"))
    source = (jail / "zygote.py").read_text()
    if says:
        assert source.count(part) == 1
        (jail / "zygote.py").write_text(source.replace(part, ""))
    made = WarmSandbox(sandbox.path, jail)
    if says:
        with pytest.raises(SandboxError, match=says):
            made.start(Limits())
    else:
        made.start(Limits()).close()
    made.close()


def test_nothing_of_a_submission_reaches_the_next(fresh: WarmSandbox) -> None:
    first = fresh.start(Limits())
    source = (
        "import builtins, math, sys\nimport numpy as np\n"
        "def entry():\n    math.pi = 4.0\n    np.sum = None\n    builtins.mark = 1\n    sys.modules['json'] = None\n"
        "    open('/tmp/mark', 'w').write('x')\n    return 1.0\n"
    )
    assert _result(first, source) == 1.0
    second = fresh.start(Limits())
    source = (
        "import builtins, json, math, os\nimport numpy as np\n"
        "def entry():\n    return [math.pi, float(np.sum([1, 2])), float(hasattr(builtins, 'mark')), "
        "float(len(os.listdir('/tmp')))]\n"
    )
    assert _result(second, source) == [np.pi, 3.0, 0.0, 0.0]
    first.close()
    second.close()


def test_a_list_too_deep_for_the_wire_is_an_answer_of_a_wrong_kind(sandbox: Sandbox) -> None:
    child = sandbox.start(Limits())
    source = "def entry(x):\n    a = []\n    for _ in range(100_000):\n        a = [a]\n    return a\n"
    assert child.load("entry", source).ok
    seen = child.run([wire.describe([[1.0]])], None)
    assert seen.value is not None
    assert (seen.status, seen.value.kind, seen.after) == ("returned", "list", (wire.describe([[1.0]]),))
    child.close()


def test_random_numbers_repeat_in_every_case_and_child(fresh: WarmSandbox) -> None:
    source = "import random\nimport numpy as np\ndef entry():\n    return [random.random(), float(np.random.rand())]\n"
    first, second = fresh.start(Limits()), fresh.start(Limits())
    seen = [_result(first, source)]
    again = first.run((), None)
    assert again.value is not None
    seen += [wire.build(again.value), _result(second, source)]
    assert seen[0] == seen[1] == seen[2]
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ("import os; os._exit(3)", "died", "exit status 3"),
        ("import os; os.abort()", "died", "killed by"),
        ("import ctypes; ctypes.string_at(0)", "died", "SIGSEGV"),
        ("import os; os.closerange(0, 99)\n    while True: pass", "died", "closed its connection"),
        ("return 'x' * (400 << 20)", "memory", ""),
        ("while True: pass", "timeout", ""),
    ],
)  # fmt: skip
def test_every_end_has_its_reason(sandbox: Sandbox, body: str, status: str, says: str) -> None:
    if status == "memory" and sandbox.profile != "full":
        pytest.skip("no control group can be written here")
    child = sandbox.start(Limits(memory=128 * MIB, case_seconds=1.0 if status == "timeout" else 3.0))
    assert child.load("entry", f"def entry():\n    {body}\n").ok
    seen = child.run((), None)
    assert seen.status == status
    assert says in seen.detail
    assert not child.alive


def test_processor_time_is_bounded_even_when_the_wall_clock_is_generous(sandbox: Sandbox) -> None:
    child = sandbox.start(Limits(cpu_seconds=1, case_seconds=20.0))
    assert child.load("entry", "def entry():\n    while True: pass\n").ok
    seen = child.run((), None)
    assert (seen.status, seen.detail) == ("timeout", "processor time")


def test_threads_of_one_submission_leave_those_of_another(fresh: WarmSandbox) -> None:
    hungry = fresh.start(Limits(processes=16))
    source = (
        "import threading\ngate = threading.Event()\n"
        "def entry():\n    count = 0\n    try:\n        while True:\n"
        "            threading.Thread(target=gate.wait, daemon=True).start()\n            count += 1\n"
        "    except RuntimeError:\n        return count\n"
    )
    taken = _result(hungry, source)
    assert isinstance(taken, int)
    assert 1 <= taken < 16
    modest = fresh.start(Limits(processes=16))
    assert _result(modest, source) == taken
    hungry.close()
    modest.close()


def test_a_submission_whose_child_is_killed_from_outside_is_tried_again(
    fresh: WarmSandbox, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    start = fresh.start

    def start_and_kill(limits: Limits) -> Conversation:
        child = start(limits)
        if not taken:
            os.kill(_pid(child), signal.SIGKILL)
        taken.append(_pid(child) if taken else 0)
        return child

    monkeypatch.setattr(fresh, "start", start_and_kill)
    assert Judge(fresh).judge(package, GOOD, package.cases(3)[:4]).verdict == "AC"
    assert len(taken) == 2


def test_a_waiting_child_that_is_killed_is_not_handed_out(fresh: WarmSandbox) -> None:
    fresh.start(Limits()).close()
    waiting = _jailed_of(fresh)
    assert len(waiting) >= SPARE
    for process in waiting:
        process.kill()
    wait_until(lambda: not any(process.is_running() for process in waiting))
    before = fresh.pids()
    child = fresh.start(Limits())
    assert _result(child, ECHO, 1.0) == 1.0
    assert fresh.pids() == before
    child.close()


def _jailed_of(sandbox: WarmSandbox) -> list[psutil.Process]:
    """The children of the interpreter, once all that were ordered have come into being."""
    zygote = psutil.Process(sandbox.pids()["numpy"]).children()[0]
    wait_until(lambda: len(zygote.children()) >= SPARE)
    return zygote.children()


@pytest.mark.parametrize("when", ["idle", "taken"])
def test_a_killed_interpreter_is_replaced(fresh: WarmSandbox, package: Package, when: str) -> None:
    judge, cases = Judge(fresh), package.cases(3)[:4]
    assert judge.judge(package, GOOD, cases).verdict == "AC"
    before = fresh.pids()["numpy"]
    child = fresh.start(package.limits) if when == "taken" else None
    pid = _pid(child) if child is not None else 0
    os.kill(psutil.Process(before).children()[0].pid, signal.SIGKILL)
    if child is not None:
        wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE if psutil.pid_exists(pid) else True)
        with pytest.raises(SandboxError):
            child.load("entry", ECHO)
    assert judge.judge(package, GOOD, cases).verdict == "AC"
    assert fresh.pids()["numpy"] != before


def test_an_interpreter_is_recycled(fresh: WarmSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "RECYCLE_AFTER", SPARE + 2)
    seen = set()
    for _ in range(SPARE + 4):
        child = fresh.start(Limits())
        assert _result(child, ECHO, 2.0) == 2.0
        child.close()
        seen.add(fresh.pids()["numpy"])
    assert len(seen) > 1
    assert sum(psutil.pid_exists(pid) for pid in seen) == 1


def test_waiting_children_have_the_limits_that_are_asked_for(fresh: WarmSandbox) -> None:
    source = "import resource\ndef entry():\n    return resource.getrlimit(resource.RLIMIT_FSIZE)[0]\n"
    for size in (1, 2, 3, 4, 5, 1):
        child = fresh.start(Limits(file_size=size * MIB))
        assert _result(child, source) == size * MIB
        child.close()


def test_closing_leaves_no_process_and_no_control_group(sandbox: Sandbox) -> None:
    if not isinstance(sandbox, WarmSandbox):
        pytest.skip("this machine has no warm sandbox")
    before = _groups()
    made = WarmSandbox(sandbox.path)
    child = made.start(Limits())
    family = psutil.Process(made.pids()["numpy"]).children(recursive=True)
    assert len(family) >= 2
    assert sandbox.profile != "full" or _groups() > before
    made.close()
    wait_until(lambda: not any(process.is_running() for process in family), 5)
    child.close()
    assert _groups() <= before


def _groups() -> set[str]:
    parents = cgroup._own(Path("/sys/fs/cgroup")).values()
    return {path.name for parent in parents for path in parent.glob(f"{cgroup.PREFIX}{os.getpid()}-*")}


def test_a_forked_copy_of_the_judge_starts_its_own(fresh: WarmSandbox) -> None:
    fresh.start(Limits()).close()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover - in the copy
        outcome = b"failed"
        try:
            child = fresh.start(Limits())
            outcome = b"fine" if _result(child, ECHO, 3.0) == 3.0 else b"wrong"
            child.close()
            fresh.close()
        finally:
            os.write(writer, outcome)
            os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reader, 100) == b"fine"
    os.close(reader)
    os.close(writer)
    child = fresh.start(Limits())
    assert _result(child, ECHO, 4.0) == 4.0
    child.close()


def test_children_end_with_the_judge(sandbox: Sandbox) -> None:
    """kill -9 of the judge's process takes the interpreter and its children along."""
    code = (
        "import os, psutil\nfrom problems.judge.selftest import find\nfrom problems.judge.sandbox import Limits\n"
        "made, _ = find()\nchild = made.start(Limits())\n"
        "print(*(p.pid for p in psutil.Process().children(recursive=True)), flush=True)\nos.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    pids = [int(pid) for pid in done.stdout.split()]
    assert pids, done.stderr
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in pids), 10)


def test_the_cold_sandbox_holds_as_well(sandbox: Sandbox, package: Package) -> None:
    assert isinstance(sandbox, WarmSandbox | ColdSandbox)
    cold = ColdSandbox(sandbox.path)
    assert selftest.attack(cold, "this is a test").usable
    result = Judge(cold).judge(package, GOOD, package.cases(3)[:4])
    assert result.verdict == "AC", result.message


def test_the_report_is_one_sentence(sandbox: Sandbox) -> None:
    for report in (
        selftest.Report("full", ()), selftest.Report("no-cgroup", ()), selftest.Report("full", (), "of a test"),
    ):  # fmt: skip
        assert report.usable
        assert report.sentence.count(". ") == 0
        assert report.sentence.endswith(".")
    assert "degraded" in selftest.Report("no-cgroup", ()).sentence


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_torch_is_there_for_problems_that_ask_for_it(fresh: WarmSandbox) -> None:
    pytest.importorskip("importlib.metadata").version("torch")
    child = fresh.start(Limits(library="torch", memory=512 * MIB, case_seconds=5.0))
    source = "import torch\ndef entry(x):\n    return float((torch.tensor([x, 1.0]) @ torch.ones(2, 2)).sum())\n"
    assert _result(child, source, 2.0) == 6.0
    child.close()
    assert set(fresh.pids()) == {"torch"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_it_works_for_an_ordinary_user_too() -> None:
    """With user namespaces only; with the system's Python, because one below root's home is not theirs to read."""
    python = shutil.which("python3", path="/usr/bin")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    site = Path(np.__file__).parent.parent
    code = (
        f"import sys; assert sys.version_info[:2] == ({version.replace('.', ', ')}); import os, yaml\n"
        "from problems.judge.selftest import selftest\nmade, report = selftest()\n"
        "print(type(made).__name__, os.geteuid(), report.profile, report.sentence)\n"
    )
    if python is None or subprocess.run([python, "-c", code.splitlines()[0].split("; import os")[0]]).returncode != 0:
        pytest.skip("there is no system Python of this version")
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-c", code],
        env={"PYTHONPATH": f"{ROOT}:{site}", "PATH": "/usr/bin:/bin"}, cwd="/", capture_output=True, text=True,
        timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("WarmSandbox 65534"), done.stdout


EVIL = """
class Meta(type):
    @property
    def __name__(cls): raise ValueError("n" * 2_000_000)
class Evil(Exception, metaclass=Meta):
    def __str__(self): raise Evil()
    __repr__ = __str__
    @property
    def __traceback__(self): raise Evil()
class Text(str):
    def __getitem__(self, part): return 7
class Quiet(Exception):
    def __str__(self): return Text("x")
"""


@pytest.mark.parametrize("error", ["Evil()", "Quiet()"])
@pytest.mark.parametrize("place", ["    ", ""])
def test_an_exception_that_cannot_be_told_is_still_a_run_time_error(
    sandbox: Sandbox, package: Package, error: str, place: str
) -> None:
    body = f"{EVIL}def numerical_gradient(f, x, h=1e-7):\n    pass\n{place}raise {error}\n"
    judgement = Judge(sandbox).judge(package, body, package.samples())
    assert judgement.verdict == "RE"
    assert judgement.message.startswith("Exception in line "), judgement.message
    assert "it cannot be shown" in judgement.message
    assert judgement.output == ""


def test_a_runner_that_is_broken_from_inside_prints_no_traceback(sandbox: Sandbox, package: Package) -> None:
    body = "import sys\nsys.modules['problems.judge.jail.runner']._pack = None\n" + GOOD
    judgement = Judge(sandbox).judge(package, body, package.samples())
    assert (judgement.verdict, judgement.output) == ("RE", "")


@pytest.mark.parametrize("error", ["OSError(12, 'Cannot allocate memory')", "MemoryError()"])
def test_memory_that_is_refused_is_mle_and_not_tried_in_every_case(
    sandbox: Sandbox, package: Package, error: str
) -> None:
    body = f"def numerical_gradient(f, x, h=1e-7):\n    raise {error}\n"
    judgement = Judge(sandbox).judge(package, body, package.cases(1))
    assert judgement.verdict == "MLE"
    assert [str(case.verdict) for case in judgement.cases[:4]] == ["MLE", "MLE", "MLE", "--"]


def test_a_source_one_byte_too_long_is_told_in_bytes(sandbox: Sandbox, package: Package) -> None:
    judgement = Judge(sandbox).judge(package, "#" * 65_537, package.samples())
    assert judgement.message == "The source is 65537 bytes long; at most 65536 bytes are accepted."
