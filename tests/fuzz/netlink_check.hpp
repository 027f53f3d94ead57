// SPDX-License-Identifier: Apache-2.0
// What every netlink decoder owes for any bytes: an error says where, within what it was given, and
// a fact names things that can exist.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "core/input.hpp"
#include "net/assert.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

struct CheckFact {
    void operator()(const LinkSeen& fact) const {
        PLANED_ASSERT(fact.link.index != IfIndex::None);
        PLANED_ASSERT(!fact.link.name.empty());
        PLANED_ASSERT(!(fact.link.bridge_port && fact.link.bond_port));
    }
    void operator()(const LinkGone& fact) const { PLANED_ASSERT(fact.link != IfIndex::None); }
    void operator()(const AddressSeen& fact) const { PLANED_ASSERT(fact.link != IfIndex::None); }
    void operator()(const AddressGone& fact) const { PLANED_ASSERT(fact.link != IfIndex::None); }
    void operator()(const NeighborSeen& fact) const {
        PLANED_ASSERT(fact.key.link != IfIndex::None);
    }
    void operator()(const NeighborGone& fact) const {
        PLANED_ASSERT(fact.key.link != IfIndex::None);
    }
    void operator()(const ProxySeen& fact) const { PLANED_ASSERT(fact.key.link != IfIndex::None); }
    void operator()(const FdbSeen& fact) const {
        PLANED_ASSERT(fact.key.bridge != IfIndex::None);
        PLANED_ASSERT(fact.entry.port != IfIndex::None);
    }
    void operator()(const FdbGone& fact) const {
        PLANED_ASSERT(fact.key.bridge != IfIndex::None);
        PLANED_ASSERT(fact.port != IfIndex::None);
    }
    template <class Other>
    void operator()(const Other&) const {
        PLANED_ASSERT(false);  // No decoder makes any other.
    }
};

inline void check_error(const Error& error, std::size_t size) {
    PLANED_ASSERT(!error.text.empty());
    PLANED_ASSERT(error.offset.has_value());
    PLANED_ASSERT(*error.offset <= size);
}

inline void check(const Result<std::optional<Input>>& fact, std::size_t size) {
    if (!fact) {
        check_error(fact.error(), size);
    } else if (*fact) {
        std::visit(CheckFact{}, **fact);
    }
}

/// The first byte chooses the message's type, the rest is its payload.
inline std::optional<Message> chosen(Bytes input, std::uint16_t even, std::uint16_t odd) {
    if (input.empty()) {
        return std::nullopt;
    }
    return Message{.type = input.front() % 2 == 0 ? even : odd, .payload = input.subspan(1)};
}

}  // namespace planed::netlink
