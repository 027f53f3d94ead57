// SPDX-License-Identifier: Apache-2.0
// Every input is the same after it was a line; and what is wrong with a line is said.
#include "record/recording.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernel_settings.hpp"
#include "record/fields.hpp"
#include "record/words.hpp"
#include "support/builders.hpp"

namespace planed::record {
namespace {

using testing::HasSubstr;

constexpr TimePoint kAt{Duration(81'342'000'000'001)};

// Each member gets a value that no other has, and that is not the one it begins with.
class Filler {
public:
    template <class T>
    void fill(T& value) {
        ++count_;
        if constexpr (requires { Fields<T>::list; }) {
            std::apply([&](const auto&... each) { (fill(value.*each.member), ...); },
                       Fields<T>::list);
        } else if constexpr (std::is_same_v<T, bool>) {
            value = true;
        } else if constexpr (HasWords<T>) {
            value = kWords<T>[count_ % (kWords<T>.size() - 1) + 1].first;
        } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
            value = static_cast<T>(count_);
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = fmt::format("text \"{}\"\n", count_);
        } else {
            fill_special(value);
        }
    }

private:
    void fill_special(Duration& value) { value = Duration(-static_cast<std::int64_t>(count_)); }
    void fill_special(IpAddress& value) {
        value = count_ % 2 == 0 ? IpAddress::v4(10, 0, 0, low_byte())
                                : *IpAddress::parse(fmt::format("fd00::{:x}", count_));
    }
    void fill_special(IpPrefix& value) {
        value = IpPrefix(IpAddress::v4(10, 0, low_byte(), 1),
                         static_cast<std::uint8_t>(8 + count_ % 20));
    }
    void fill_special(MacAddress& value) { value = MacAddress({2, 0, 0, 0, 0, low_byte()}); }
    void fill_special(std::shared_ptr<const Config>& value) {
        Config config;
        config.node.name = fmt::format("leaf-{}", count_);
        value = std::make_shared<const Config>(config);
    }
    template <class T>
    void fill_special(std::optional<T>& value) {
        fill(value.emplace());
    }
    template <class T>
    void fill_special(std::vector<T>& value) {
        fill(value.emplace_back());
        fill(value.emplace_back());
    }
    [[nodiscard]] std::uint8_t low_byte() const {
        return static_cast<std::uint8_t>(count_ % 200 + 1);
    }

    std::size_t count_ = 0;
};

// A configuration is behind a pointer: equal is not the same.
bool same(const Input& a, const Input& b) {
    const auto* config = std::get_if<ConfigChanged>(&a);
    const auto* other = std::get_if<ConfigChanged>(&b);
    return config != nullptr && other != nullptr ? *config->config == *other->config : a == b;
}

template <std::size_t... I>
std::vector<Input> one_of_each(std::index_sequence<I...> /*all*/) {
    std::vector<Input> inputs;
    const auto add = [&]<class T>(T value) {
        Filler().fill(value);
        inputs.emplace_back(std::move(value));
    };
    (add(std::variant_alternative_t<I, Input>{}), ...);
    return inputs;
}

TEST(Recording, KeepsEveryMemberOfEveryInput) {
    for (const Input& input : one_of_each(std::make_index_sequence<std::variant_size_v<Input>>{})) {
        const std::string text = to_line(input, kAt);
        EXPECT_EQ(text.find('\n'), std::string::npos);
        const auto line = parse_line(text);
        ASSERT_TRUE(line) << text << "\n" << line.error().text;
        EXPECT_EQ(line->at, kAt);
        ASSERT_TRUE(std::holds_alternative<Input>(line->what)) << text;
        EXPECT_TRUE(same(std::get<Input>(line->what), input)) << text;
    }
}

// What is absent must come back as absent.
template <std::size_t... I>
std::vector<Input> empty_ones(std::index_sequence<I...> /*all*/) {
    return {std::variant_alternative_t<I, Input>{}...};
}

TEST(Recording, KeepsWhatIsAbsent) {
    for (const Input& input : empty_ones(std::make_index_sequence<std::variant_size_v<Input>>{})) {
        if (std::holds_alternative<ConfigChanged>(input)) {
            continue;  // There always is one.
        }
        const auto line = parse_line(to_line(input, kAt));
        ASSERT_TRUE(line) << to_line(input, kAt) << "\n" << line.error().text;
        EXPECT_TRUE(same(std::get<Input>(line->what), input)) << to_line(input, kAt);
    }
}

TEST(Recording, IsReadByPeople) {
    const Input input = NeighborSeen{.key = {.link = IfIndex{5}, .address = test::ip("10.0.0.5")},
                                     .neighbor = {.mac = test::mac(5), .state = Nud::Stale}};
    EXPECT_EQ(
        to_line(input, kAt),
        R"({"at":81342000000001,"input":"NeighborSeen","key":{"link":5,"address":"10.0.0.5"},)"
        R"("neighbor":{"mac":")" +
            test::mac(5).to_string() +
            R"(","state":"STALE","ext_learned":false,"protocol":0},)"
            R"("source":"event","denied":""})");
    const Output output = SendRoute{.key = {.prefix = host_prefix(test::ip("10.0.0.5"))}};
    EXPECT_EQ(
        to_line(output, kAt),
        R"({"at":81342000000001,"output":"SendRoute","key":{"vrf":0,"prefix":"10.0.0.5/32"}})");
}

TEST(Recording, NamesEverySettingAsTheDaemonDoes) {
    for (const Setting setting : kSettings) {
        EXPECT_EQ(word_of(setting), setting_name(setting, "IF"));
    }
}

TEST(Recording, KeepsTurns) {
    const auto line = parse_line(to_line(Turn{.decided = 7}, kAt));
    ASSERT_TRUE(line);
    EXPECT_EQ(line->at, kAt);
    EXPECT_EQ(std::get<Turn>(line->what), Turn{.decided = 7});
}

TEST(Recording, BeginsWithWhatTheEngineBeganWith) {
    Config config;
    config.node.name = "leaf-a1";
    config.interfaces.push_back({.name = "Vlan100"});
    const auto header = parse_header(to_line(Header{.version = "0.1.0",
                                                    .node = "leaf-a1",
                                                    .started = "2026-01-02T03:04:05Z",
                                                    .level = Level::Debug,
                                                    .config = std::make_shared<Config>(config)}));
    ASSERT_TRUE(header) << header.error().text;
    EXPECT_EQ(header->version, "0.1.0");
    EXPECT_EQ(header->node, "leaf-a1");
    EXPECT_EQ(header->started, "2026-01-02T03:04:05Z");
    EXPECT_EQ(header->level, Level::Debug);
    EXPECT_EQ(*header->config, config);
}

TEST(Recording, HasNoPasswords) {
    Config config;
    config.evpn.peers.push_back({.address = test::ip("192.0.2.1"), .password = "tiger"});
    const Input input = ConfigChanged{.config = std::make_shared<Config>(config)};
    EXPECT_EQ(to_line(input, kAt).find("tiger"), std::string::npos);
}

TEST(Recording, OfAnotherFormatIsRefused) {
    const auto header = parse_header(R"({"planed_recording":2,"whatever":1})");
    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().code, Errc::Unsupported);
    EXPECT_EQ(header.error().text, "is a recording of format 2, not 1");
    EXPECT_THAT(parse_header(R"({"at":1})").error().text, HasSubstr("no recording of planed"));
    EXPECT_THAT(parse_header("ELF").error().text, HasSubstr("no JSON object"));
}

struct WrongLine {
    std::string_view text;
    std::string_view why;
};
class WrongLines : public testing::TestWithParam<WrongLine> {};

TEST_P(WrongLines, AreRefusedWithThePlace) {
    const auto line = parse_line(GetParam().text);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, Errc::Malformed);
    EXPECT_EQ(line.error().text, GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(
    Recording,
    WrongLines,
    testing::Values(
        WrongLine{"", "is no JSON object"},
        WrongLine{"[1]", "is no JSON object"},
        WrongLine{R"({"at":1})", "input: is missing"},
        WrongLine{R"({"input":"LinkGone","link":1})", "at: is missing"},
        WrongLine{R"({"at":"1","input":"LinkGone","link":1})", "at: is no number that can be here"},
        WrongLine{R"({"at":1,"input":"LinkGon","link":1})", "there is no input LinkGon"},
        WrongLine{R"({"at":1,"input":"LinkGone"})", "link: is missing"},
        WrongLine{R"({"at":1,"input":"LinkGone","link":-1})",
                  "link: is no number that can be here"},
        WrongLine{R"({"at":1,"input":"LinkGone","link":4294967296})",
                  "link: is no number that can be here"},
        WrongLine{R"({"at":1,"input":"LinkGone","link":1,"vlan":2})",
                  "there is a field that is not known"},
        WrongLine{R"({"at":1,"input":"DumpStarted","kind":"routes"})",
                  "kind: is none of its words"},
        WrongLine{R"({"at":1,"input":"DumpFinished","kind":"links","complete":1})",
                  "complete: is neither true nor false"},
        WrongLine{R"({"at":1,"input":"PlaneRouteSeen","key":{"vrf":0,"prefix":"10.0.0/8"}})",
                  "key.prefix: is no address, prefix or MAC"},
        WrongLine{R"({"at":1,"input":"PlaneRouteSeen","key":7})", "key: is no object"},
        WrongLine{R"({"at":1,"input":"BgpPeersSeen","peers":{}})", "peers: is no list"},
        WrongLine{R"({"at":1,"input":"BgpPeersSeen","peers":["x"]})",
                  "peers: is no address, prefix or MAC"},
        WrongLine{R"({"at":1,"input":"ConfigChanged","config":"interfaces: 7"})",
                  "config: config:1:13: interfaces: must be a list, not \"7\""},
        WrongLine{R"({"at":1,"turn":7})", "turn is no object"},
        WrongLine{R"({"at":1,"turn":{}})", "decided: is missing"}));

}  // namespace
}  // namespace planed::record
