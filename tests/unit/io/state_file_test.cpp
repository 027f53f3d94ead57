// SPDX-License-Identifier: Apache-2.0
#include "io/state_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::io {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class StateFileTest : public testing::Test {
protected:
    StateFileTest() {
        std::string pattern = testing::TempDir() + "planed-state-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
    }
    ~StateFileTest() override { std::filesystem::remove_all(directory_); }

    void write(std::string_view text) { std::ofstream(directory_ + "/state") << text; }

    std::string directory_;
    std::string problem_;
};

const RememberPort kGpu1{.bridge = "Vlan100",
                         .vlan = VlanId{7},
                         .mac = MacAddress({2, 0, 0, 0, 0, 0x11}),
                         .port = "swp1"};

StateContents state_with_gpu1() {
    StateContents state;
    state.ports[{kGpu1.bridge, kGpu1.vlan, kGpu1.mac}] = *kGpu1.port;
    return state;
}

TEST(State, IsReadAsItWasPrinted) {
    StateContents state = state_with_gpu1();
    state.shut = {"swp2", "swp3"};
    state.drains = {
        DrainScope{},
        DrainScope{.kind = DrainScope::Kind::Port, .port = "swp2"},
        DrainScope{.kind = DrainScope::Kind::Host, .address = *IpAddress::parse("fd00::5")}};

    const auto read = parse_state(print_state(state));

    ASSERT_TRUE(read.has_value()) << read.error().text;
    EXPECT_EQ(*read, state);
}

TEST(State, IsRefusedWhereverItIsCutOff) {
    StateContents state = state_with_gpu1();
    state.shut = {"swp2"};
    state.drains = {DrainScope{}};
    const std::string text = print_state(state);

    for (std::size_t length = 0; length < text.size(); ++length) {
        EXPECT_FALSE(parse_state(text.substr(0, length)).has_value()) << "after " << length;
    }
}

TEST(State, NamesTheLineItDoesNotUnderstand) {
    const auto read =
        parse_state("planed-state 1\nport a 0 02:00:00:00:00:01 b\nport a x y z\nend 2\n");

    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().text, HasSubstr("line 3"));
}

TEST(State, OfANewerVersionIsRefused) {
    EXPECT_FALSE(parse_state("planed-state 2\nend 0\n").has_value());
}

TEST_F(StateFileTest, AnAbsentFileIsEmptyAndNoProblem) {
    BackgroundWriter writer(10s);
    StateFile file(directory_, writer);

    EXPECT_EQ(file.load(problem_), StateContents{});
    EXPECT_THAT(problem_, IsEmpty());
}

TEST_F(StateFileTest, SurvivesItsWriter) {
    {
        BackgroundWriter writer(10s);
        StateFile file(directory_, writer);
        file.remember(kGpu1);
        file.remember(RememberShut{.port = "swp9", .shut = true});
        file.remember(RememberShut{.port = "swp9", .shut = false});
    }
    BackgroundWriter writer(10s);
    StateFile file(directory_, writer);

    EXPECT_EQ(file.load(problem_), state_with_gpu1());
}

TEST_F(StateFileTest, IsWrittenByATickAndNotAgainBeforeItsTime) {
    BackgroundWriter writer(10s);
    StateFile file(directory_, writer);
    const TimePoint start = TimePoint{} + 1h;

    file.remember(kGpu1);
    file.tick(start);
    ASSERT_TRUE(writer.drain());
    file.remember(RememberShut{.port = "swp9", .shut = true});
    file.tick(start + 1ms);
    ASSERT_TRUE(writer.drain());

    std::ifstream written(directory_ + "/state");
    const std::string text{std::istreambuf_iterator<char>(written), {}};
    EXPECT_EQ(text, print_state(state_with_gpu1()));
    EXPECT_EQ(file.wake_at(), start + 100ms);
}

TEST_F(StateFileTest, ADamagedFileIsSetAsideAndReported) {
    write("planed-state 1\nport Vlan100 0 02:00:00:00:00:11 swp1\n");
    BackgroundWriter writer(10s);
    StateFile file(directory_, writer);

    EXPECT_EQ(file.load(problem_), StateContents{});

    EXPECT_THAT(problem_, HasSubstr("set aside"));
    EXPECT_TRUE(std::filesystem::exists(directory_ + "/state.damaged"));
    EXPECT_FALSE(std::filesystem::exists(directory_ + "/state"));
}

TEST_F(StateFileTest, SaysWhyItCannotBeWritten) {
    BackgroundWriter writer(10s);
    StateFile file(directory_ + "/absent", writer);

    file.remember(kGpu1);
    file.tick(TimePoint{} + 1h);
    ASSERT_TRUE(writer.drain());

    EXPECT_THAT(file.problem(), HasSubstr("No such file"));
}

TEST_F(StateFileTest, ASecondDaemonIsToldWhoHoldsTheLock) {
    const auto first = LockFile::take(directory_);
    ASSERT_TRUE(first.has_value());

    const auto second = LockFile::take(directory_);

    ASSERT_FALSE(second.has_value());
    EXPECT_THAT(second.error().text, HasSubstr(std::to_string(::getpid())));
}

TEST_F(StateFileTest, TheLockIsFreeOnceItsHolderIsGone) {
    { ASSERT_TRUE(LockFile::take(directory_).has_value()); }

    EXPECT_TRUE(LockFile::take(directory_).has_value());
}

}  // namespace
}  // namespace planed::io
