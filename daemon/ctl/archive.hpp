// SPDX-License-Identifier: Apache-2.0
// A .tar.gz, written file by file with libarchive; readable by its owner alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace planed::ctl {

class Archive {
public:
    /// Makes the file; one that is there is not touched. See error().
    explicit Archive(const std::string& path);
    ~Archive();
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;
    Archive(Archive&&) = delete;
    Archive& operator=(Archive&&) = delete;

    /// `name`: with the folders it is in.
    void add(const std::string& name, std::string_view content);
    void close();
    /// What went wrong first, in words; empty: nothing. After an error nothing more is written.
    [[nodiscard]] const std::string& error() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace planed::ctl
