// SPDX-License-Identifier: Apache-2.0
// planed_bench FIGURE key=value…: takes one measurement; tests/bench/bench runs them all.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "bench/figures.hpp"

namespace planed::bench {
namespace {

using Measure = void (*)(const Options&);

const std::map<std::string_view, Measure> kFigures{{"carrier", measure_carrier},
                                                   {"add", measure_add},
                                                   {"frame", measure_frame},
                                                   {"storm", measure_storm},
                                                   {"refresh", measure_refresh},
                                                   {"scale", measure_scale},
                                                   {"election", measure_election},
                                                   {"idle", measure_idle},
                                                   {"rate", measure_rate}};

bool set(Options& options, std::string_view key, std::string_view value) {
    const std::map<std::string_view, std::string*> texts{
        {"planed", &options.planed}, {"zserv", &options.zserv}, {"release", &options.release}};
    const std::map<std::string_view, std::size_t*> numbers{{"hosts", &options.hosts},
                                                           {"segments", &options.segments},
                                                           {"rounds", &options.rounds},
                                                           {"events", &options.events},
                                                           {"per_second", &options.per_second},
                                                           {"seconds", &options.seconds}};
    if (const auto text = texts.find(key); text != texts.end()) {
        *text->second = value;
        return true;
    }
    const auto found = numbers.find(key);
    const char* end = value.data() + value.size();
    return found != numbers.end() && std::from_chars(value.data(), end, *found->second).ptr == end;
}

int run(int argc, char** argv) {
    const auto figure = argc < 2 ? kFigures.end() : kFigures.find(argv[1]);
    Options options;
    bool good = figure != kFigures.end();
    for (int i = 2; i < argc; ++i) {
        const std::string_view word = argv[i];
        const std::size_t equals = std::min(word.find('='), word.size());
        good = good && equals < word.size() &&
               set(options, word.substr(0, equals), word.substr(equals + 1));
    }
    if (!good) {
        std::fputs(
            "usage: planed_bench carrier|add|frame|storm|refresh|scale|election|idle|rate "
            "key=value…\n",
            stderr);
        return 2;
    }
    figure->second(options);
    return 0;
}

}  // namespace

std::string distribution(std::vector<Nanoseconds> values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](std::size_t percent) {
        const std::size_t index = (values.size() * percent + 99) / 100;
        return static_cast<double>(values[std::max<std::size_t>(index, 1) - 1]) /
               static_cast<double>(kMicrosecond);
    };
    return fmt::format("{{\"count\":{},\"p50\":{:.1f},\"p99\":{:.1f},\"max\":{:.1f}}}",
                       values.size(),
                       at(50),
                       at(99),
                       at(100));
}

}  // namespace planed::bench

int main(int argc, char** argv) {
    return planed::bench::run(argc, argv);
}
