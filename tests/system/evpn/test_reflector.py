# SPDX-License-Identifier: Apache-2.0
"""The leaves' routes by way of FRR's bgpd, which changes them a little: it zeroes labels, and withdraws without the ESI."""

from twins import Twins


def test_reflector_of_frr_joins_them(twins: Twins) -> None:
    server = twins.server
    twins.speaks_by(server, "eth1")
    twins.start_both(reflected=True)

    server.announce()

    twins.wait_synced([server.v4, server.v6])
    table = twins.reflector.vtysh_json("show bgp l2vpn evpn route json")
    shown = str(table)
    assert server.v4 in shown and server.v6 in shown, shown
    server.cut("eth1")
    twins.speaks_by(server, "eth2")
    twins.wait_no_route(twins.a, server.v4)
    twins.wait_host(twins.b, server.v4, origin="kernel", eligible=True)
