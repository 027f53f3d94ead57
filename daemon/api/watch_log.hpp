// SPDX-License-Identifier: Apache-2.0
// The changes that watchers are told of: one log for all of them, bounded, written by the loop and
// read by gRPC's threads at each watcher's own pace. Who falls behind its end has lost something
// and is told so; nobody makes it longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "core/snapshot.hpp"
#include "evpn/multihoming.hpp"

namespace planed::api {

struct WatchItem {
    TimePoint at{};
    bool gone = false;  // Only the names and the key of the object are set.
    std::variant<HostView, RouteView, InterfaceView, evpn::SegmentView> object{};
    bool operator==(const WatchItem&) const = default;
};

class WatchLog {
public:
    // An item is about 250 bytes: a megabyte, and only while somebody watches.
    static constexpr std::size_t kMax = 4096;

    struct Batch {
        std::vector<std::shared_ptr<const WatchItem>> items{};
        std::uint64_t next = 0;  // Where to go on.
        bool lost = false;       // Something before these is not there any more.
    };

    void push(std::vector<std::shared_ptr<const WatchItem>> items);
    /// Too much has changed to tell it one by one.
    void lose();
    /// Where a watcher begins who wants what happens from now on.
    [[nodiscard]] std::uint64_t end() const;
    [[nodiscard]] Batch read(std::uint64_t from, std::size_t max) const;

private:
    mutable std::mutex mutex_;
    std::deque<std::shared_ptr<const WatchItem>> items_;
    std::uint64_t first_ = 1;  // The number of items_.front().
    // Whoever is to go on at a number below this one has lost something.
    std::uint64_t whole_from_ = 1;
};

}  // namespace planed::api
