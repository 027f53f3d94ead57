// SPDX-License-Identifier: Apache-2.0
// The immutable copy of the tables that API readers get: built only when somebody asks, and in
// slices, so that no turn of the loop gets long. Each row is true for the slice that read it; all
// of them were read after the builder was made. Decides nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/snapshot.hpp"

namespace planed {

/// What a reader wants beside the totals, which every snapshot has.
struct SnapshotParts {
    bool hosts = false;
    bool routes = false;
    bool proxies = false;
    bool operator==(const SnapshotParts&) const = default;
};

struct InterfaceCount {
    InterfaceView interface {};
    std::uint64_t hosts = 0;
    bool operator==(const InterfaceCount&) const = default;
};

struct Snapshot {
    NodeView node{};
    HealthView health{};
    std::uint64_t hosts_total = 0;
    std::uint64_t hosts_eligible = 0;
    std::uint64_t routes_desired = 0;
    std::uint64_t routes_installed = 0;
    std::uint64_t routes_rejected = 0;
    std::uint64_t routes_withdrawing = 0;  // Not desired any more.
    // Of the eligible hosts that can be asked, the one that has been silent for longest: since
    // when, or since when it is eligible, where no sign of it was ever seen.
    std::optional<TimePoint> oldest_proof{};
    std::vector<InterfaceCount> interfaces{};
    std::vector<HostView> hosts{};    // Empty unless asked for.
    std::vector<RouteView> routes{};  // Empty unless asked for.
    std::vector<ProxyView> proxies{};
    bool operator==(const Snapshot&) const = default;
};

class SnapshotBuilder {
public:
    explicit SnapshotBuilder(const SnapshotParts& parts) : parts_(parts) {}

    /// Reads at most `rows` more rows; true once everything has been read.
    bool advance(const EngineView& view, std::size_t rows);
    /// Once, after advance() has returned true.
    std::shared_ptr<const Snapshot> take() { return std::move(snapshot_); }

private:
    enum class Stage : std::uint8_t { Hosts, Routes, Proxies, Done };

    void read_hosts(const EngineView& view, std::size_t rows);
    void read_routes(const EngineView& view, std::size_t rows);
    void read_proxies(const EngineView& view, std::size_t rows);
    void finish(const EngineView& view);
    void count(const HostView& host);
    void note_proof(const HostView& host);

    SnapshotParts parts_;
    Stage stage_ = Stage::Hosts;
    std::optional<NeighborKey> host_;  // The last one that was read.
    std::optional<RouteKey> route_;
    std::optional<NeighborKey> proxy_;
    std::vector<std::pair<IfIndex, std::uint64_t>> hosts_on_;  // Keys come in order of interfaces.
    std::shared_ptr<Snapshot> snapshot_ = std::make_shared<Snapshot>();
};

}  // namespace planed
