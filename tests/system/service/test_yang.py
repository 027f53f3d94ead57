# SPDX-License-Identifier: Apache-2.0
"""The YANG model of planed's rows in CONFIG_DB, as yanglint judges it: what it takes, and what it refuses for which reason."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parents[3]
_MODEL = _ROOT / "config/yang/sonic-planed.yang"
_INSTANCES = _ROOT / "tests/yang"
_GLOBAL = "PLANED/global"
_INTERFACE = "PLANED_INTERFACE/PLANED_INTERFACE_LIST"
_VLAN = f"{_INTERFACE}[name='Vlan100']"

_NO_CHOICE = "Invalid enumeration value"
_NO_NAME = "no matching subtype found"
_NO_PREFIX = "no matching subtype found"
_TWICE = "Duplicate instance of"
_OUT_OF_TYPE = "is out of type"

# Where yanglint must point, and what it must say.
_REFUSED = {
    "plane_too_long": (f"{_GLOBAL}/plane", "length is not allowed"),
    "on_exit_unknown": (f"{_GLOBAL}/on_exit", _NO_CHOICE),
    "uplinks_with_space": (f"{_GLOBAL}/uplinks", _NO_NAME),
    "uplinks_name_too_long": (f"{_GLOBAL}/uplinks", _NO_NAME),
    "uplinks_glob_open": (f"{_GLOBAL}/uplinks", _NO_NAME),
    "uplinks_twice": ("global/uplinks[.='Ethernet48']", _TWICE),
    "uplinks_is_served": (f"{_GLOBAL}/uplinks[.='Vlan100']", "cannot be a server-facing interface as well"),
    "uplinks_down_unknown": (f"{_GLOBAL}/uplinks_down", _NO_CHOICE),
    "refresh_too_short": (f"{_GLOBAL}/refresh", "from 1s to 24h"),
    "refresh_too_long": (f"{_GLOBAL}/refresh", "from 1s to 24h"),
    "refresh_without_unit": (f"{_GLOBAL}/refresh", "from 1s to 24h"),
    "probe_interval_too_short": (f"{_GLOBAL}/probe_interval", "from 10ms to 1m"),
    "probe_interval_too_long": (f"{_GLOBAL}/probe_interval", "from 10ms to 1m"),
    "probe_attempts_zero": (f"{_GLOBAL}/probe_attempts", "1 to 100"),
    "probe_attempts_too_many": (f"{_GLOBAL}/probe_attempts", "1 to 100"),
    "distance_zero": (f"{_GLOBAL}/distance", "1 to 255"),
    "distance_too_far": (f"{_GLOBAL}/distance", _OUT_OF_TYPE),
    "metric_negative": (f"{_GLOBAL}/metric", _OUT_OF_TYPE),
    "metric_too_big": (f"{_GLOBAL}/metric", _OUT_OF_TYPE),
    "nexthop_unknown": (f"{_GLOBAL}/nexthop", _NO_CHOICE),
    "tag_too_big": (f"{_GLOBAL}/tag", _OUT_OF_TYPE),
    "add_delay_too_long": (f"{_GLOBAL}/add_delay", "from 0s to 1h"),
    "add_delay_negative": (f"{_GLOBAL}/add_delay", "from 0s to 1h"),
    "withdraw_delay_silent_unit": (f"{_GLOBAL}/withdraw_delay_silent", "from 0s to 1h"),
    "withdraw_delay_port_down_fraction": (f"{_GLOBAL}/withdraw_delay_port_down", "from 0s to 1h"),
    "max_flaps_too_many": (f"{_GLOBAL}/max_flaps", "0 (off) to 1000"),
    "flap_window_too_short": (f"{_GLOBAL}/flap_window", "from 100ms to 24h"),
    "flap_hold_too_long": (f"{_GLOBAL}/flap_hold", "from 100ms to 24h"),
    "admin_status_is_no_field": (_GLOBAL, 'Node "admin_status" not found'),
    "name_missing": (_INTERFACE, 'missing its key "name"'),
    "name_twice": (_VLAN, _TWICE),
    "name_with_bar": (f"{_INTERFACE}/name", _NO_NAME),
    "name_of_dots": (f"{_INTERFACE}/name", _NO_NAME),
    "prefixes_without_length": (f"{_VLAN}/prefixes", _NO_PREFIX),
    "prefixes_length_too_long": (f"{_VLAN}/prefixes", _NO_PREFIX),
    "prefixes_no_address": (f"{_VLAN}/prefixes", _NO_PREFIX),
    "exclude_no_address": (f"{_VLAN}/exclude", _NO_PREFIX),
    "proxy_arp_unknown": (f"{_VLAN}/proxy_arp", _NO_CHOICE),
    "proxy_nd_unknown": (f"{_VLAN}/proxy_nd", _NO_CHOICE),
    "snoop_unknown": (f"{_VLAN}/snoop", _NO_CHOICE),
    "max_hosts_zero": (f"{_VLAN}/max_hosts", "1 to 131072"),
    "max_hosts_too_many": (f"{_VLAN}/max_hosts", "1 to 131072"),
    "unresolved_unknown": (f"{_VLAN}/unresolved", _NO_CHOICE),
    "hosts_is_no_field": (_VLAN, 'Node "hosts" not found'),
}

_FIELDS = {
    _GLOBAL: {
        "plane", "on_exit", "uplinks*", "uplinks_down", "refresh", "probe_interval", "probe_attempts", "distance", "metric",
        "nexthop", "tag", "add_delay", "withdraw_delay_silent", "withdraw_delay_port_down", "max_flaps", "flap_window",
        "flap_hold",
    },
    _INTERFACE: {"name", "prefixes*", "exclude*", "proxy_arp", "proxy_nd", "snoop", "max_hosts", "unresolved"},
}  # fmt: skip

_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_HOUR, _DAY = _UNITS["h"], 24 * _UNITS["h"]
# From and to, in microseconds.
_DURATIONS = {
    "refresh": (1_000_000, _DAY),
    "probe_interval": (10_000, 60_000_000),
    "add_delay": (0, _HOUR),
    "withdraw_delay_silent": (0, _HOUR),
    "withdraw_delay_port_down": (0, _HOUR),
    "flap_window": (100_000, _DAY),
    "flap_hold": (100_000, _DAY),
}


def _yanglint(*arguments: str | Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["yanglint", *arguments], check=False, capture_output=True, text=True, cwd=cwd)


def _validate(instance: Path) -> "subprocess.CompletedProcess[str]":
    return _yanglint("-t", "config", "-f", "json", _MODEL, instance)


def _names(folder: str) -> set[str]:
    return {path.stem for path in (_INSTANCES / folder).iterdir()}


def _data(instance: Path) -> Any:
    return json.loads(instance.read_text(encoding="utf-8"))


def test_model_stands_alone_and_gives_no_warning(tmp_path: Path) -> None:
    done = _yanglint("-D", "-f", "yang", _MODEL, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")


def test_model_has_every_field_and_no_other() -> None:
    path, seen = "", {}
    for line in _yanglint("-f", "tree", _MODEL).stdout.splitlines():
        node = re.match(r"^([ |]*)\+--rw (\w+)([?*]?)(?: \[\w+\])?(?: +([\w:-]+))?$", line)
        if node and node[4]:
            seen.setdefault(path, set()).add(node[2] + ("*" if node[3] == "*" else ""))
        elif node:
            depth = (len(node[1]) - 2) // 3  # Of sonic-planed's children.
            path = "/".join([*path.split("/")[: depth - 1], node[2]]) if depth > 1 else node[2]

    assert seen == _FIELDS


@pytest.mark.parametrize("name", sorted(_names("valid")))
def test_right_rows_are_taken_as_they_are(name: str) -> None:
    instance = _INSTANCES / "valid" / f"{name}.json"

    done = _validate(instance)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == _without_empty(_data(instance))


def _without_empty(data: Any) -> Any:
    """As yanglint prints it: containers and lists that hold nothing are left out."""
    if not isinstance(data, dict):
        return data
    inner = {key: _without_empty(value) for key, value in data.items()}
    return {key: value for key, value in inner.items() if value not in ({}, [])}


@pytest.mark.parametrize("name", sorted(_names("invalid")))
def test_wrong_rows_are_refused_for_what_is_wrong(name: str) -> None:
    where, why = _REFUSED[name]

    done = _validate(_INSTANCES / "invalid" / f"{name}.json")

    said = [line for line in done.stderr.splitlines() if line.startswith("libyang err")]
    assert done.returncode != 0 and len(said) == 1, done.stderr
    found = re.search(r'\(Data location "/sonic-planed:(?:sonic-planed/)?([^"]*)"', said[0])
    assert found and found[1] == where, said[0]
    assert why in said[0]


def test_every_reason_has_its_instance() -> None:
    assert _names("invalid") == set(_REFUSED)


def test_one_instance_has_every_field() -> None:
    leaf = _data(_INSTANCES / "valid/leaf.json")["sonic-planed:sonic-planed"]

    assert set(leaf["PLANED"]["global"]) == {field.rstrip("*") for field in _FIELDS[_GLOBAL]}
    assert set(leaf["PLANED_INTERFACE"]["PLANED_INTERFACE_LIST"][0]) == {f.rstrip("*") for f in _FIELDS[_INTERFACE]}


@pytest.mark.parametrize("field", sorted(_DURATIONS))
def test_duration_ends_at_its_bounds_in_every_unit(field: str, tmp_path: Path) -> None:
    """The bounds are written as patterns, one for each unit: each is tried on both sides of both ends."""
    low, high = _DURATIONS[field]
    wrong = []
    for unit, length in _UNITS.items():
        first, last = -(-low // length), high // length
        for count in {first - 1, first, (first + last) // 2, last, last + 1, last * 10} - {-1}:
            instance = tmp_path / "instance.json"
            row = {field: f"{count}{unit}"}
            instance.write_text(json.dumps({"sonic-planed:sonic-planed": {"PLANED": {"global": row}}}), encoding="utf-8")
            if (_validate(instance).returncode == 0) != (low <= count * length <= high):
                wrong.append(row[field])

    assert wrong == []
