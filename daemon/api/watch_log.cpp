// SPDX-License-Identifier: Apache-2.0
#include "api/watch_log.hpp"

#include <algorithm>
#include <utility>

namespace planed::api {

void WatchLog::push(std::vector<std::shared_ptr<const WatchItem>> items) {
    const std::lock_guard lock(mutex_);
    for (auto& item : items) {
        items_.push_back(std::move(item));
    }
    while (items_.size() > kMax) {
        items_.pop_front();
        ++first_;
    }
    whole_from_ = std::max(whole_from_, first_);
}

void WatchLog::lose() {
    const std::lock_guard lock(mutex_);
    first_ += items_.size() + 1;  // A number that nobody is told: all who are here have lost it.
    items_.clear();
    whole_from_ = first_;
}

std::uint64_t WatchLog::end() const {
    const std::lock_guard lock(mutex_);
    return first_ + items_.size();
}

WatchLog::Batch WatchLog::read(std::uint64_t from, std::size_t max) const {
    const std::lock_guard lock(mutex_);
    if (from < whole_from_) {
        return {.next = first_ + items_.size(), .lost = true};
    }
    Batch batch{.next = from};
    for (; batch.next < first_ + items_.size() && batch.items.size() < max; ++batch.next) {
        batch.items.push_back(items_[batch.next - first_]);
    }
    return batch;
}

}  // namespace planed::api
