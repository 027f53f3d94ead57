# SPDX-License-Identifier: Apache-2.0
"""The plug-ins for SONiC's `show` and `config`: what they run, what they write, and what they refuse to write."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from lab.planed import binary
from sonic_host import ConfigDb, plugin, program

_MODEL = Path(__file__).resolve().parents[3] / "config/yang/sonic-planed.yang"


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> ConfigDb:
    database = ConfigDb()
    package, module = ModuleType("swsscommon"), ModuleType("swsscommon.swsscommon")
    module.ConfigDBConnector = database.connector()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swsscommon", package)
    monkeypatch.setitem(sys.modules, "swsscommon.swsscommon", module)
    return database


def _registered(command: str) -> click.Group:
    group = click.Group(command)
    plugin(command).register(group)
    return group


def _config(*words: str) -> Result:
    return CliRunner(mix_stderr=False).invoke(_registered("config"), ["planed", *words])


# ---- show ----


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def _show(*words: str) -> int:
    """Its exit code; what it prints by itself comes out as well."""
    result = CliRunner(mix_stderr=False).invoke(_registered("show"), ["planed", *words])
    sys.stdout.write(result.stdout)
    sys.stderr.write(result.stderr)
    return result.exit_code


_SAYS_ITS_WORDS = "printf '<%s>' planectl \"$@\"; echo"


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["status"], ["status"]),
        (["interfaces"], ["interfaces"]),
        (["hosts", "--interface", "Vlan100", "--vrf", "default"], ["hosts", "--interface", "Vlan100", "--vrf", "default"]),
        (["hosts", "--port", "Ethernet4; reboot"], ["hosts", "--port", "Ethernet4; reboot"]),
        (["routes", "--vrf", "Vrf1"], ["routes", "--vrf", "Vrf1"]),
        (["proxies", "--interface", "Vlan100"], ["proxies", "--interface", "Vlan100"]),
        (["segments"], ["segments"]),
        (["peers"], ["peers"]),
        (["counters"], ["counters"]),
        (["explain", "fd00::5"], ["explain", "fd00::5"]),
    ],
)
def test_show_asks_planectl(words: list[str], asked: list[str], programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program(programs, "planectl", _SAYS_ITS_WORDS)

    assert _show(*words) == 0

    assert capfd.readouterr().out == "".join(f"<{word}>" for word in ["planectl", "--output", "table", *asked]) + "\n"


def test_show_has_a_case_above_for_every_verb() -> None:
    mark = next(mark for mark in test_show_asks_planectl.pytestmark if mark.name == "parametrize")

    assert {words[0] for words, _ in mark.args[1]} == set(_registered("show").commands["planed"].commands)


def test_show_takes_other_forms_and_shows_the_command(programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program(programs, "planectl", "echo '[]'")

    assert _show("routes", "-o", "json", "--verbose") == 0

    assert capfd.readouterr().out.splitlines() == ["[]", "Running command: planectl --output json routes"]


def test_show_asks_in_the_container_where_the_host_has_no_planectl(
    programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program(programs, "docker", "printf '<%s>' docker \"$@\"")

    assert _show("explain", "10.0.0.5") == 0

    words = "docker exec planed planectl --output table explain 10.0.0.5".split()
    assert capfd.readouterr().out == "".join(f"<{word}>" for word in words)


@pytest.mark.parametrize("code", [1, 2, 3])
def test_show_ends_as_planectl_ends(code: int, programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program(programs, "planectl", f"echo 'planed cannot be reached' >&2; exit {code}")

    assert _show("status") == code

    assert capfd.readouterr() == ("", "planed cannot be reached\n")


def test_show_tells_a_planectl_that_a_signal_has_ended(programs: Path) -> None:
    program(programs, "planectl", "kill -KILL $$")

    assert _show("status") == 128 + 9


def test_show_says_that_nobody_can_be_asked(programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _show("status") == 1

    assert capfd.readouterr() == ("", "Error: neither planectl nor docker is here to ask planed with\n")


def test_show_takes_no_word_that_is_none(programs: Path) -> None:
    program(programs, "planectl", "exit 0")

    assert _show("drain") == 2
    assert _show("explain") == 2
    assert _show("status", "-o", "xml") == 2


# ---- config ----


def test_fields_are_written_one_by_one(database: ConfigDb) -> None:
    for field, value in [("refresh", "10s"), ("uplinks", "Ethernet48, Ethernet5?"), ("plane", "A"), ("refresh", "20s")]:
        assert _config("global", field, value).exit_code == 0

    assert database.rows == {"PLANED|global": {"refresh": "20s", "uplinks@": "Ethernet48,Ethernet5?", "plane": "A"}}


def test_interface_comes_is_set_and_goes(database: ConfigDb) -> None:
    database.rows["VLAN|Vlan100"] = {"vlanid": "100"}

    added = _config("interface", "add", "Vlan100")
    assert (added.exit_code, added.stderr) == (0, "")
    assert database.rows["PLANED_INTERFACE|Vlan100"] == {"NULL": "NULL"}

    for field, value in [("prefixes", "10.0.0.0/16,fd00:0:0:1::/64"), ("proxy_nd", "false"), ("max_hosts", "512")]:
        assert _config("interface", "set", "Vlan100", field, value).exit_code == 0
    row = database.rows["PLANED_INTERFACE|Vlan100"]
    assert row == {"NULL": "NULL", "prefixes@": "10.0.0.0/16,fd00:0:0:1::/64", "proxy_nd": "false", "max_hosts": "512"}

    assert _config("interface", "remove", "Vlan100").exit_code == 0
    assert set(database.rows) == {"VLAN|Vlan100"}


def test_empty_list_is_a_value(database: ConfigDb) -> None:
    """It stands against what planed.yaml has."""
    assert _config("global", "uplinks", "").exit_code == 0

    assert database.rows == {"PLANED|global": {"uplinks@": ""}}


def test_list_that_others_have_written_as_text_is_a_list(database: ConfigDb) -> None:
    database.rows["PLANED|global"] = {"uplinks": "Ethernet48,Vlan100"}

    assert "Vlan100 cannot be an uplink" in _config("interface", "add", "Vlan100").stderr
    database.rows["PLANED|global"] = {"uplinks@": ""}
    assert _config("interface", "add", "*").exit_code == 0


def test_default_takes_a_field_out_and_leaves_the_row(database: ConfigDb) -> None:
    database.rows["PLANED|global"] = {"refresh": "10s", "uplinks@": "Ethernet48"}
    database.rows["PLANED_INTERFACE|Vlan100"] = {"exclude@": "10.0.0.1"}

    assert _config("global", "uplinks", "--default").exit_code == 0
    assert _config("global", "tag", "--default").exit_code == 0
    assert _config("interface", "set", "Vlan100", "exclude", "--default").exit_code == 0

    assert database.rows == {"PLANED|global": {"refresh": "10s"}, "PLANED_INTERFACE|Vlan100": {"NULL": "NULL"}}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["global", "speed", "1"], "speed: no such field; there are plane, on_exit, uplinks,"),
        (["global", "speed", "--default"], "speed: no such field; there are plane, on_exit, uplinks,"),
        (["global", "prefixes", "10.0.0.0/16"], "prefixes: no such field"),
        (["global", "refresh"], "refresh: a VALUE is missing, or --default"),
        (["global", "refresh", "1s", "--default"], "refresh: a VALUE or --default, not both"),
        (["global", "refresh", "10"], 'refresh: "10" must be a duration, 1s to 24h: a whole number and one of us, ms, s, m, h'),
        (["global", "refresh", "25h"], 'refresh: "25h" must be a duration, 1s to 24h'),
        (["global", "on_exit", "stay"], 'on_exit: "stay" must be keep or withdraw'),
        (["global", "distance", "0"], 'distance: "0" must be a whole number, 1 to 255'),
        (["global", "metric", "--", "-1"], 'metric: "-1" must be a whole number, 0 to 4294967295'),
        (["global", "plane", "p" * 65], "must have at most 64 bytes"),
        (["global", "uplinks", "Ethernet48,Ethernet 52"], 'uplinks: "Ethernet 52" must be an interface\'s name'),
        (["global", "uplinks", "Ethernet48,Ethernet48"], 'uplinks: "Ethernet48" is there twice'),
        (["global", "uplinks", "Ethernet48,"], 'uplinks: "" must be an interface\'s name'),
        (["global", "uplinks", ",".join(f"e{n}" for n in range(257))], "uplinks: 257 elements are too many, 256 fit"),
        (["global", "uplinks", "Ethernet48,Vlan100"], "Vlan100 cannot be an uplink and a server-facing interface as well"),
        (["global", "uplinks", "Vlan1*"], "Vlan1* (Vlan100) cannot be an uplink and a server-facing interface as well"),
        (["interface", "add", "Vlan100"], "Vlan100 is served already"),
        (["interface", "add", "Ethernet48"], "Ethernet48 cannot be an uplink and a server-facing interface as well"),
        (["interface", "add", "Ethernet*"], "Ethernet48 (Ethernet*) cannot be an uplink and a server-facing"),
        (["interface", "add", "Vlan100|x"], 'NAME: "Vlan100|x" must be an interface\'s name'),
        (["interface", "remove", "Vlan200"], "Vlan200 is not served: config planed interface add Vlan200"),
        (["interface", "set", "Vlan200", "snoop", "true"], "Vlan200 is not served: config planed interface add Vlan200"),
        (["interface", "set", "Vlan100", "refresh", "1s"], "refresh: no such field; there are prefixes, exclude,"),
        (["interface", "set", "Vlan100", "proxy_arp", "on"], 'proxy_arp: "on" must be one of off, routed, pvlan'),
        (["interface", "set", "Vlan100", "snoop", "True"], 'snoop: "True" must be true or false'),
        (["interface", "set", "Vlan100", "prefixes", "10.0.0.1/16"], "without host bits (did you mean 10.0.0.0/16?)"),
        (["interface", "set", "Vlan100", "prefixes", "10.0.0.0"], 'prefixes: "10.0.0.0" must be a prefix such as'),
        (["interface", "set", "Vlan100", "prefixes", "10.0.0.0/255.255.0.0"], "must be a prefix such as 10.0.0.0/16"),
        (["interface", "set", "Vlan100", "prefixes", "fd00::/64,FD00:0::/64"], '"FD00:0::/64" is there twice'),
        (["interface", "set", "Vlan100", "exclude", "10.0.0.256"], "must be a prefix such as 10.0.0.0/16, or an address"),
        (["interface", "set", "Vlan100", "exclude", "fe80::1%eth0"], "must be a prefix such as 10.0.0.0/16, or an address"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_written(words: list[str], said: str, database: ConfigDb) -> None:
    database.rows["PLANED|global"] = {"uplinks@": "Ethernet48,PortChannel1"}
    database.rows["PLANED_INTERFACE|Vlan100"] = {"max_hosts": "512"}
    before = json.dumps(database.rows)

    result = _config(*words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr.split("Error: ")[1]
    assert json.dumps(database.rows) == before


def test_interface_that_is_not_there_yet_is_noted_and_written(database: ConfigDb) -> None:
    database.rows["VLAN_SUB_INTERFACE|Ethernet0.10"] = {"admin_status": "up"}
    database.rows["VLAN_SUB_INTERFACE|Ethernet0.10|10.0.0.1/24"] = {"NULL": "NULL"}
    database.rows["PORT|Ethernet48"] = {"lanes": "1"}

    assert _config("interface", "add", "Ethernet0.10").stderr == ""
    assert _config("interface", "add", "Vlna100").stderr == "Note: CONFIG_DB has no interface Vlna100 yet\n"
    assert _config("interface", "add", "Vlan1*").stderr == ""
    uplinks = _config("global", "uplinks", "Ethernet48,Ethernet52")
    assert uplinks.stderr == "Note: CONFIG_DB has no interface Ethernet52 yet\n"

    assert {"PLANED_INTERFACE|Vlna100", "PLANED_INTERFACE|Vlan1*", "PLANED|global"} <= set(database.rows)


def test_help_names_every_field(database: ConfigDb) -> None:
    module = plugin("config")

    assert set(module.GLOBAL_FIELDS) <= set(_words(_config("global", "--help").stdout))
    assert set(module.INTERFACE_FIELDS) <= set(_words(_config("interface", "set", "--help").stdout))


def _words(text: str) -> Iterator[str]:
    return (word.strip(",.") for word in text.split())


# ---- plug-in, model and daemon agree ----

_DURATIONS = ["0s", "1us", "99ms", "100ms", "9ms", "10ms", "1s", "60s", "61s", "1m", "2m", "1h", "61m", "24h", "25h", "86401s"]
_DURATIONS += ["3600000001us", "5", "s", "-1s", "1d", "1.5s", "1 s", "1S", "99999999999999999999h"]
_WHOLES = ["0", "1", "100", "101", "255", "256", "1000", "1001", "131072", "131073", "4294967295", "4294967296"]
_WHOLES += ["-1", "x", "1.5"]
_NAMES = ["Ethernet48", "bond0.100", "a" * 15, "a" * 16, "..", "a b", "a/b", "a:b", "a|b", "Vlan[12]*", "e[", "e]", "*", "a\\*"]
_NAMES += ["Vlan[!1]?", "eth[1-9]*"]
_PREFIXES = ["10.0.0.0/16", "fd00:0:0:1::/64", "0.0.0.0/0", "::/0", "10.0.0.0", "10.0.0.5/32", "10.0.0.0/33", "::/129"]
_PREFIXES += ["fd00::1::/64", "10.0.0.0/016", "10.0.0/24", "010.0.0.0/8", "10.0.0.256", "fd00::5", "x"]
# For each field its key in planed.yaml, and values to try.
_GLOBAL = {
    "plane": ("node.plane", ["A", "p" * 64, "p" * 65]),
    "on_exit": ("on_exit", ["keep", "withdraw", "shut", "Keep", ""]),
    "uplinks": ("uplinks", _NAMES),
    "uplinks_down": ("uplinks_down", ["withdraw", "shut", "keep"]),
    "refresh": ("learning.refresh", _DURATIONS),
    "probe_interval": ("learning.probe_interval", _DURATIONS),
    "probe_attempts": ("learning.probe_attempts", _WHOLES),
    "distance": ("routes.distance", _WHOLES),
    "metric": ("routes.metric", _WHOLES),
    "nexthop": ("routes.nexthop", ["interface", "self", "gateway"]),
    "tag": ("routes.tag", _WHOLES),
    "add_delay": ("routes.add_delay", _DURATIONS),
    "withdraw_delay_silent": ("routes.withdraw_delay.silent", _DURATIONS),
    "withdraw_delay_port_down": ("routes.withdraw_delay.port_down", _DURATIONS),
    "max_flaps": ("routes.damping.max_flaps", _WHOLES),
    "flap_window": ("routes.damping.window", _DURATIONS),
    "flap_hold": ("routes.damping.hold", _DURATIONS),
}
_INTERFACE = {
    "prefixes": _PREFIXES,
    "exclude": _PREFIXES,
    "proxy_arp": ["off", "routed", "pvlan", "enabled"],
    "proxy_nd": ["true", "false", "yes"],
    "snoop": ["true", "false", "on"],
    "max_hosts": _WHOLES,
    "unresolved": ["none", "reject", "drop"],
}
_LISTS = {"uplinks", "prefixes", "exclude"}
_TRIALS = [(field, value) for field, (_, values) in _GLOBAL.items() for value in values]
_TRIALS += [(field, value) for field, values in _INTERFACE.items() for value in values]


def _judges(fields: Iterable[str]) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """For each field, whether the plug-in takes a value."""
    module = plugin("config")
    checks = {**module.GLOBAL_FIELDS, **module.INTERFACE_FIELDS}

    def takes(field: str, value: str) -> bool:
        try:
            checks[field](value)
        except module.Wrong:
            return False
        return True

    return ((field, partial(takes, field)) for field in fields)


def _json_value(field: str, value: str) -> Any:
    """As SONiC's tools hand it to libyang: numbers are such."""
    if field in _LISTS:
        return [value]
    return int(value) if value.lstrip("-").isdigit() else value


def _model_takes(field: str, value: str, folder: Path) -> bool:
    row = {field: _json_value(field, value)}
    tables = {"PLANED": {"global": row}}
    if field in _INTERFACE:
        tables = {"PLANED_INTERFACE": {"PLANED_INTERFACE_LIST": [{"name": "Vlan100", **row}]}}
    instance = folder / "instance.json"
    instance.write_text(json.dumps({"sonic-planed:sonic-planed": tables}), encoding="utf-8")
    argv = ["yanglint", "-t", "config", "-f", "json", str(_MODEL), str(instance)]
    return subprocess.run(argv, check=False, capture_output=True).returncode == 0


def test_fields_are_those_of_the_model(database: ConfigDb) -> None:
    module = plugin("config")

    assert (set(module.GLOBAL_FIELDS), set(module.INTERFACE_FIELDS)) == (set(_GLOBAL), set(_INTERFACE))


def test_plugin_and_model_take_the_same(database: ConfigDb, tmp_path: Path) -> None:
    takes = dict(_judges([*_GLOBAL, *_INTERFACE]))

    assert [trial for trial in _TRIALS if takes[trial[0]](trial[1]) != _model_takes(*trial, tmp_path)] == []


def _complaints(document: dict[str, Any], folder: Path) -> list[str]:
    """What planed says of this planed.yaml where it does not take it."""
    file = folder / "planed.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    done = subprocess.run([binary(), "--check", "--config", str(file)], check=False, capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"exit {done.returncode}", *(done.stdout + done.stderr).splitlines()]


def _yaml_value(field: str, value: str) -> Any:
    return [value] if field in _LISTS else yaml.safe_load(value) if field not in {"plane", "proxy_arp"} else value


def _put(document: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        document = document.setdefault(parent, {})
    document[last] = value


def test_daemon_takes_what_the_plugin_takes_for_the_leaf(database: ConfigDb, tmp_path: Path) -> None:
    """Many fields a run, one value each."""
    taken = {field: [value for value in _GLOBAL[field][1] if good(value)] for field, good in _judges(_GLOBAL)}

    for number in range(max(map(len, taken.values()))):
        document: dict[str, Any] = {}
        for field, values in taken.items():
            _put(document, _GLOBAL[field][0], _yaml_value(field, values[number % len(values)]))
        assert _complaints(document, tmp_path) == []


def test_daemon_takes_what_the_plugin_takes_for_interfaces(database: ConfigDb, tmp_path: Path) -> None:
    """Each value has an interface of its own."""
    rows = [{field: value} for field, good in _judges(_INTERFACE) for value in _INTERFACE[field] if good(value)]
    interfaces = [{field: _yaml_value(field, value) for field, value in row.items()} for row in rows]

    document = {"interfaces": [{"name": f"Vlan{number}", **row} for number, row in enumerate(interfaces)]}

    assert len(rows) > len(_INTERFACE)
    assert _complaints(document, tmp_path) == []
