// SPDX-License-Identifier: Apache-2.0
// Frames for tests: those that other implementations wrote (tests/vectors/packet), and changes to
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "packet/parse.hpp"

namespace planed::packet {

using Buffer = std::vector<std::uint8_t>;

// Where a field is in an untagged frame.
inline constexpr std::size_t kSourceMac = 6;
inline constexpr std::size_t kType = 12;
inline constexpr std::size_t kArp = 14;  // And the same for IPv6.
inline constexpr std::size_t kArpOperation = 20;
inline constexpr std::size_t kArpSenderMac = 22;
inline constexpr std::size_t kArpSender = 28;
inline constexpr std::size_t kArpTargetMac = 32;
inline constexpr std::size_t kArpTarget = 38;
inline constexpr std::size_t kIpv6Length = 18;
inline constexpr std::size_t kIpv6NextHeader = 20;
inline constexpr std::size_t kIpv6HopLimit = 21;
inline constexpr std::size_t kIpv6Source = 22;
inline constexpr std::size_t kIpv6Destination = 38;
inline constexpr std::size_t kIcmp = 54;
inline constexpr std::size_t kIcmpCode = 55;
inline constexpr std::size_t kIcmpChecksum = 56;
inline constexpr std::size_t kNdFlags = 58;
inline constexpr std::size_t kNdTarget = 62;
inline constexpr std::size_t kNdOption = 78;

inline Buffer from_hex(const std::string& line) {
    Buffer bytes;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/// The frame of NAME.hex.
inline Buffer wire(const std::string& name) {
    std::ifstream file(std::string(PLANED_TESTS_DIR) + "/vectors/packet/" + name + ".hex");
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line.front() != '#') {
            return from_hex(line);
        }
    }
    ADD_FAILURE() << "no vector " << name;
    return {};
}

inline Buffer with(Buffer frame, std::size_t at, const Buffer& bytes) {
    std::copy(bytes.begin(), bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    return frame;
}

inline Buffer with(Buffer frame, std::size_t at, const IpAddress& address) {
    return with(std::move(frame), at, Buffer(address.bytes().begin(), address.bytes().end()));
}

inline Buffer with(Buffer frame, std::size_t at, const MacAddress& mac) {
    return with(std::move(frame), at, Buffer(mac.bytes().begin(), mac.bytes().end()));
}

inline Buffer cut_to(Buffer frame, std::size_t size) {
    frame.resize(size);
    return frame;
}

inline Buffer and_then(Buffer frame, const Buffer& tail) {
    frame.insert(frame.end(), tail.begin(), tail.end());
    return frame;
}

/// An 802.1Q tag, or another, inside the frame.
inline Buffer tagged(Buffer frame, const Buffer& tag) {
    frame.insert(frame.begin() + kType, tag.begin(), tag.end());
    return frame;
}

/// The payload length and the checksum as they should be, reckoned as RFC 1071 has it: word by
/// word, with end-around carry. Written apart from the daemon's own.
inline Buffer repaired(Buffer frame) {
    const std::size_t length = frame.size() - kIcmp;
    frame[kIpv6Length] = static_cast<std::uint8_t>(length >> 8U);
    frame[kIpv6Length + 1] = static_cast<std::uint8_t>(length & 0xFFU);
    frame[kIcmpChecksum] = 0;
    frame[kIcmpChecksum + 1] = 0;
    std::uint32_t sum = 0;
    const auto add = [&](std::uint32_t word) {
        sum += word;
        sum = (sum & 0xFFFFU) + (sum >> 16U);
    };
    for (std::size_t at = kIpv6Source; at < frame.size(); at += 2) {
        const std::uint32_t low = at + 1 < frame.size() ? frame[at + 1] : 0U;
        add((std::uint32_t{frame[at]} << 8U) | low);
    }
    add(static_cast<std::uint32_t>(length));
    add(58);
    const std::uint32_t checksum = ~sum & 0xFFFFU;
    frame[kIcmpChecksum] = static_cast<std::uint8_t>(checksum >> 8U);
    frame[kIcmpChecksum + 1] = static_cast<std::uint8_t>(checksum & 0xFFU);
    return frame;
}

inline MacAddress mac(const char* text) {
    return MacAddress::parse(text).value();
}
inline IpAddress ip(const char* text) {
    return IpAddress::parse(text).value();
}

// Who speaks in the vectors.
inline MacAddress leaf_mac() {
    return mac("02:00:00:00:00:01");
}
inline MacAddress host_mac() {
    return mac("02:00:00:00:00:05");
}
inline MacAddress broadcast_mac() {
    return mac("ff:ff:ff:ff:ff:ff");
}

inline Heard heard(const Buffer& frame, std::optional<Tag> tag = std::nullopt) {
    const auto result = parse({.bytes = frame, .tag = tag});
    EXPECT_TRUE(result) << name(result.error());
    return result.value_or(Heard());
}

inline Heard heard(const char* vector_name) {
    return heard(wire(vector_name));
}

/// "-" where it is not refused.
inline std::string refusal_of(const Buffer& frame, std::optional<Tag> tag = std::nullopt) {
    const auto result = parse({.bytes = frame, .tag = tag});
    return result ? "-" : std::string(name(result.error()));
}

struct Case {
    const char* what;
    Buffer frame;
    Refusal refusal;
};

inline void expect_refused(std::initializer_list<Case> cases) {
    for (const Case& each : cases) {
        EXPECT_EQ(refusal_of(each.frame), name(each.refusal)) << each.what;
    }
}

/// Cut anywhere, a frame is refused and never read past its end (the sanitizers watch that: each
/// prefix is copied to memory of its own).
inline void expect_prefixes_refused(const char* vector_name) {
    const Buffer whole = wire(vector_name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Buffer prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_EQ(refusal_of(prefix), "truncated") << vector_name << " cut to " << size;
    }
}

inline constexpr auto kVectors = std::to_array<const char*>({"arp-announcement-reply",
                                                             "arp-announcement-request",
                                                             "arp-probe",
                                                             "arp-probe-reply",
                                                             "arp-reply",
                                                             "arp-request",
                                                             "arp-request-unicast",
                                                             "na",
                                                             "na-dad-taken",
                                                             "na-ndisc6",
                                                             "na-of-unicast",
                                                             "na-proxy",
                                                             "na-unsolicited",
                                                             "ns",
                                                             "ns-dad",
                                                             "ns-dad-taken",
                                                             "ns-for-proxy",
                                                             "ns-ndisc6",
                                                             "ns-unicast"});

}  // namespace planed::packet
