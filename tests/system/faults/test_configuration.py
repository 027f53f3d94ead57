# SPDX-License-Identifier: Apache-2.0
"""A planed that is given a wrong file, or a wrong command line: it says all that is wrong, and where, and ends with 2."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from lab.planed import REPO, binary

_FAULT = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?:(?P<path>[\w.\[\]]+): )?(?P<text>.+)$")

# Text, and where each of its faults is: line, column, path, a word of the reason.
Place = tuple[int, int, str, str]
_WRONG: dict[str, tuple[str, list[Place]]] = {
    "an unknown key": ("routes:\n  tagg: 1\n", [(2, 3, "routes.tagg", "tag")]),
    "an unknown key at the top": ("interface: []\n", [(1, 1, "interface", "interfaces")]),
    "an unknown key of a list's entry": (
        "interfaces:\n  - name: Vlan1\n    proxy: true\n",
        [(3, 5, "interfaces[0].proxy", "no key")],
    ),
    "a key twice": ("on_exit: keep\non_exit: withdraw\n", [(2, 1, "on_exit", "line 1")]),
    "text where a number belongs": ("routes:\n  tag: many\n", [(2, 8, "routes.tag", "number")]),
    "a number that is too large": ("routes:\n  distance: 256\n", [(2, 13, "routes.distance", "255")]),
    "a number below its least": ("routes:\n  distance: 0\n", [(2, 13, "routes.distance", "1")]),
    "a negative number": ("routes:\n  metric: -1\n", [(2, 11, "routes.metric", "-1")]),
    "a duration without a unit": ("learning:\n  refresh: 30\n", [(2, 12, "learning.refresh", "unit")]),
    "a duration out of bounds": ("frr:\n  stale_time: 1s\n", [(2, 15, "frr.stale_time", "2s")]),
    "a word that is none of the choices": ("on_exit: stay\n", [(1, 10, "on_exit", "keep")]),
    "no truth value": (
        "interfaces:\n  - name: Vlan1\n    snoop: maybe\n",
        [(3, 12, "interfaces[0].snoop", "true")],
    ),
    "an address that is none": (
        "interfaces:\n  - name: Vlan1\n    exclude: [10.0.0.300]\n",
        [(3, 15, "interfaces[0].exclude[0]", "10.0.0.300")],
    ),
    "a prefix with host bits": (
        "interfaces:\n  - name: Vlan1\n    prefixes: [10.0.0.1/16]\n",
        [(3, 16, "interfaces[0].prefixes[0]", "10.0.0.0/16")],
    ),
    "an interface without a name": ("interfaces:\n  - snoop: true\n", [(2, 5, "interfaces[0]", "name")]),
    "an interface name that cannot be one": (
        "interfaces:\n  - name: a/b\n",
        [(2, 11, "interfaces[0].name", "interface name")],
    ),
    "an interface twice": (
        "interfaces:\n  - name: Vlan1\n  - name: Vlan1\n",
        [(3, 11, "interfaces[1].name", "interfaces[0]")],
    ),
    "two globs of which neither is the closer": (
        "interfaces:\n  - name: Vlan1*\n  - name: Vlan*1\n",
        [(3, 11, "interfaces[1].name", "more specific")],
    ),
    "an uplink that faces servers too": (
        "interfaces:\n  - name: swp1\nuplinks: [swp*]\n",
        [(3, 11, "uplinks[0]", "interfaces[0]")],
    ),
    "a list where a map belongs": ("routes: [5]\n", [(1, 9, "routes", "map")]),
    "a map where a list belongs": ("uplinks: {a: b}\n", [(1, 10, "uplinks", "list")]),
    "a release that nobody knows": ("frr:\n  release: '7.5'\n", [(2, 12, "frr.release", "7.5")]),
    "a socket path that does not fit": (
        f"frr:\n  socket: /{'x' * 120}\n",
        [(2, 11, "frr.socket", "107")],
    ),
    "a relative state_dir": ("state_dir: here\n", [(1, 12, "state_dir", "absolute")]),
    "an API over TCP without TLS": ("api:\n  listen: ['10.0.0.5:50051']\n", [(2, 12, "api.listen[0]", "certificate")]),
    "a share that is no percentage": (
        "routes:\n  max_withdraw: {share: half}\n",
        [(2, 25, "routes.max_withdraw.share", "%")],
    ),
    "YAML that ends in the middle": ("routes: {tag: 1\n", [(2, 1, "", "not YAML")]),
    "a tab as indentation": ("routes:\n\ttag: 1\n", [(2, 5, "", "not YAML")]),
    "two documents": ("on_exit: keep\n---\non_exit: keep\n", [(2, 1, "", "second document")]),
    "a list as the whole file": ("- 1\n- 2\n", [(1, 1, "", "map")]),
}


def _run(*args: str, timeout: float = 20.0) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(binary()), *args], capture_output=True, text=True, timeout=timeout, check=False)


def _faults(output: str, file: Path) -> list[tuple[int, int, str, str]]:
    found = [match for match in map(_FAULT.match, output.splitlines()) if match and match["file"] == str(file)]
    return [(int(m["line"]), int(m["column"]), m["path"] or "", m["text"]) for m in found]


def _same(found: list[tuple[int, int, str, str]], wanted: list[Place]) -> None:
    assert [f[:2] for f in found] == [w[:2] for w in wanted], found
    for (_, _, path, text), (_, _, wanted_path, word) in zip(found, wanted):
        assert path == wanted_path, found
        assert word in path + text, found


@pytest.mark.parametrize("what", _WRONG)
@pytest.mark.parametrize("args", [["--check"], ["--print-config"], []], ids=["check", "print", "start"])
def test_wrong_file_is_refused_with_code_2_and_the_place_of(what: str, args: list[str], tmp_path: Path) -> None:
    text, wanted = _WRONG[what]
    file = tmp_path / "planed.yaml"
    file.write_text(text, encoding="utf-8")

    done = _run("--config", str(file), *args)

    assert done.returncode == 2, done
    assert done.stdout == ""
    _same(_faults(done.stderr, file), wanted)


def test_all_faults_of_a_file_are_named_at_once_and_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "planed.yaml"
    lines = ["on_exit: stay", "interfaces:", "  - name: a/b", "    max_hosts: 0", "    exclude: [x]", "nonsense: 1"]
    lines += ["routes:", "  distance: 0", "  tag: -1", "  nexthop: far", "  add_delay: 3 weeks", "frr:", "  release: '1'"]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    done = _run("--config", str(file), "--check")

    assert done.returncode == 2
    assert [(line, path) for line, _, path, _ in _faults(done.stderr, file)] == [
        (1, "on_exit"),
        (3, "interfaces[0].name"),
        (4, "interfaces[0].max_hosts"),
        (5, "interfaces[0].exclude[0]"),
        (6, "nonsense"),
        (8, "routes.distance"),
        (9, "routes.tag"),
        (10, "routes.nexthop"),
        (11, "routes.add_delay"),
        (13, "frr.release"),
    ], done.stderr


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\x00\x01\x02\xff\xfe" * 100, ""),
        (b"\xff" * 64, ""),
        (b"a: &a [*a, *a]\n", ""),
        (b"[" * 20_000, ""),
        (b"x" * (17 << 20), ""),
        (b"on_exit: !!python/object:os.system keep\n", "tag"),
    ],
    ids=["control characters", "no UTF-8", "an alias into itself", "deep nesting", "17 MiB", "a tag"],
)
def test_what_is_no_configuration_at_all_is_refused_with_code_2(content: bytes, word: str, tmp_path: Path) -> None:
    file = tmp_path / "planed.yaml"
    file.write_bytes(content)

    done = _run("--config", str(file), "--check")

    assert done.returncode == 2, done
    assert f"{file}:" in done.stderr and word in done.stderr
    assert len(done.stderr) < 10_000


def test_file_that_cannot_be_read_is_refused_with_code_2_and_its_name(tmp_path: Path) -> None:
    for file in (tmp_path / "absent.yaml", tmp_path):
        done = _run("--config", str(file))

        assert done.returncode == 2, done
        assert str(file) in done.stderr


def test_wrong_flag_is_refused_with_code_2() -> None:
    for args in (["--confg", "x"], ["surplus"], ["--log-level", "loud"], ["--config"]):
        assert _run(*args).returncode == 2, args


def test_version_and_help_are_told_with_code_0() -> None:
    assert _run("--version").stdout.startswith("planed ")
    assert "--print-config" in _run("--help").stdout
    assert _run("--version").returncode == _run("--help").returncode == 0


def test_right_file_passes_the_check_and_starts_nothing(tmp_path: Path) -> None:
    file, state = tmp_path / "planed.yaml", tmp_path / "state"
    file.write_text(f"state_dir: {state}\ninterfaces: [{{name: Vlan100}}]\n", encoding="utf-8")

    done = _run("--config", str(file), "--check")

    assert (done.returncode, done.stdout) == (0, "")
    assert not state.exists()


def test_json_is_taken_as_well(tmp_path: Path) -> None:
    file = tmp_path / "planed.yaml"
    text = {"interfaces": [{"name": "Vlan100", "exclude": ["10.0.0.9"]}], "routes": {"tag": 7}}
    file.write_text(json.dumps(text), encoding="utf-8")

    assert "tag: 7" in _run("--config", str(file), "--print-config").stdout


@pytest.mark.parametrize("source", ["the shipped file", "an empty file", "every kind of value"])
def test_printed_configuration_loads_back_as_the_same(source: str, tmp_path: Path) -> None:
    texts = {
        "the shipped file": (REPO / "config/planed.yaml").read_text(encoding="utf-8"),
        "an empty file": "",
        "every kind of value": "node: {name: leaf-1, plane: 'A: \"b\" #c'}\n"
        "interfaces: [{name: 'Vlan1[0-9]', prefixes: [10.0.0.0/16, 'fd00::/64'], exclude: [10.0.0.9], snoop: false,"
        " hosts: [{address: 10.0.0.5, mac: '02:00:00:00:00:05', port: swp5}]}]\n"
        "uplinks: [up1, up2]\nuplinks_down: shut\non_exit: withdraw\n"
        "routes: {add_delay: 1500ms, withdraw_delay: {silent: 1m}, max_withdraw: {share: 7%}, nexthop: self}\n",
    }
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(texts[source], encoding="utf-8")

    printed = _run("--config", str(first), "--print-config")
    second.write_text(printed.stdout, encoding="utf-8")
    again = _run("--config", str(second), "--print-config")

    assert (printed.returncode, again.returncode) == (0, 0), printed.stderr + again.stderr
    assert again.stdout == printed.stdout
    assert _run("--config", str(second), "--check").returncode == 0
