// SPDX-License-Identifier: Apache-2.0
// The loop's side of reading: readers ask, the desk builds one snapshot for all who wait, a slice a
// turn, and hands it out. A snapshot is begun after the question, never before; readers together
// get a fifth of the loop at most.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/watch_log.hpp"
#include "core/snapshot.hpp"
#include "core/snapshot_builder.hpp"

namespace planed::api {

class Desk {
public:
    using Ready = std::function<void(std::shared_ptr<const Snapshot>)>;

    static constexpr std::size_t kWaitingMax = 256;
    static constexpr std::size_t kRowsPerTurn = 1024;  // About half a millisecond.
    static constexpr Duration kPauseMin = 20ms;
    static constexpr int kPauseShare = 4;  // Pause : time of building.

    /// False: too many wait already.
    bool ask(const SnapshotParts& parts, Ready ready);
    /// A slice. True: there is more to do, and now.
    bool turn(const EngineView& view, TimePoint now);
    /// When the next snapshot may be begun, if one is wanted.
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

private:
    struct Question {
        SnapshotParts parts{};
        Ready ready;
    };
    void begin(TimePoint now);

    std::vector<Question> waiting_;
    std::vector<Question> served_;  // By the snapshot that is being built.
    std::optional<SnapshotBuilder> builder_;
    TimePoint began_{};
    TimePoint not_before_{};
};

/// What has changed, as items for the log: each object once, as it is now. Nullopt: too much to be
/// told one by one.
std::optional<std::vector<std::shared_ptr<const WatchItem>>> items_of(Changes changes,
                                                                      const EngineView& view,
                                                                      TimePoint now);

}  // namespace planed::api
