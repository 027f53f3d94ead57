# SPDX-License-Identifier: Apache-2.0
"""The recipe of planed's container for SONiC: its parts fit together, and supervisord does with them what they promise."""

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab import wait_until
from lab.planed import binary
from sonic_host import program

_ROOT = Path(__file__).resolve().parents[3]
_SONIC = _ROOT / "systemd/sonic"
_LISTENER = _SONIC / "bin/planed-exit-listener"
_DAEMON = "/usr/sbin/planed"


def _supervisord() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    parser.read_string((_SONIC / "supervisord.conf").read_text(encoding="utf-8"))
    return parser


def _commands() -> dict[str, list[str]]:
    """Of each program and event listener."""
    parser = _supervisord()
    return {
        section: shlex.split(parser[section]["command"])
        for section in parser.sections()
        if section.startswith(("program:", "eventlistener:"))
    }


def _manifest() -> dict[str, Any]:
    return json.loads((_SONIC / "manifest.json").read_text(encoding="utf-8"))


# ---- the parts ----


def test_manifest_has_what_the_package_manager_asks_for() -> None:
    manifest = _manifest()

    assert manifest["package"]["name"] == manifest["service"]["name"] == "planed"
    version = re.search(r"project\(planed VERSION ([0-9.]+)", (_ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert version and manifest["package"]["version"] == version[1]
    assert all(process["name"] for process in manifest["processes"])
    assert manifest["container"]["privileged"] is True  # Its only way to CAP_NET_ADMIN.


_SCHEMA: dict[str, dict[str, type]] = {
    "package": {"version": str, "name": str, "description": str, "debug-dump": str, "init-cfg": dict},
    "service": {
        "name": str, "requires": list, "requisite": list, "wanted-by": list, "after": list, "before": list,
        "dependent": list, "dependent-of": list, "asic-service": bool, "host-service": bool, "delayed": bool,
        "check_up_status": bool,
    },
    "container": {"privileged": bool, "volumes": list, "mounts": list, "environment": dict, "tmpfs": list},
    "cli": {"mandatory": bool, "show": list, "config": list, "clear": list},
}  # fmt: skip


def test_manifest_has_no_key_that_the_package_manager_would_pass_over() -> None:
    manifest = _manifest()

    assert set(manifest) == {"version", "processes", *_SCHEMA}
    for name, types in _SCHEMA.items():
        wrong = {key: value for key, value in manifest[name].items() if type(value) is not types.get(key)}
        assert (name, wrong) == (name, {})
    assert [set(process) for process in manifest["processes"]] == [{"name", "reconciles"}]


def test_every_plugin_of_the_manifest_is_in_the_image() -> None:
    """`COPY cli/ /cli/`."""
    named = [path for command in ("show", "config") for path in _manifest()["cli"][command]]

    assert sorted(named) == sorted(f"/{path.relative_to(_SONIC)}" for path in _SONIC.glob("cli/*/plugins/*.py"))


def test_every_command_is_a_program_of_the_image() -> None:
    assert f'"{_DAEMON}"' in (_ROOT / "tests/package/check").read_text(encoding="utf-8"), "the package has it no more"
    ours = {f"/usr/bin/{path.name}" for path in (_SONIC / "bin").iterdir() if os.access(path, os.X_OK)}

    commands = _commands()

    dockerfile = (_SONIC / "Dockerfile").read_text(encoding="utf-8")
    assert commands.pop("eventlistener:dependent-startup")[:3] == ["/usr/bin/python3", "-m", "supervisord_dependent_startup"]
    assert " supervisord-dependent-startup==" in dockerfile
    assert {argv[0] for argv in commands.values()} <= ours | {_DAEMON}
    assert _manifest()["package"]["debug-dump"] in ours


def test_critical_processes_are_the_daemons_of_supervisord() -> None:
    lines = (_SONIC / "critical_processes").read_text(encoding="utf-8").splitlines()

    daemons = {section for section in _commands() if section.startswith("program:")} - {"program:start"}
    assert set(lines) == daemons
    assert {process["name"] for process in _manifest()["processes"]} == {line.split(":")[1] for line in lines}


def test_every_program_waits_for_one_that_is_there() -> None:
    parser = _supervisord()
    programs = [section for section in parser.sections() if section.startswith("program:")]

    for section in programs:
        assert parser[section]["dependent_startup"] == "true" and parser[section]["autostart"] == "false"
        waits = parser[section].get("dependent_startup_wait_for", "")
        assert all(f"program:{word.split(':')[0]}" in programs for word in waits.split())
    assert parser["program:planed"]["dependent_startup_wait_for"] == "start:exited"


def test_configuration_of_the_container_is_right() -> None:
    done = subprocess.run(
        [binary(), "--check", "--config", str(_SONIC / "planed.yaml")], check=False, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [_SONIC / "build", *(_SONIC / "bin").iterdir()], ids=lambda path: path.name)
def test_scripts_are_well_formed(path: Path) -> None:
    interpreter = path.read_text(encoding="utf-8").splitlines()[0]

    if "python" in interpreter:
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
    else:
        assert subprocess.run(["bash", "-n", path], check=False, capture_output=True, text=True).stderr == ""


# ---- the image's build ----


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    for name in ("planed_0.1.0_amd64.deb", "planectl_0.1.0_amd64.deb", "planed-dbgsym_0.1.0_amd64.ddeb"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def _build(packages: Path, tmp_path: Path) -> "subprocess.CompletedProcess[str]":
    """With a docker that keeps what it is given."""
    keeps = f'for last; do :; done\ncp -r "$last" {tmp_path}/context\nprintf "%s\\0" "$@" >{tmp_path}/words'
    program(tmp_path / "bin", "docker", keeps)
    environment = {**os.environ, "PACKAGES": str(packages), "DOCKER": str(tmp_path / "bin/docker")}
    return subprocess.run([_SONIC / "build"], check=False, capture_output=True, text=True, env=environment)


def test_build_gives_docker_all_that_the_recipe_copies(packages: Path, tmp_path: Path) -> None:
    done = _build(packages, tmp_path)

    assert done.returncode == 0, done.stderr
    context = tmp_path / "context"
    copied = [words for words in re.findall(r"^COPY (.*) \S+$", (context / "Dockerfile").read_text(encoding="utf-8"), re.M)]
    assert copied and all((context / name).exists() for words in copied for name in words.split())
    assert {path.name for path in (context / "packages").iterdir()} == {"planed_0.1.0_amd64.deb", "planectl_0.1.0_amd64.deb"}
    assert not list(context.rglob("__pycache__"))
    assert all(os.access(path, os.X_OK) for path in (context / "bin").iterdir())


def test_build_labels_the_image_with_manifest_and_model(packages: Path, tmp_path: Path) -> None:
    _build(packages, tmp_path)

    words = (tmp_path / "words").read_text(encoding="utf-8").split("\0")
    labels = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--label")
    assert json.loads(labels["com.azure.sonic.manifest"]) == _manifest()
    model = (_ROOT / "config/yang/sonic-planed.yang").read_text(encoding="utf-8")
    assert labels["com.azure.sonic.yang-module.sonic-planed"] == model.rstrip("\n")
    assert words[:3] == ["build", "--tag", "docker-planed:latest"]


@pytest.mark.parametrize("name", ["planed_0.1.0_amd64.deb", "planectl_0.1.0_amd64.deb"])
def test_build_says_which_package_is_missing(name: str, packages: Path, tmp_path: Path) -> None:
    (packages / name).unlink()

    done = _build(packages, tmp_path)

    assert done.returncode == 1 and f"must have one {name.split('_')[0]} package" in done.stderr
    assert not (tmp_path / "words").exists()


# ---- the container's programs ----


def _event(name: str, **payload: str) -> bytes:
    body = " ".join(f"{key}:{value}" for key, value in payload.items()).encode()
    header = f"ver:3.0 server:supervisor serial:1 pool:exit-listener poolserial:1 eventname:{name} len:{len(body)}\n"
    return header.encode() + body


def _listen(events: bytes, critical: Path) -> "subprocess.CompletedProcess[bytes]":
    """In the place of supervisord a shell, whose end by SIGTERM the listener may cause: exit code 143."""
    argv = ["sh", "-c", f"{shlex.quote(str(_LISTENER))} {shlex.quote(str(critical))}; exit $?"]
    return subprocess.run(argv, input=events, check=False, capture_output=True)


@pytest.fixture
def critical(tmp_path: Path) -> Path:
    path = tmp_path / "critical_processes"
    path.write_text("program:planed\ngroup:others\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("process", "group"), [("planed", "planed"), ("one", "others")], ids=["by its name", "by its group"]
)
@pytest.mark.parametrize("event", ["PROCESS_STATE_EXITED", "PROCESS_STATE_FATAL"])
def test_end_of_a_critical_program_ends_supervisord(event: str, process: str, group: str, critical: Path) -> None:
    done = _listen(_event(event, processname=process, groupname=group, from_state="RUNNING"), critical)

    assert done.returncode == -signal.SIGTERM
    assert done.stderr.decode() == f"exit-listener: {process} has ended, and so does the container\n"


def test_other_events_end_nothing_and_all_are_answered(critical: Path) -> None:
    events = _event("PROCESS_STATE_EXITED", processname="start", groupname="start", from_state="RUNNING", expected="1")
    events += _event("PROCESS_STATE_STOPPED", processname="planed", groupname="planed", from_state="STOPPING", pid="7")

    done = _listen(events, critical)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"READY\nRESULT 2\nOKREADY\nRESULT 2\nOKREADY\n"


@pytest.mark.parametrize(
    ("text", "said"), [("", "names no program"), ("planed\n", "planed: must be program:NAME or group:NAME")]
)
def test_listener_refuses_a_list_that_names_nobody(text: str, said: str, critical: Path) -> None:
    critical.write_text(text, encoding="utf-8")

    done = _listen(b"", critical)

    assert done.returncode == 1 and said in done.stderr.decode()


def test_debug_dump_asks_on_where_planed_does_not_answer(tmp_path: Path) -> None:
    program(tmp_path / "bin", "planectl", 'echo "asked $*"; exit 3')
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}

    done = subprocess.run([_SONIC / "bin/planed-debug-dump"], check=True, capture_output=True, text=True, env=environment)

    asked = re.findall(r"^asked --timeout 10s (.+)$", done.stdout, re.M)
    assert {"status", "interfaces", "hosts", "routes", "audit", "counters", "config show"} <= set(asked)
    assert re.findall(r"^===== planectl (.+)$", done.stdout, re.M) == asked


class Supervisord:
    """The real one with our configuration, whose paths lead into a folder, in a network namespace of its own.

    It starts planed by itself: what starts programs in turn is not in Debian.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.log = folder / "log"
        config = folder / "planed.yaml"
        places = {"state_dir": str(folder), "frr": {"socket": f"{folder}/zserv"}, "redis": {"endpoint": "off"}}
        config.write_text(json.dumps({**places, "api": {"listen": [f"unix:{folder}/api"]}}), encoding="utf-8")
        parser = _supervisord()
        parser.remove_section("eventlistener:dependent-startup")
        parser.remove_section("program:start")
        parser["unix_http_server"]["file"] = f"{folder}/supervisor.sock"
        parser["supervisorctl"]["serverurl"] = f"unix://{folder}/supervisor.sock"
        parser["supervisord"]["pidfile"] = f"{folder}/pid"
        parser["eventlistener:exit-listener"]["command"] = f"{_LISTENER} {_SONIC}/critical_processes"
        planed = parser["program:planed"]
        planed["command"] = planed["command"].replace(_DAEMON, str(binary())).replace("/etc/planed/planed.yaml", str(config))
        planed["autostart"] = "true"
        with open(folder / "supervisord.conf", "w", encoding="utf-8") as file:
            parser.write(file)
        with open(self.log, "a", encoding="utf-8") as log:
            argv = ["unshare", "--net", "supervisord", "--nodaemon", "--configuration", str(folder / "supervisord.conf")]
            self.process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def ctl(self, *words: str) -> str:
        argv = ["supervisorctl", "--configuration", str(self._folder / "supervisord.conf"), *words]
        return subprocess.run(argv, check=False, capture_output=True, text=True).stdout

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def planed_runs(self) -> bool:
        return re.search(r"^planed +RUNNING", self.ctl("status"), re.M) is not None and "name=NEIGHBORS_SYNCED" in self.said()


@pytest.fixture
def supervisord(tmp_path: Path) -> Iterator[Supervisord]:
    assert shutil.which("supervisord"), "Debian: apt install supervisor"
    running = Supervisord(tmp_path)
    try:
        wait_until(running.planed_runs, 30, what="no planed under supervisord")
        yield running
    finally:
        if running.process.poll() is None:
            running.process.terminate()
            running.process.wait(20)


def test_container_ends_when_planed_has_ended(supervisord: Supervisord) -> None:
    os.kill(int(supervisord.ctl("pid", "planed")), signal.SIGKILL)

    assert supervisord.process.wait(10) == 0
    assert "exit-listener: planed has ended, and so does the container" in supervisord.said()


def test_container_that_is_stopped_stops_planed(supervisord: Supervisord) -> None:
    supervisord.process.terminate()

    assert supervisord.process.wait(20) == 0
    assert "exit-listener:" not in supervisord.said()
    assert "stopped: planed (exit status 0)" in supervisord.said()
