// SPDX-License-Identifier: Apache-2.0
// `planed --record FILE`: what the engine is told goes to a file, a line each
// (record/recording.hpp), written by a thread of its own. What was there before becomes FILE.1. A
// recording ends, and says so in the log, when the file is too large or the disk does not keep up:
// it is never the reason why anything else is late. What is in it is whole up to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/witness.hpp"
#include "io/background_writer.hpp"
#include "net/result.hpp"
#include "record/recording.hpp"
#include "telemetry/note.hpp"

namespace planed {

class Recorder final : public Witness {
public:
    static constexpr std::uint64_t kFileMax = std::uint64_t{1} << 30U;     // Bytes.
    static constexpr std::uint64_t kWaitingMax = std::uint64_t{1} << 26U;  // Bytes, in memory.

    using Log = std::function<void(const Note&)>;

    /// The error says what could not be done with the file.
    static Result<std::unique_ptr<Recorder>> open(const std::string& path,
                                                  const record::Header& header,
                                                  Log log);

    void saw(const Input& input, TimePoint now) override;
    /// The turn has ended with so many decisions, notes not counted.
    void turn(std::uint64_t decided, TimePoint now);

private:
    struct File;  // With the writer's thread.

    Recorder(std::shared_ptr<File> file, std::string path, Log log);
    void add(const std::string& line);
    void end(const std::string& why);

    std::shared_ptr<File> file_;
    std::string path_;
    Log log_;
    std::string lines_;  // Of this turn.
    std::uint64_t bytes_ = 0;
    bool ended_ = false;
    io::BackgroundWriter writer_{10s};
};

}  // namespace planed
