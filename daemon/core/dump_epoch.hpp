// SPDX-License-Identifier: Apache-2.0
// Mark and sweep for one observed table. While a dump runs, what an event says of a key overrules
// the dump's row for it (the row may be older); what neither names is absent once the dump is
// complete.
#pragma once

#include <cstdint>

#include <absl/container/flat_hash_set.h>

namespace planed {

template <class Key>
class DumpEpoch {
public:
    /// Forgets an unfinished dump and starts a new one.
    void begin() {
        ++epoch_;
        running_ = true;
        deleted_.clear();
    }
    /// True if the rows since begin() are the whole table and absence may be concluded.
    bool finish(bool complete) {
        const bool conclusive = running_ && complete;
        running_ = false;
        deleted_.clear();
        return conclusive;
    }

    /// An event or a dump's row names a key that exists: `mark` is kept with the entry.
    void mark(std::uint32_t& mark) const { mark = epoch_; }
    [[nodiscard]] bool is_marked(std::uint32_t mark) const { return mark == epoch_; }
    /// An event says that a key is gone: a row of the running dump must not bring it back.
    void note_deleted(const Key& key) {
        if (running_) {
            deleted_.insert(key);
        }
    }
    /// Does a dump's row say anything new? `mark` is null where the table has no such entry.
    [[nodiscard]] bool accepts_row(const Key& key, const std::uint32_t* mark) const {
        return running_ && (mark != nullptr ? *mark != epoch_ : !deleted_.contains(key));
    }
    [[nodiscard]] bool running() const { return running_; }

private:
    std::uint32_t epoch_ = 1;
    bool running_ = false;
    absl::flat_hash_set<Key> deleted_;
};

}  // namespace planed
