// SPDX-License-Identifier: Apache-2.0
// Metrics as OpenMetrics 1.0 text (the specification of that name; Prometheus reads it as it is).
// Knows the format and none of the metrics: a family is named once, its samples follow it, a
// counter's end in _total and an info's in _info. Never reads a clock: samples carry no time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace planed {

/// "Metric types" of OpenMetrics 1.0, as far as we use them.
enum class MetricType : std::uint8_t { Gauge, Counter, Histogram, Info, Unknown };

struct MetricFamily {
    std::string_view name{};  // Without _total or _info; with a unit it ends in that.
    MetricType type = MetricType::Gauge;
    std::string_view unit{};  // Base units: "seconds", "bytes"; empty: it counts things.
    std::string_view help{};
};

struct MetricLabel {
    std::string_view name{};
    std::string_view value{};  // What is no UTF-8 of it is replaced.
};

class OpenMetrics {
public:
    using Labels = std::initializer_list<MetricLabel>;

    /// Begins a family; whose name was there before, or breaks the rules above, is our own mistake
    /// and ends the program.
    void family(const MetricFamily& family);

    /// Of the family that was begun last: a gauge, a counter or one of unknown type.
    void sample(std::uint64_t value) { sample({}, value); }
    void sample(Labels labels, std::uint64_t value);
    void sample_seconds(Labels labels, double value);
    /// Of an info.
    void info(Labels labels);
    /// Of a histogram: `counts` has one more than `bounds`, for what lies beyond all of them; they
    /// are not cumulative here.
    void histogram(std::span<const double> bounds,
                   std::span<const std::uint64_t> counts,
                   double sum);

    /// The text with its end mark; nothing may follow.
    [[nodiscard]] std::string finish() &&;

private:
    void line(std::string_view suffix, Labels labels, std::string_view value);

    std::string text_;
    std::string name_;  // Of the family that was begun last.
    MetricType type_{};
    std::set<std::string, std::less<>> names_;
};

}  // namespace planed
