// SPDX-License-Identifier: Apache-2.0
// Lines to the end of a file, by a thread of its own: a disk may take its time, who is told of a
// change may not. Lines that the disk does not take in time are counted, and that is a line too.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace change_log {

class Writer {
public:
    static constexpr std::size_t kWaitingMax = 65'536;  // Lines.

    /// Makes the file if it is not there (0640). On failure `error` is what is wrong.
    static std::unique_ptr<Writer> open(const std::string& path, std::string& error);
    /// Waits for what is left to be written, half a second at most.
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    Writer(Writer&&) = delete;
    Writer& operator=(Writer&&) = delete;

    /// `line` ends with a newline.
    void add(std::string line);
    /// What is wrong with the file, once for each change of that; "" is all well again. False: as
    /// it was when it was last asked.
    bool news(std::string& problem);

private:
    struct Shared;
    explicit Writer(std::shared_ptr<Shared> shared);
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared>
        shared_;  // The thread's too: a disk that hangs must not hold up the end.
    std::string told_;
};

}  // namespace change_log
