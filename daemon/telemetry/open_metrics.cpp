// SPDX-License-Identifier: Apache-2.0
#include "telemetry/open_metrics.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "net/assert.hpp"
#include "net/utf8.hpp"

namespace planed {
namespace {

std::string_view word(MetricType type) {
    switch (type) {
        case MetricType::Gauge: return "gauge";
        case MetricType::Counter: return "counter";
        case MetricType::Histogram: return "histogram";
        case MetricType::Info: return "info";
        case MetricType::Unknown: return "unknown";
    }
    return "unknown";
}

std::string_view suffix_of(MetricType type) {
    switch (type) {
        case MetricType::Counter: return "_total";
        case MetricType::Info: return "_info";
        case MetricType::Gauge:
        case MetricType::Histogram:
        case MetricType::Unknown: break;
    }
    return "";
}

void append_escaped(std::string& result, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '\n': result += "\\n"; break;
            case '"': result += "\\\""; break;
            case '\\': result += "\\\\"; break;
            default: result += c;
        }
    }
}

// The format escapes the same three characters in help texts and in label values. The kernel takes
// interface names that are no UTF-8, for which a scraper would refuse the whole text.
std::string escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t well = utf8_length(text);
        append_escaped(result, text.substr(0, well));
        text.remove_prefix(well);
        if (!text.empty()) {
            result += "\uFFFD";
            text.remove_prefix(1);
        }
    }
    return result;
}

// "0.001", "1.0", "+Inf": a bound is a label, so it is always written in the same way.
std::string bound_text(double bound) {
    std::string text = fmt::format("{}", bound);
    const bool whole = text.find_first_of(".e") == std::string::npos;
    return whole ? text + ".0" : text;
}

bool is_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && name.front() >= 'a' && std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

void OpenMetrics::family(const MetricFamily& family) {
    PLANED_ASSERT(is_name(family.name));
    PLANED_ASSERT(!family.name.ends_with("_total"));
    PLANED_ASSERT(family.unit.empty() || family.name.ends_with(fmt::format("_{}", family.unit)));
    const bool fresh = names_.emplace(family.name).second;
    PLANED_ASSERT(fresh);
    name_ = family.name;
    type_ = family.type;
    text_ += fmt::format("# TYPE {} {}\n", name_, word(type_));
    if (!family.unit.empty()) {
        text_ += fmt::format("# UNIT {} {}\n", name_, family.unit);
    }
    if (!family.help.empty()) {
        text_ += fmt::format("# HELP {} {}\n", name_, escaped(family.help));
    }
}

void OpenMetrics::sample(Labels labels, std::uint64_t value) {
    line(suffix_of(type_), labels, fmt::format("{}", value));
}

void OpenMetrics::sample_seconds(Labels labels, double value) {
    line(suffix_of(type_), labels, fmt::format("{}", value));
}

void OpenMetrics::info(Labels labels) {
    PLANED_ASSERT(type_ == MetricType::Info);
    line("_info", labels, "1");
}

void OpenMetrics::histogram(std::span<const double> bounds,
                            std::span<const std::uint64_t> counts,
                            double sum) {
    PLANED_ASSERT(type_ == MetricType::Histogram);
    PLANED_ASSERT(counts.size() == bounds.size() + 1);
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        so_far += counts[i];
        const std::string bound = i < bounds.size() ? bound_text(bounds[i]) : "+Inf";
        line("_bucket", {{"le", bound}}, fmt::format("{}", so_far));
    }
    line("_count", {}, fmt::format("{}", so_far));
    line("_sum", {}, fmt::format("{}", sum));
}

std::string OpenMetrics::finish() && {
    return std::move(text_) + "# EOF\n";
}

void OpenMetrics::line(std::string_view suffix, Labels labels, std::string_view value) {
    text_ += name_;
    text_ += suffix;
    char before = '{';
    for (const MetricLabel& label : labels) {
        text_ += fmt::format("{}{}=\"{}\"", before, label.name, escaped(label.value));
        before = ',';
    }
    text_ += labels.size() == 0 ? " " : "} ";
    text_ += value;
    text_ += '\n';
}

}  // namespace planed
