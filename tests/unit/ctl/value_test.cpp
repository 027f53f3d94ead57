// SPDX-License-Identifier: Apache-2.0
// Messages as values: the names of the API, times as RFC 3339, what is absent as null.
#include "ctl/value.hpp"

#include <gtest/gtest.h>

#include "ctl/render.hpp"
#include "planed/v1/planed.pb.h"

namespace planed::ctl {
namespace {

TEST(Rfc3339, HasMicrosecondsAlways) {
    EXPECT_EQ(rfc3339(0, 0), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(rfc3339(1'000'000'000, 42), "2001-09-09T01:46:40.000042Z");
    EXPECT_EQ(rfc3339(1'709'251'199, 999'999), "2024-02-29T23:59:59.999999Z");
    EXPECT_EQ(rfc3339(-1, 0), "1969-12-31T23:59:59.000000Z");
}

TEST(ToValue, KeepsTheOrderAndTheNamesOfTheFields) {
    v1::Host host;
    host.set_vrf("default");
    host.set_address("10.0.0.5");
    host.set_eligible(true);
    host.mutable_since()->set_seconds(1);
    host.mutable_since()->set_nanos(2'000);

    EXPECT_EQ(to_json(to_value(host), false),
              R"({"vrf":"default","interface":"","address":"10.0.0.5","mac":"","port":"",)"
              R"("state":"","origin":"","eligible":true,"reason":"","answers":"",)"
              R"("since":"1970-01-01T00:00:01.000002Z","last_seen":null,)"
              R"("last_answer":null,"last_heard":null,"last_data":null,"denied":""})");
}

TEST(ToValue, HasListsOfNumbersAndOfText) {
    v1::EvpnRoute route;
    route.add_labels(0);
    route.add_labels(4001);
    route.add_communities("RT:65000:100");

    const Value value = to_value(route);

    EXPECT_EQ(to_json(value.at("labels"), false), "[0,4001]");
    EXPECT_EQ(to_json(value.at("communities"), false), R"(["RT:65000:100"])");
    EXPECT_EQ(value.at("labels").text(), "0 4001");
}

TEST(ToValue, MakesAnEventFlat) {
    v1::WatchEvent event;
    event.set_kind("route");
    event.mutable_route()->set_prefix("10.0.0.5/32");
    event.mutable_route()->set_state("installed");

    EXPECT_EQ(to_json(to_value(event), false),
              R"({"at":null,"kind":"route","gone":false,"vrf":"","prefix":"10.0.0.5/32",)"
              R"("interface":"","origin":"","state":"installed","reason":"","since":null})");
}

TEST(ToValue, ShowsOfWhatIsGoneOnlyItsNames) {
    v1::WatchEvent event;
    event.set_kind("host");
    event.set_gone(true);
    event.mutable_host()->set_vrf("default");
    event.mutable_host()->set_interface("br0");
    event.mutable_host()->set_address("10.0.0.5");

    EXPECT_EQ(to_json(to_value(event), false),
              R"({"at":null,"kind":"host","gone":true,"vrf":"default","interface":"br0",)"
              R"("address":"10.0.0.5"})");
}

TEST(Text, IsWhatACellShows) {
    EXPECT_EQ(Value{}.text(), "-");
    EXPECT_EQ(text_value("").text(), "-");
    EXPECT_EQ((Value{.is = false}).text(), "no");
    EXPECT_EQ((Value{.is = Array{text_value("a"), text_value("b")}}).text(), "a b");
}

}  // namespace
}  // namespace planed::ctl
