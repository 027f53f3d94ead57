// SPDX-License-Identifier: Apache-2.0
#include "config/fault.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace planed::config {

Place place_of(const Places& written, std::string_view path) {
    while (!path.empty()) {
        const auto found = written.find(path);
        if (found != written.end()) {
            return found->second;
        }
        const std::size_t cut = path.find_last_of(".[");
        path = path.substr(0, cut == std::string_view::npos ? 0 : cut);
    }
    return {};
}

std::string to_string(const Fault& fault) {
    const char* separator = fault.path.empty() ? "" : ": ";
    return fmt::format("{}:{}:{}: {}{}{}",
                       fault.file,
                       fault.place.line,
                       fault.place.column,
                       fault.path,
                       separator,
                       fault.text);
}

void FaultList::add(Place place, std::string path, std::string text) {
    if (full()) {
        ++dropped_;
        return;
    }
    faults_.push_back(
        {.file = file_, .place = place, .path = std::move(path), .text = std::move(text)});
}

std::vector<Fault> FaultList::take() {
    std::stable_sort(faults_.begin(), faults_.end(), [](const Fault& a, const Fault& b) {
        return a.place < b.place;
    });
    if (dropped_ > 0) {
        faults_.push_back({.file = file_,
                           .place = faults_.back().place,
                           .path = "",
                           .text = fmt::format("and {} more", dropped_)});
    }
    dropped_ = 0;
    return std::exchange(faults_, {});
}

}  // namespace planed::config
