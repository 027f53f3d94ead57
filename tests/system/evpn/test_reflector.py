# SPDX-License-Identifier: Apache-2.0
"""The leaves' routes by way of FRR's bgpd, which changes them a little: it zeroes labels, and withdraws without the ESI."""

from typing import Any

from lab import wait_until
from planectl import Ctl
from twins import ADDRESS, SOON, Twins


def _communities(table: dict[str, Any], leaf: str, route: str) -> str:
    """Those of the leaf's route whose name begins so, as FRR writes them."""
    for rd, routes in table.items():
        for name, shown in routes.items() if rd.startswith(f"{leaf}:") else ():
            if name.startswith(route):
                return str(shown["paths"][0][0]["extendedCommunity"]["string"]).strip()
    return f"{leaf} has no {route}"


def test_reflector_of_frr_joins_them(twins: Twins) -> None:
    server = twins.server

    twins.share(server, reflected=True)

    table = twins.reflector.vtysh_json("show bgp l2vpn evpn route json")
    esi = "03:44:38:39:ff:ff:01:00:00:01"
    for route, words in {
        f"[1]:[4294967295]:[{esi}]": "RT:65000:100 ET:8 ESI-label-Rt:AA",
        f"[4]:[{esi}]": "ET:8 ES-Import-Rt:44:38:39:ff:ff:01 DF: (alg: 2, pref: 200)",
        f"[2]:[0]:[48]:[{server.mac}]:[32]:[{server.v4}]": "RT:65000:100 ET:8",
        f"[2]:[0]:[48]:[{server.mac}]:[128]:[{server.v6}]": "RT:65000:100 ET:8",
    }.items():
        assert _communities(table, ADDRESS["leaf-a"], route).startswith(words), table
    # Who forwards is agreed on by way of the reflector too.
    for leaf, role in ((twins.a, "df"), (twins.b, "backup")):
        wait_until(
            lambda: [row["role"] for row in Ctl(leaf).json("segments")] == [role, role],
            SOON,
            every=0.1,
            what=f"{leaf.name} is not {role}",
        )

    server.cut("eth1")
    twins.speaks_by(server, "eth2")
    twins.wait_no_route(twins.a, server.v4)
    twins.wait_host(twins.b, server.v4, origin="kernel", eligible=True)
