// SPDX-License-Identifier: Apache-2.0
// What read-backs of our rows show that was not wanted: counted always, told in words while an
// operator's audit waits for it. The rows themselves are the mirror's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/audit.hpp"
#include "net/time.hpp"
#include "statedb/schema.hpp"

namespace planed::statedb {

class RowAudit {
public:
    /// A row that a read-back showed, or did not.
    struct Found {
        std::string key{};
        bool there = false;
        bool is_row = true;  // False: another type stands there.
        std::vector<std::pair<std::string, std::string>> fields{};
    };

    // An operator's audit. One at a time: another one begins anew.
    void begin();
    void end();
    [[nodiscard]] bool is_collecting() const { return stage_ != Stage::Idle; }
    /// Every row has been read since begin(), and what was found has its words.
    [[nodiscard]] bool is_done() const { return stage_ == Stage::Read && pending_.empty(); }
    [[nodiscard]] AuditedTable table() const;
    [[nodiscard]] const std::vector<Difference>& differences() const { return differences_; }
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

    // Reads.
    /// A read-back is to be asked for.
    [[nodiscard]] bool wants() const { return stage_ == Stage::Wanted; }
    void asked() { stage_ = Stage::Asked; }
    /// `compares`: not the first one of a connection, which shows what others have left.
    void read_begins(bool compares, TimePoint now);
    [[nodiscard]] bool compares() const { return compares_; }
    void entry_read(bool there) { entries_ += there ? 1U : 0U; }
    void found(Found found);
    void read_ends(bool complete);
    void lost();  // The connection.

    /// What has been found and has no words yet; they come by tell().
    [[nodiscard]] bool is_pending() const { return !pending_.empty(); }
    [[nodiscard]] Found take_pending();
    void tell(Difference difference) { differences_.push_back(std::move(difference)); }

    // Since the start.
    [[nodiscard]] std::uint64_t reads() const { return reads_; }
    [[nodiscard]] std::uint64_t total() const { return total_; }

private:
    enum class Stage : std::uint8_t { Idle, Wanted, Asked, Reading, Read };

    Stage stage_ = Stage::Idle;
    bool compares_ = false;
    TimePoint began_{};
    std::uint64_t entries_ = 0;
    std::vector<Found> pending_;
    std::vector<Difference> differences_;
    std::uint64_t left_out_ = 0;
    std::uint64_t reads_ = 0;
    std::uint64_t total_ = 0;
};

/// The fields in which they differ, each as "name=value", of the one and of the other.
struct FieldDifference {
    std::string wanted{};
    std::string found{};
};
[[nodiscard]] FieldDifference difference_of(
    const Fields& wanted, const std::vector<std::pair<std::string, std::string>>& found);

}  // namespace planed::statedb
