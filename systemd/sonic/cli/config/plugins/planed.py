# SPDX-License-Identifier: Apache-2.0
"""`config planed …`: planed's rows of CONFIG_DB. A plug-in of sonic-utilities.

What is written has been checked here, by the bounds of sonic-planed.yang, so that whoever types sees at once what is
wrong. planed checks again, and more: it knows the other rows and the machine.
"""

import fnmatch
import ipaddress
import re

import click
from swsscommon.swsscommon import ConfigDBConnector

try:
    from utilities_common.cli import AbbreviationGroup  # Any beginning of a word that is the only one will do.
except ImportError:
    AbbreviationGroup = click.Group

GLOBAL_TABLE, GLOBAL_KEY = "PLANED", "global"
INTERFACE_TABLE = "PLANED_INTERFACE"
# Whose keys are names of interfaces.
TABLES_OF_INTERFACES = ("VLAN", "PORT", "PORTCHANNEL", "VLAN_SUB_INTERFACE")

INTERFACE_NAME_MAX = 15
GLOB_MAX = 64
UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}


class Wrong(Exception):
    """A value that its field cannot have; the text says what it can, as the end of a sentence."""


class WrongElement(Wrong):
    """An element of a list, or the list; the text is the whole sentence."""


def choice(*words):
    def check(text):
        if text not in words:
            raise Wrong(f"must be {' or '.join(words) if len(words) == 2 else 'one of ' + ', '.join(words)}")
        return text

    return check


def whole(low, high):
    def check(text):
        if not re.fullmatch(r"0|[1-9][0-9]*", text, re.ASCII) or not low <= int(text) <= high:
            raise Wrong(f"must be a whole number, {low} to {high}")
        return text

    return check


def microseconds(text):
    """Of a number and a unit; None for anything else."""
    parts = re.fullmatch(r"(0|[1-9][0-9]{0,14})(us|ms|s|m|h)", text, re.ASCII)
    return int(parts[1]) * UNITS_US[parts[2]] if parts else None


def duration(low, high):
    def check(text):
        length = microseconds(text)
        if length is None or not microseconds(low) <= length <= microseconds(high):
            raise Wrong(f"must be a duration, {low} to {high}: a whole number and one of us, ms, s, m, h")
        return text

    return check


def label(text):
    if len(text.encode()) > 64:
        raise Wrong("must have at most 64 bytes")
    return text


def is_glob(name):
    return any(letter in name for letter in "*?[")


def interface_pattern(text):
    name = re.fullmatch(r"[^\s/:,|*?\[\]\\]+", text)
    if name and text not in {".", ".."} and len(text) <= INTERFACE_NAME_MAX:
        return text
    glob = re.fullmatch(r"(?:[^\s/:,|\[\]\\]|\[[!^]?[^\s/:,|\[\]\\]+\])+", text)
    if glob and is_glob(text) and len(text) <= GLOB_MAX:
        return text
    raise Wrong(
        f"must be an interface's name, up to {INTERFACE_NAME_MAX} characters without space, / and :, or a glob such as "
        "Ethernet4? or Vlan[12]*"
    )


def prefix(text):
    """10.0.0.0/16: with its length as a number, without host bits."""
    wanted = "must be a prefix such as 10.0.0.0/16 or fd00:0:0:1::/64"
    if not re.fullmatch(r"[0-9A-Fa-f:.]+/(0|[1-9][0-9]{0,2})", text, re.ASCII):
        raise Wrong(wanted)
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise Wrong(wanted) from None
    if ipaddress.ip_address(text.split("/")[0]) != network.network_address:
        raise Wrong(f"{wanted}, without host bits (did you mean {network}?)")
    return text


def prefix_or_address(text):
    if "/" in text:
        return prefix(text)
    try:
        if "%" not in text:
            ipaddress.ip_address(text)
            return text
    except ValueError:
        pass
    raise Wrong("must be a prefix such as 10.0.0.0/16, or an address")


def list_of(check, most, same=lambda text: text):
    """Comma-separated, "" has none; `same` is equal for two elements that mean the same."""

    def check_all(text):
        if not text:
            return []
        elements = [element.strip() for element in text.split(",")]
        if len(elements) > most:
            raise WrongElement(f"{len(elements)} elements are too many, {most} fit")
        for at, element in enumerate(elements):
            try:
                check(element)
            except Wrong as wrong:
                raise WrongElement(f'"{element}" {wrong}') from None
            if same(element) in map(same, elements[:at]):
                raise WrongElement(f'"{element}" is there twice')
        return elements

    return check_all


GLOBAL_FIELDS = {
    "plane": label,
    "on_exit": choice("keep", "withdraw"),
    "uplinks": list_of(interface_pattern, 256),
    "uplinks_down": choice("withdraw", "shut"),
    "refresh": duration("1s", "24h"),
    "probe_interval": duration("10ms", "1m"),
    "probe_attempts": whole(1, 100),
    "distance": whole(1, 255),
    "metric": whole(0, 4294967295),
    "nexthop": choice("interface", "self"),
    "tag": whole(0, 4294967295),
    "add_delay": duration("0s", "1h"),
    "withdraw_delay_silent": duration("0s", "1h"),
    "withdraw_delay_port_down": duration("0s", "1h"),
    "max_flaps": whole(0, 1000),
    "flap_window": duration("100ms", "24h"),
    "flap_hold": duration("100ms", "24h"),
}

INTERFACE_FIELDS = {
    "prefixes": list_of(prefix, 256, ipaddress.ip_network),
    "exclude": list_of(prefix_or_address, 1024, ipaddress.ip_network),
    "proxy_arp": choice("off", "routed", "pvlan"),
    "proxy_nd": choice("true", "false"),
    "snoop": choice("true", "false"),
    "max_hosts": whole(1, 131072),
    "unresolved": choice("none", "reject"),
}


def new_value(ctx, fields, field, value, default):
    """What to write into this field, lists as lists; None with --default. Ends the command where that cannot be."""
    if field not in fields:
        ctx.fail(f"{field}: no such field; there are {', '.join(fields)}")
    if default:
        if value is not None:
            ctx.fail(f"{field}: a VALUE or --default, not both")
        return None
    if value is None:
        ctx.fail(f"{field}: a VALUE is missing, or --default")
    try:
        return fields[field](value)
    except WrongElement as wrong:
        ctx.fail(f"{field}: {wrong}")
    except Wrong as wrong:
        ctx.fail(f'{field}: "{value}" {wrong}')


def checked_name(ctx, name):
    try:
        return interface_pattern(name)
    except Wrong as wrong:
        ctx.fail(f'NAME: "{name}" {wrong}')


def matches(one, other):
    """Whether the two can be the same interface. Of two globs only planed says so."""
    if is_glob(one) and is_glob(other):
        return one == other
    pattern, name = (one, other) if is_glob(one) else (other, one)
    return name == pattern or fnmatch.fnmatchcase(name, pattern.replace("[^", "[!"))


def refuse_both(ctx, uplinks, served):
    """Hosts behind an uplink would be announced to the fabric that they came from."""
    for uplink in uplinks:
        for name in served:
            if matches(uplink, name):
                both = uplink if uplink == name else f"{uplink} ({name})"
                ctx.fail(f"{both} cannot be an uplink and a server-facing interface as well")


def connect():
    database = ConfigDBConnector(use_unix_socket_path=True)
    database.connect()
    return database


def uplinks_of(database):
    """Whoever writes the row by hand may have left out the @ that makes a list."""
    uplinks = database.get_entry(GLOBAL_TABLE, GLOBAL_KEY).get("uplinks", [])
    return [name for name in (uplinks.split(",") if isinstance(uplinks, str) else uplinks) if name]


def warn_of_strangers(database, names):
    """A row may come before its interface, but more often it is a slip of the finger."""
    known = {key for table in TABLES_OF_INTERFACES for key in database.get_table(table)}
    for name in names:
        if not is_glob(name) and name not in known:
            click.echo(f"Note: CONFIG_DB has no interface {name} yet", err=True)


def write(database, table, key, field, value):
    """One field of a row; the others stay. None takes it out."""
    if value is not None:
        database.mod_entry(table, key, {field: value})
        return
    row = database.get_entry(table, key)
    if row.pop(field, None) is not None:
        database.set_entry(table, key, row)


_SET = "Set a field (lists comma-separated)"
_FIELD = click.argument("field", metavar="FIELD")
_VALUE = click.argument("value", metavar="VALUE", required=False)
_NAME = click.argument("name", metavar="NAME")
_DEFAULT = click.option("--default", is_flag=True, help="Take the field out: what planed.yaml says applies again.")


@click.group(cls=AbbreviationGroup)
def planed():
    """Configure planed, the daemon of host routes."""


@planed.command(name="global", help=f"{_SET} for the whole leaf. FIELD: {', '.join(GLOBAL_FIELDS)}.")
@_FIELD
@_VALUE
@_DEFAULT
@click.pass_context
def set_global(ctx, field, value, default):
    value = new_value(ctx, GLOBAL_FIELDS, field, value, default)
    database = connect()
    if field == "uplinks" and value:
        refuse_both(ctx, value, database.get_table(INTERFACE_TABLE))
        warn_of_strangers(database, value)
    write(database, GLOBAL_TABLE, GLOBAL_KEY, field, value)


@planed.group(cls=AbbreviationGroup)
def interface():
    """Configure the server-facing interfaces."""


@interface.command()
@_NAME
@click.pass_context
def add(ctx, name):
    """Serve an interface, by its name or a glob, with the defaults for all fields."""
    checked_name(ctx, name)
    database = connect()
    if name in database.get_table(INTERFACE_TABLE):
        ctx.fail(f"{name} is served already")
    refuse_both(ctx, uplinks_of(database), [name])
    warn_of_strangers(database, [name])
    database.set_entry(INTERFACE_TABLE, name, {})


@interface.command()
@_NAME
@click.pass_context
def remove(ctx, name):
    """Serve it no more: the routes of its hosts are withdrawn."""
    database = connect()
    refuse_unserved(ctx, database, name)
    database.set_entry(INTERFACE_TABLE, name, None)


@interface.command(name="set", help=f"{_SET} of a served interface. FIELD: {', '.join(INTERFACE_FIELDS)}.")
@_NAME
@_FIELD
@_VALUE
@_DEFAULT
@click.pass_context
def set_interface(ctx, name, field, value, default):
    value = new_value(ctx, INTERFACE_FIELDS, field, value, default)
    database = connect()
    refuse_unserved(ctx, database, name)
    write(database, INTERFACE_TABLE, name, field, value)


def refuse_unserved(ctx, database, name):
    if name not in database.get_table(INTERFACE_TABLE):
        ctx.fail(f"{name} is not served: config planed interface add {name}")


def register(cli):
    """Called by `config` with its own group."""
    cli.add_command(planed)
