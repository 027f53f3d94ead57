// SPDX-License-Identifier: Apache-2.0
// Reads tests/vectors/netlink: datagrams that kernels and iproute2 wrote.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/input.hpp"
#include "netlink/decode.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

using Datagram = std::vector<std::uint8_t>;

inline Datagram from_hex(const std::string& line) {
    Datagram bytes;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/// Every datagram of NAME.hex, in order of arrival.
inline std::vector<Datagram> load(const std::string& name) {
    std::ifstream file(std::string(PLANED_TESTS_DIR) + "/vectors/netlink/" + name + ".hex");
    std::vector<Datagram> datagrams;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line.front() != '#') {
            datagrams.push_back(from_hex(line));
        }
    }
    EXPECT_FALSE(datagrams.empty()) << name;
    return datagrams;
}

/// Views into the datagram.
inline std::vector<Message> messages_of(const Datagram& datagram) {
    std::vector<Message> messages;
    MessageReader reader(datagram);
    for (auto message = reader.next(); message; message = reader.next()) {
        if (!*message) {
            return messages;
        }
        messages.push_back(**message);
    }
    ADD_FAILURE() << "unreadable datagram";
    return messages;
}

/// All facts that NAME.hex tells, in order.
inline std::vector<Input> facts_of(const std::string& name, Source source = Source::Event) {
    std::vector<Input> facts;
    for (const Datagram& datagram : load(name)) {
        for (const Message& message : messages_of(datagram)) {
            auto fact = decode(message, source);
            EXPECT_TRUE(fact) << name << ": " << fact.error().text;
            if (fact && *fact) {
                facts.push_back(std::move(**fact));
            }
        }
    }
    return facts;
}

/// The one fact of NAME.hex.
inline Input fact_of(const std::string& name, Source source = Source::Event) {
    auto facts = facts_of(name, source);
    EXPECT_EQ(facts.size(), 1U) << name;
    return facts.empty() ? Input(DumpStarted{}) : std::move(facts.front());
}

inline MacAddress mac(const char* text) {
    return MacAddress::parse(text).value();
}
inline IpAddress ip(const char* text) {
    return IpAddress::parse(text).value();
}

/// Where a payload may end so that what is left is whole attributes (the last one's padding may be
/// missing), told by another reading of the format than the decoder's own.
inline bool ends_between_attributes(Bytes payload, std::size_t header, std::size_t end) {
    std::size_t at = header;
    while (at < end) {
        const std::size_t length = payload[at] + (std::size_t{payload[at + 1]} << 8U);
        if (end < at + length) {
            return false;
        }
        at += (length + 3) / 4 * 4;
    }
    return end >= header;
}

/// A payload cut anywhere but between two attributes must be refused; nowhere may it be misread
/// past its end (the sanitizers watch that: each prefix is copied to memory of its own).
inline void expect_prefixes_refused(const std::string& name, std::size_t header) {
    for (const Datagram& datagram : load(name)) {
        for (const Message& message : messages_of(datagram)) {
            for (std::size_t end = 0; end < message.payload.size(); ++end) {
                const Datagram cut(message.payload.begin(),
                                   message.payload.begin() + static_cast<std::ptrdiff_t>(end));
                Message prefix = message;
                prefix.payload = cut;
                const auto fact = decode(prefix, Source::Event);
                if (!ends_between_attributes(message.payload, header, end)) {
                    ASSERT_FALSE(fact) << name << " cut to " << end;
                    EXPECT_LE(fact.error().offset.value(), prefix.offset + end) << name;
                }
            }
        }
    }
}

}  // namespace planed::netlink
