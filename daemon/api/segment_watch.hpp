// SPDX-License-Identifier: Apache-2.0
// Which Ethernet segments have changed since watchers were last told: by comparison, for nobody
// keeps a list of that. Looked at a few times a second at most, while somebody watches.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "api/watch_log.hpp"
#include "evpn/multihoming.hpp"
#include "net/time.hpp"

namespace planed::api {

class SegmentWatch {
public:
    static constexpr Duration kPause = 50ms;
    using Look = std::function<std::vector<evpn::SegmentView>()>;
    using Items = std::vector<std::shared_ptr<const WatchItem>>;

    /// What is there now is known to whoever begins to watch. Again: nothing.
    void begin(const Look& look);
    void end();
    /// Something about EVPN may have changed.
    void touch() { touched_ = watching_; }
    /// Each segment that is not as it was, as it is now; of one that is gone, its names.
    Items turn(const Look& look, TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

private:
    bool watching_ = false;
    bool touched_ = false;
    TimePoint not_before_{};
    std::map<evpn::Esi, evpn::SegmentView> known_;
};

}  // namespace planed::api
