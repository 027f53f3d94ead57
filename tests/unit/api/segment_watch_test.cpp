// SPDX-License-Identifier: Apache-2.0
// Watchers of segments are told what is another than before, once, and not too often.
#include "api/segment_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SegmentsWatched : public ::testing::Test {
protected:
    SegmentsWatched() {
        views = {{.esi = esi(1), .port = "bond1"}, {.esi = esi(2), .port = "bond2"}};
    }
    static evpn::Esi esi(std::uint32_t id) {
        return evpn::Esi::of_mac(MacAddress({2, 0, 0, 0, 0, 1}), id).value();
    }
    std::vector<std::string> turn() {
        std::vector<std::string> told;
        for (const auto& item : watch.turn(look, now)) {
            const auto& segment = std::get<evpn::SegmentView>(item->object);
            told.push_back((item->gone ? "gone " : segment.up ? "up " : "down ") + segment.port);
        }
        return told;
    }

    TimePoint now{1h};
    std::vector<evpn::SegmentView> views;
    SegmentWatch::Look look = [this] { return views; };
    SegmentWatch watch;
};

TEST_F(SegmentsWatched, WhatChangesIsToldOnce) {
    watch.begin(look);
    views[1].up = true;
    watch.touch();

    EXPECT_THAT(turn(), ElementsAre("up bond2"));
    now += 1s;
    watch.touch();
    EXPECT_THAT(turn(), IsEmpty());
}

TEST_F(SegmentsWatched, WhoBeginsLaterDoesNotTakeAnythingFromTheFirst) {
    watch.begin(look);
    views[0].up = true;
    watch.touch();
    watch.begin(look);

    EXPECT_THAT(turn(), ElementsAre("up bond1"));
}

TEST_F(SegmentsWatched, SegmentsThatComeAndGoAreTold) {
    watch.begin(look);
    views.erase(views.begin());
    views.push_back({.esi = esi(3), .port = "bond3"});
    watch.touch();

    EXPECT_THAT(turn(), ElementsAre("down bond3", "gone bond1"));
}

TEST_F(SegmentsWatched, ManyChangesInAMomentAreLookedAtOnce) {
    watch.begin(look);
    views[0].up = true;
    watch.touch();
    EXPECT_THAT(turn(), ElementsAre("up bond1"));

    views[0].up = false;
    watch.touch();
    EXPECT_THAT(turn(), IsEmpty());
    EXPECT_EQ(watch.wake_at(), now + SegmentWatch::kPause);
    views[1].up = true;
    watch.touch();
    now += SegmentWatch::kPause;

    EXPECT_THAT(turn(), ElementsAre("down bond1", "up bond2"));
    EXPECT_EQ(watch.wake_at(), std::nullopt);
}

TEST_F(SegmentsWatched, NobodyLooksWhileNobodyWatches) {
    look = [] {
        ADD_FAILURE() << "looked at";
        return std::vector<evpn::SegmentView>();
    };
    watch.touch();

    EXPECT_THAT(turn(), IsEmpty());
    EXPECT_EQ(watch.wake_at(), std::nullopt);
}

}  // namespace
}  // namespace planed::api
