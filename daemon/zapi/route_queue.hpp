// SPDX-License-Identifier: Apache-2.0
// What waits to be written to zebra: at most one operation per (VRF, prefix), the newest, and
// control messages. Withdrawals go first, for a dead host must not wait behind 100,000 additions;
// everything else keeps its order. An operation may move forward, never back, so a control message
// is always preceded by the newest word on every key that was queued before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <variant>

#include <absl/container/flat_hash_map.h>

#include "zapi/messages.hpp"

namespace planed::zapi {

struct Removal {
    VrfId vrf{};
    IpPrefix prefix{};
    bool operator==(const Removal&) const = default;
};

/// A message that is not about one route.
struct Control {
    enum class Kind : std::uint8_t {
        AnnounceVrf,
        DisableRestart,
        CompleteRestart,
        RedistributeAdd,
        RedistributeDelete,
        Mark,
    };
    Kind kind{};
    VrfId vrf{};
    Afi afi = Afi::V4;
    bool operator==(const Control&) const = default;
};

using Outgoing = std::variant<Route, Removal, Control>;

class RouteQueue {
public:
    void put(const Route& route);
    void remove(const Removal& removal);
    /// Behind everything that waits now, except AnnounceVrf, which goes to the very front: it must
    /// precede the VRF's routes, and those may move forward.
    void add(const Control& control);
    /// The next to write, taken out.
    std::optional<Outgoing> pop();
    void clear();

    [[nodiscard]] bool empty() const { return urgent_.empty() && normal_.empty(); }
    [[nodiscard]] std::size_t size() const { return urgent_.size() + normal_.size(); }

private:
    struct Key {
        VrfId vrf{};
        IpPrefix prefix;
        bool operator==(const Key&) const = default;

        template <class H>
        friend H AbslHashValue(H state, const Key& key) {
            return H::combine(std::move(state), key.vrf, key.prefix);
        }
    };
    using Lane = std::list<Outgoing>;

    struct Place {
        Lane::iterator at;
        bool urgent = false;
    };

    void forget(const Outgoing& outgoing);

    Lane urgent_;  // Withdrawals, and what replaced one.
    Lane normal_;
    absl::flat_hash_map<Key, Place> waiting_;  // Looked up, never walked.
};

}  // namespace planed::zapi
