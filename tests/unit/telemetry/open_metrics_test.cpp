// SPDX-License-Identifier: Apache-2.0
// OpenMetrics 1.0, byte by byte; and that our own mistakes do not get as far as a scraper.
#include "telemetry/open_metrics.hpp"

#include <array>

#include <gtest/gtest.h>

namespace planed {
namespace {

std::string finished(OpenMetrics& metrics) {
    return std::move(metrics).finish();
}

TEST(OpenMetrics, OfNothingIsItsEndMark) {
    OpenMetrics metrics;

    EXPECT_EQ(finished(metrics), "# EOF\n");
}

TEST(OpenMetrics, WritesAGaugeWithAndWithoutLabels) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_hosts", .help = "Hosts."});
    metrics.sample(7);
    metrics.family({.name = "planed_interface_hosts", .help = "Of an interface."});
    metrics.sample({{"interface", "Vlan100"}, {"vrf", "default"}}, 3);
    metrics.sample({{"interface", "Vlan200"}, {"vrf", "blue"}}, 4);

    EXPECT_EQ(finished(metrics),
              "# TYPE planed_hosts gauge\n"
              "# HELP planed_hosts Hosts.\n"
              "planed_hosts 7\n"
              "# TYPE planed_interface_hosts gauge\n"
              "# HELP planed_interface_hosts Of an interface.\n"
              "planed_interface_hosts{interface=\"Vlan100\",vrf=\"default\"} 3\n"
              "planed_interface_hosts{interface=\"Vlan200\",vrf=\"blue\"} 4\n"
              "# EOF\n");
}

TEST(OpenMetrics, GivesCountersAndInfosTheirEndings) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_turns", .type = MetricType::Counter, .help = "Turns."});
    metrics.sample(18446744073709551615U);
    metrics.family({.name = "planed_node", .type = MetricType::Info, .help = "Which leaf."});
    metrics.info({{"node", "leaf-a1"}});
    metrics.family({.name = "planed_new", .type = MetricType::Unknown});
    metrics.sample(1);

    EXPECT_EQ(finished(metrics),
              "# TYPE planed_turns counter\n"
              "# HELP planed_turns Turns.\n"
              "planed_turns_total 18446744073709551615\n"
              "# TYPE planed_node info\n"
              "# HELP planed_node Which leaf.\n"
              "planed_node_info{node=\"leaf-a1\"} 1\n"
              "# TYPE planed_new unknown\n"
              "planed_new 1\n"
              "# EOF\n");
}

TEST(OpenMetrics, CountsAHistogramUp) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_way_seconds",
                    .type = MetricType::Histogram,
                    .unit = "seconds",
                    .help = "How long."});
    metrics.histogram(std::array{0.00025, 0.5, 1.0}, std::array<std::uint64_t, 4>{2, 0, 3, 1}, 4.5);

    EXPECT_EQ(finished(metrics),
              "# TYPE planed_way_seconds histogram\n"
              "# UNIT planed_way_seconds seconds\n"
              "# HELP planed_way_seconds How long.\n"
              "planed_way_seconds_bucket{le=\"0.00025\"} 2\n"
              "planed_way_seconds_bucket{le=\"0.5\"} 2\n"
              "planed_way_seconds_bucket{le=\"1.0\"} 5\n"
              "planed_way_seconds_bucket{le=\"+Inf\"} 6\n"
              "planed_way_seconds_count 6\n"
              "planed_way_seconds_sum 4.5\n"
              "# EOF\n");
}

TEST(OpenMetrics, EscapesWhatWouldEndALineOrAValue) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_node", .type = MetricType::Info, .help = "a \\ \"b\"\nc"});
    metrics.info({{"plane", "A\"\\\nB ü"}});

    EXPECT_EQ(finished(metrics),
              "# TYPE planed_node info\n"
              "# HELP planed_node a \\\\ \\\"b\\\"\\nc\n"
              "planed_node_info{plane=\"A\\\"\\\\\\nB ü\"} 1\n"
              "# EOF\n");
}

TEST(OpenMetrics, ReplacesWhatIsNoUtf8) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_x"});
    metrics.sample({{"interface", "a\xFFz\xC3"}}, 1);

    EXPECT_EQ(finished(metrics),
              "# TYPE planed_x gauge\nplaned_x{interface=\"a\uFFFDz\uFFFD\"} 1\n# EOF\n");
}

TEST(OpenMetrics, WritesTimesInSecondsAsNumbers) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_a_seconds", .unit = "seconds"});
    metrics.sample_seconds({}, 0.0);
    metrics.sample_seconds({{"at", "x"}}, 1.5);
    metrics.sample_seconds({{"at", "y"}}, 86400.0);

    EXPECT_EQ(finished(metrics),
              "# TYPE planed_a_seconds gauge\n"
              "# UNIT planed_a_seconds seconds\n"
              "planed_a_seconds 0\n"
              "planed_a_seconds{at=\"x\"} 1.5\n"
              "planed_a_seconds{at=\"y\"} 86400\n"
              "# EOF\n");
}

TEST(OpenMetricsDeathTest, RefusesWhatTheFormatForbids) {
    OpenMetrics metrics;
    metrics.family({.name = "planed_once"});

    EXPECT_DEATH(metrics.family({.name = "planed_once"}), "fresh");
    EXPECT_DEATH(metrics.family({.name = "planed_x_total"}), "_total");
    EXPECT_DEATH(metrics.family({.name = "planed_way", .unit = "seconds"}), "unit");
    EXPECT_DEATH(metrics.family({.name = "planed-way"}), "is_name");
    EXPECT_DEATH(metrics.info({}), "Info");
}

}  // namespace
}  // namespace planed
