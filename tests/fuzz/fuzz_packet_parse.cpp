// SPDX-License-Identifier: Apache-2.0
// The parser of heard frames, and what is built from what it heard. First byte: 1 a tag of 802.1Q
// beside the frame, 2 one of 802.1ad, anything else none; with a tag, its two bytes; then the
// frame. An NS or NA is tried once more with its checksum set right, which no fuzzer would guess.
#include <vector>

#include "net/assert.hpp"
#include "packet/answer.hpp"
#include "packet/checksum.hpp"
#include "packet/filter.hpp"
#include "packet/parse.hpp"
#include "support/bpf.hpp"

namespace planed::packet {
namespace {

constexpr std::size_t kIpv6 = 14;  // Offsets in an untagged frame.
constexpr std::size_t kIcmp = 54;
constexpr MacAddress kProxyMac(MacAddress::Bytes{2, 0, 0, 0, 0, 1});
constexpr IpAddress kProxySource = IpAddress::v6({0xFD});

bool can_be_a_host(const IpAddress& address) {
    return !address.is_unspecified() && !address.is_multicast() && !address.is_loopback();
}

void check_evidence(const Heard& heard) {
    const auto shown = evidence(heard);
    const auto asked = tentative(heard);
    PLANED_ASSERT(!(shown && asked));
    if (shown) {
        PLANED_ASSERT(shown->mac == heard.ethernet_source);
        PLANED_ASSERT(can_be_a_host(shown->address));
    }
    if (asked) {
        PLANED_ASSERT(can_be_a_host(*asked));
        PLANED_ASSERT(heard.sender.is_unspecified());
    }
}

// An answer must be one that we would understand ourselves.
void check_answer(const Heard& question) {
    const auto frame = answer(question, {.mac = kProxyMac, .source = kProxySource});
    if (!frame) {
        return;
    }
    const auto reply = parse({.bytes = *frame});
    PLANED_ASSERT(reply.has_value());
    PLANED_ASSERT(reply->vlan == question.vlan);
    const auto claimed = evidence(*reply);
    PLANED_ASSERT(claimed.has_value());
    PLANED_ASSERT(
        (*claimed ==
         Evidence{.address = question.target, .mac = kProxyMac, .strength = claimed->strength}));
}

void check(const Frame& frame) {
    const auto heard = parse(frame);
    if (!heard) {
        PLANED_ASSERT(name(heard.error()) != "?");
        return;
    }
    PLANED_ASSERT(run_filter(filter(), frame.bytes) != 0);
    PLANED_ASSERT(number(heard->vlan) < 4095);
    PLANED_ASSERT(!heard->ethernet_source.is_zero());
    PLANED_ASSERT(!heard->ethernet_source.is_multicast());
    PLANED_ASSERT(!heard->sender_mac || *heard->sender_mac == heard->ethernet_source);
    PLANED_ASSERT(heard->sender.family() == heard->target.family());
    check_evidence(*heard);
    check_answer(*heard);
}

// The checksum over what the IPv6 header calls its payload, as far as it is there.
std::vector<std::uint8_t> repaired(Bytes bytes) {
    std::vector<std::uint8_t> frame(bytes.begin(), bytes.end());
    if (frame.size() < kIcmp + 4) {
        return frame;
    }
    const std::size_t length = (std::size_t{frame[kIpv6 + 4]} << 8U) + frame[kIpv6 + 5];
    if (kIcmp + length > frame.size()) {
        return frame;
    }
    frame[kIcmp + 2] = frame[kIcmp + 3] = 0;
    const std::span<const std::uint8_t> all(frame);
    const auto address = [&](std::size_t at) {
        return IpAddress::from_bytes(Family::V6, all.subspan(at, 16)).value();
    };
    const std::uint16_t sum =
        icmpv6_checksum(address(kIpv6 + 8), address(kIpv6 + 24), all.subspan(kIcmp, length));
    frame[kIcmp + 2] = static_cast<std::uint8_t>(sum >> 8U);
    frame[kIcmp + 3] = static_cast<std::uint8_t>(sum & 0xFFU);
    return frame;
}

void check_input(Bytes input) {
    if (input.empty()) {
        return;
    }
    Frame frame{.bytes = input.subspan(1)};
    if ((input[0] == 1 || input[0] == 2) && input.size() >= 3) {
        const auto control = static_cast<std::uint16_t>(input[1] << 8U | input[2]);
        frame.tag = Tag{.protocol = static_cast<std::uint16_t>(input[0] == 1 ? 0x8100 : 0x88A8),
                        .control = control};
        frame.bytes = input.subspan(3);
    }
    check(frame);
    const auto whole = repaired(frame.bytes);
    frame.bytes = whole;
    check(frame);
}

}  // namespace
}  // namespace planed::packet

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    planed::packet::check_input({data, size});
    return 0;
}
