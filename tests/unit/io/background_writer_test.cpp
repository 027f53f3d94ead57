// SPDX-License-Identifier: Apache-2.0
#include "io/background_writer.hpp"

#include <future>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::io {
namespace {

using testing::ElementsAre;

TEST(BackgroundWriter, RunsJobsInOrderAndAllOfThemBeforeItEnds) {
    std::vector<int> done;
    {
        BackgroundWriter writer(10s);
        for (int i = 1; i <= 3; ++i) {
            writer.post([&done, i] { done.push_back(i); });
        }
    }
    EXPECT_THAT(done, ElementsAre(1, 2, 3));
}

TEST(BackgroundWriter, DoesNotHoldUpTheEndForAJobThatHangs) {
    auto release = std::make_shared<std::promise<void>>();
    auto released = std::make_shared<std::future<void>>(release->get_future());
    auto started = std::make_shared<std::promise<void>>();
    auto finished = std::make_shared<std::promise<void>>();
    {
        BackgroundWriter writer(1ms);
        writer.post([started, released, finished] {
            started->set_value();
            released->wait();
            finished->set_value();
        });
        started->get_future().wait();  // A job that had not begun would be given up.
        EXPECT_FALSE(writer.drain());
    }
    release->set_value();
    finished->get_future().wait();  // The thread had all it needed, though its owner was gone.
}

}  // namespace
}  // namespace planed::io
