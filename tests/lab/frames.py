# SPDX-License-Identifier: Apache-2.0
"""Ethernet frames that hosts speak with: gratuitous ARP, unsolicited NA, ARP request and NS, as bytes.

Layouts: RFC 826 (ARP), RFC 5227 (announcement), RFC 4861 sections 4.3 and 4.4 (NS, NA).
"""

import ipaddress
import struct

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_BROADCAST = b"\xff" * 6
_ETH_ARP, _ETH_IPV6 = 0x0806, 0x86DD
_NS, _NA = 135, 136
_SOURCE_LINK, _TARGET_LINK = 1, 2
_NA_OVERRIDE = 0x20000000
_ALL_NODES = ipaddress.IPv6Address("ff02::1")


def announcement(address: Address, mac: str) -> bytes:
    """What a host sends unasked to say where it is: ARP announcement or unsolicited NA, to everybody."""
    if address.version == 4:
        return _arp(1, mac, address.packed, _BROADCAST, address.packed)
    return _neighbor(_NA, _NA_OVERRIDE, mac, address, _ALL_NODES, address, _TARGET_LINK)


def solicitation(target: Address, source: Address, mac: str) -> bytes:
    """A question for `target`: ARP request, or NS to its solicited-node group."""
    if target.version == 4:
        return _arp(1, mac, source.packed, _BROADCAST, target.packed)
    group = ipaddress.IPv6Address(bytes.fromhex("ff0200000000000000000001ff") + target.packed[13:])
    # Who has no address yet (RFC 4862, a check for duplicates) must not say where it is either.
    option = None if source.is_unspecified else _SOURCE_LINK
    return _neighbor(_NS, 0, mac, source, group, target, option)


def parse_mac(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _arp(operation: int, mac: str, sender: bytes, destination: bytes, target: bytes) -> bytes:
    own = parse_mac(mac)
    ethernet = destination + own + struct.pack("!H", _ETH_ARP)
    fixed = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
    return (ethernet + fixed + own + sender + b"\0" * 6 + target).ljust(60, b"\0")


def _neighbor(
    kind: int, flags: int, mac: str, source: Address, destination: Address, target: Address, option: int | None
) -> bytes:
    own = parse_mac(mac)
    body = struct.pack("!BBHI", kind, 0, 0, flags) + target.packed
    if option is not None:
        body += struct.pack("!BB", option, 1) + own
    pseudo = source.packed + destination.packed + struct.pack("!II", len(body), 58)
    body = body[:2] + struct.pack("!H", _checksum(pseudo + body)) + body[4:]
    # Hop limit 255: anything else is refused, for it may have come through a router.
    header = struct.pack("!IHBB", 6 << 28, len(body), 58, 255) + source.packed + destination.packed
    multicast = b"\x33\x33" + destination.packed[12:]
    return multicast + own + struct.pack("!H", _ETH_IPV6) + header + body


def _checksum(data: bytes) -> int:
    words = struct.unpack(f"!{len(data) // 2}H", data)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
