// SPDX-License-Identifier: Apache-2.0
#include "api/segment_watch.hpp"

#include <utility>

namespace planed::api {

void SegmentWatch::begin(const Look& look) {
    if (!std::exchange(watching_, true)) {
        for (evpn::SegmentView& segment : look()) {
            known_.insert_or_assign(segment.esi, std::move(segment));
        }
    }
}

void SegmentWatch::end() {
    *this = {};
}

SegmentWatch::Items SegmentWatch::turn(const Look& look, TimePoint now) {
    Items items;
    if (!touched_ || now < not_before_) {
        return items;
    }
    touched_ = false;
    not_before_ = now + kPause;
    auto before = std::exchange(known_, {});
    const auto tell = [&](const evpn::SegmentView& segment, bool gone) {
        items.push_back(std::make_shared<const WatchItem>(
            WatchItem{.at = now, .gone = gone, .object = segment}));
    };
    for (evpn::SegmentView& segment : look()) {
        const auto known = before.extract(segment.esi);
        if (known.empty() || known.mapped() != segment) {
            tell(segment, false);
        }
        known_.insert_or_assign(segment.esi, std::move(segment));
    }
    for (const auto& [esi, segment] : before) {
        tell({.esi = esi, .port = segment.port}, true);
    }
    return items;
}

std::optional<TimePoint> SegmentWatch::wake_at() const {
    return touched_ ? std::optional(not_before_) : std::nullopt;
}

}  // namespace planed::api
