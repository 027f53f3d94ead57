// SPDX-License-Identifier: Apache-2.0
#include "app/recorder.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

namespace planed {
namespace {

std::string refusal(std::string_view what, const std::string& path) {
    return fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(errno));
}

}  // namespace

struct Recorder::File {
    explicit File(int descriptor) : fd(descriptor) {}
    ~File() { (void)::close(fd); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File(File&&) = delete;
    File& operator=(File&&) = delete;

    // After an error nothing more is written: what follows would be read as if it came next.
    void write(std::string_view text) {
        while (!text.empty() && error == 0) {
            const ssize_t written = ::write(fd, text.data(), text.size());
            if (written >= 0) {
                text.remove_prefix(static_cast<std::size_t>(written));
            } else if (errno != EINTR) {
                error = errno;
            }
        }
    }

    int fd;
    std::atomic<int> error = 0;
    std::atomic<std::uint64_t> waiting = 0;  // Bytes.
};

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path,
                                                 const record::Header& header,
                                                 Log log) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0) {
        if (!S_ISREG(found.st_mode)) {
            return fail(Errc::Invalid, fmt::format("cannot write {}: it is no regular file", path));
        }
        if (std::rename(path.c_str(), (path + ".1").c_str()) != 0) {
            return fail_errno(errno, refusal("rename", path));
        }
    }
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0) {
        return fail_errno(errno, refusal("write", path));
    }
    auto recorder =
        std::unique_ptr<Recorder>(new Recorder(std::make_shared<File>(fd), path, std::move(log)));
    recorder->add(record::to_line(header));
    return recorder;
}

Recorder::Recorder(std::shared_ptr<File> file, std::string path, Log log)
    : file_(std::move(file)), path_(std::move(path)), log_(std::move(log)) {}

void Recorder::saw(const Input& input, TimePoint now) {
    if (!ended_) {
        add(record::to_line(input, now));
    }
}

void Recorder::turn(std::uint64_t decided, TimePoint now) {
    if (ended_) {
        return;
    }
    add(record::to_line(record::Turn{.decided = decided}, now));
    if (const int error = file_->error; error != 0) {
        end(fmt::format("cannot write: {}", std::generic_category().message(error)));
        return;
    }
    bytes_ += lines_.size();
    file_->waiting += lines_.size();
    writer_.post([file = file_, lines = std::exchange(lines_, {})] {
        file->write(lines);
        file->waiting -= lines.size();
    });
    if (bytes_ > kFileMax) {
        end(fmt::format("it has {} MiB", bytes_ >> 20U));
    } else if (file_->waiting > kWaitingMax) {
        end(fmt::format("{} MiB wait for the disk", file_->waiting >> 20U));
    }
}

void Recorder::add(const std::string& line) {
    lines_ += line;
    lines_ += '\n';
}

void Recorder::end(const std::string& why) {
    ended_ = true;
    lines_ = {};
    log_({.level = Level::Warn,
          .id = "record.ended",
          .text = fmt::format("file={} text=\"{}\"", path_, why)});
}

}  // namespace planed
