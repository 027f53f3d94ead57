// SPDX-License-Identifier: Apache-2.0
// What must survive a restart and is in no kernel table: behind which port a MAC was last seen, and
// which ports we took down, and what operators have drained. One text file in `state_dir`, replaced
// as a whole (write, fsync, rename) by the background thread soon after a change. A damaged file is
// set aside and reported, never fatal.
//
// Format: a line `planed-state 1`, then `port BRIDGE VLAN MAC PORT`, `shut PORT` and `drain
// SCOPE` (leaf, port NAME, host ADDRESS), then `end COUNT`. Interface names contain no white space
// (dev_valid_name, net/core/dev.c).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <absl/container/btree_map.h>

#include "core/input.hpp"
#include "core/output.hpp"
#include "io/background_writer.hpp"
#include "net/result.hpp"
#include "net/time.hpp"

namespace planed::io {

struct StateContents {
    absl::btree_map<std::tuple<std::string, VlanId, MacAddress>, std::string> ports;
    std::set<std::string> shut;
    std::set<DrainScope> drains;
    bool operator==(const StateContents&) const = default;
};

/// Writes, syncs and renames: whoever reads the file finds the old text or the new one. Blocks.
/// Empty on success, else what went wrong.
std::string replace_file(const std::string& path, std::string_view text);

std::string print_state(const StateContents& state);
/// An error names the line.
Result<StateContents> parse_state(std::string_view text);
std::vector<Input> to_inputs(const StateContents& state);

class StateFile {
public:
    StateFile(std::string directory, BackgroundWriter& writer);
    ~StateFile();
    StateFile(const StateFile&) = delete;
    StateFile& operator=(const StateFile&) = delete;
    StateFile(StateFile&&) = delete;
    StateFile& operator=(StateFile&&) = delete;

    /// Reads the file. An absent one is empty; a damaged one is renamed to `state.damaged` and
    /// `problem` says why. Once, before anything is remembered.
    StateContents load(std::string& problem);

    void remember(const RememberPort& port);
    void remember(const RememberShut& shut);
    void remember(const RememberDrain& drain);
    /// Hands a due write to the background thread. Changes are gathered: with 64,000 hosts the file
    /// has three megabytes, and a burst must not write it for each.
    void tick(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    /// The error of the last write, if it failed.
    [[nodiscard]] std::string problem() const;

private:
    static constexpr Duration kWriteSpacing = 100ms;
    struct Shared;  // With the writer's thread.

    std::shared_ptr<Shared> shared_;
    BackgroundWriter& writer_;
    bool dirty_ = false;
    TimePoint next_write_{};
};

/// One planed per state directory: holds DIRECTORY/planed.lock locked as long as it lives. An error
/// names the process that has it.
class LockFile {
public:
    static Result<LockFile> take(const std::string& directory);
    ~LockFile();
    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&& other) noexcept;
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;

private:
    explicit LockFile(int fd) : fd_(fd) {}
    int fd_ = -1;
};

}  // namespace planed::io
