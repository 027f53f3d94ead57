// SPDX-License-Identifier: Apache-2.0
#include "statedb/row_audit.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace planed::statedb {
namespace {

constexpr std::size_t kTold = 65'536;  // Beyond this they are counted.

void append_field(std::string& text, std::string_view name, std::string_view value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
}

}  // namespace

void RowAudit::begin() {
    end();
    stage_ = Stage::Wanted;
}

void RowAudit::end() {
    stage_ = Stage::Idle;
    entries_ = 0;
    pending_ = {};
    differences_ = {};
    left_out_ = 0;
}

AuditedTable RowAudit::table() const {
    if (stage_ != Stage::Read) {
        return {.table = AuditTable::Rows, .trouble = "not read in time", .action = "read again"};
    }
    return {.table = AuditTable::Rows, .began = began_, .entries = entries_};
}

void RowAudit::read_begins(bool compares, TimePoint now) {
    compares_ = compares;
    entries_ = 0;
    if (stage_ == Stage::Asked || stage_ == Stage::Reading) {
        stage_ = Stage::Reading;
        began_ = now;
    }
}

void RowAudit::found(Found found) {
    ++total_;
    if (!is_collecting()) {
        return;
    }
    if (pending_.size() + differences_.size() < kTold) {
        pending_.push_back(std::move(found));
    } else {
        ++left_out_;
    }
}

RowAudit::Found RowAudit::take_pending() {
    Found found = std::move(pending_.back());
    pending_.pop_back();
    return found;
}

void RowAudit::read_ends(bool complete) {
    if (!complete) {
        return;
    }
    reads_ += compares_ ? 1U : 0U;
    if (stage_ == Stage::Reading) {
        stage_ = compares_ ? Stage::Read : Stage::Wanted;
    }
}

void RowAudit::lost() {
    if (stage_ == Stage::Asked || stage_ == Stage::Reading) {
        stage_ = Stage::Wanted;
    }
}

FieldDifference difference_of(const Fields& wanted,
                              const std::vector<std::pair<std::string, std::string>>& found) {
    FieldDifference difference;
    for (const auto& [name, value] : wanted) {
        const auto at = std::find_if(found.begin(), found.end(), [&, n = name](const auto& field) {
            return field.first == n;
        });
        if (at == found.end()) {
            append_field(difference.wanted, name, value);
        } else if (at->second != value) {
            append_field(difference.wanted, name, value);
            append_field(difference.found, name, at->second);
        }
    }
    for (const auto& [name, value] : found) {
        const bool ours =
            std::any_of(wanted.begin(), wanted.end(), [&, n = name](const auto& field) {
                return field.first == n;
            });
        if (!ours) {
            append_field(difference.found, name, value);
        }
    }
    return difference;
}

}  // namespace planed::statedb
