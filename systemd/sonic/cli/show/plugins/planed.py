# SPDX-License-Identifier: Apache-2.0
"""`show planed …`: what planectl says, with its own words, errors and exit codes. A plug-in of sonic-utilities."""

import shlex
import shutil
import subprocess
import sys

import click

try:
    from utilities_common.cli import AbbreviationGroup  # Any beginning of a word that is the only one will do.
except ImportError:
    AbbreviationGroup = click.Group

CONTAINER = "planed"

_OUTPUT = click.option(
    "-o", "--output", type=click.Choice(["table", "json", "jsonl", "yaml"]), default="table", help="Form of the output."
)
_VERBOSE = click.option("--verbose", is_flag=True, help="Show the command as well.")
_INTERFACE = click.option("--interface", metavar="NAME", help="Only those on this served interface.")
_PORT = click.option("--port", metavar="NAME", help="Only those behind this bridge port.")
_VRF = click.option("--vrf", metavar="NAME", help="Only those in this VRF: default, or its device.")
_ADDRESS = click.argument("address", metavar="ADDRESS")

# Each verb: what it tells, and what can be said with it.
VERBS = {
    "status": ("Whether this leaf is well, and if not, why.", []),
    "interfaces": ("The served interfaces.", []),
    "hosts": ("Hosts, and whether they may have a route.", [_INTERFACE, _PORT, _VRF]),
    "routes": ("Host routes, and what zebra says of them.", [_VRF]),
    "proxies": ("Addresses that this leaf answers for in place of other leaves' hosts.", [_INTERFACE]),
    "segments": ("Ethernet segments, and how their leaves have agreed.", []),
    "peers": ("EVPN peers, and how it is with each.", []),
    "counters": ("Counters since planed was started.", []),
    "explain": ("Why an address is, or is not, a route.", [_ADDRESS]),
}


def planectl():
    """The command that begins: the host's own planectl, or that of the container."""
    if shutil.which("planectl"):
        return ["planectl"]
    if shutil.which("docker"):
        return ["docker", "exec", CONTAINER, "planectl"]
    raise click.ClickException("neither planectl nor docker is here to ask planed with")


def run(verb, output, verbose, options):
    """Hands the terminal to planectl and ends as it ends."""
    argv = [*planectl(), "--output", output, verb]
    address = options.pop("address", None)
    for name, value in options.items():
        if value is not None:
            argv += [f"--{name}", value]
    if address is not None:
        argv.append(address)
    if verbose:
        click.echo(f"Running command: {shlex.join(argv)}")
    sys.stdout.flush()
    code = subprocess.run(argv, check=False).returncode
    sys.exit(code if code >= 0 else 128 - code)


@click.group(cls=AbbreviationGroup)
def planed():
    """Show what planed, the daemon of host routes, knows and does."""


def _add(verb, text, extras):
    def command(output, verbose, **options):
        run(verb, output, verbose, options)

    command.__doc__ = text
    for decorate in [*extras, _OUTPUT, _VERBOSE]:
        command = decorate(command)
    planed.command(name=verb)(command)


for _verb, (_text, _extras) in VERBS.items():
    _add(_verb, _text, _extras)


def register(cli):
    """Called by `show` with its own group."""
    cli.add_command(planed)
