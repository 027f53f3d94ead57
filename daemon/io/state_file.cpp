// SPDX-License-Identifier: Apache-2.0
#include "io/state_file.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

namespace planed::io {
namespace {

constexpr std::string_view kHeader = "planed-state 1";

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const std::size_t space = line.find(' ');
        words.push_back(line.substr(0, space));
        line = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
    }
    return words;
}

template <class Number>
std::optional<Number> parse_number(std::string_view word) {
    Number number{};
    const char* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, number);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == end;
    return whole ? std::optional(number) : std::nullopt;
}

bool parse_line(std::string_view line,
                const std::vector<std::string_view>& words,
                StateContents& state) {
    constexpr std::string_view kDrain = "drain ";
    if (line.starts_with(kDrain)) {
        const auto scope = parse_drain_scope(line.substr(kDrain.size()));
        return scope && state.drains.insert(*scope).second;
    }
    if (words.size() == 2 && words[0] == "shut") {
        state.shut.emplace(words[1]);
        return true;
    }
    if (words.size() != 5 || words[0] != "port") {
        return false;
    }
    const auto vlan = parse_number<std::uint16_t>(words[2]);
    const auto mac = MacAddress::parse(words[3]);
    if (!vlan || !mac) {
        return false;
    }
    state.ports[{std::string(words[1]), VlanId{*vlan}, *mac}] = std::string(words[4]);
    return true;
}

std::string errno_text(std::string_view what, const std::string& path) {
    return fmt::format("{} {}: {}", what, path, std::strerror(errno));
}

// Empty on success.
std::string write_and_sync(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (fd < 0) {
        return errno_text("cannot create", path);
    }
    std::string problem;
    while (!text.empty() && problem.empty()) {
        const ssize_t count = ::write(fd, text.data(), text.size());
        if (count > 0) {
            text.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            problem = errno_text("cannot write", path);
        }
    }
    if (problem.empty() && ::fsync(fd) != 0) {
        problem = errno_text("cannot sync", path);
    }
    (void)::close(fd);
    return problem;
}

}  // namespace

std::string replace_file(const std::string& path, std::string_view text) {
    const std::string fresh = path + ".new";
    std::string problem = write_and_sync(fresh, text);
    if (problem.empty() && ::rename(fresh.c_str(), path.c_str()) != 0) {
        problem = errno_text("cannot replace", path);
    }
    return problem;
}

std::string print_state(const StateContents& state) {
    std::string text = fmt::format("{}\n", kHeader);
    for (const auto& [key, port] : state.ports) {
        const auto& [bridge, vlan, mac] = key;
        text += fmt::format("port {} {} {} {}\n", bridge, number(vlan), mac.to_string(), port);
    }
    for (const std::string& port : state.shut) {
        text += fmt::format("shut {}\n", port);
    }
    for (const DrainScope& scope : state.drains) {
        text += fmt::format("drain {}\n", to_string(scope));
    }
    text += fmt::format("end {}\n", state.ports.size() + state.shut.size() + state.drains.size());
    return text;
}

Result<StateContents> parse_state(std::string_view text) {
    StateContents state;
    std::size_t number_of_line = 0;
    std::size_t rows = 0;
    bool ended = false;
    while (!text.empty() && !ended) {
        const std::size_t newline = text.find('\n');
        if (newline == std::string_view::npos) {
            return fail(Errc::Truncated, fmt::format("line {}: cut off", number_of_line + 1));
        }
        const std::string_view line = text.substr(0, newline);
        text.remove_prefix(newline + 1);
        ++number_of_line;
        const auto words = words_of(line);
        if (number_of_line == 1) {
            if (line != kHeader) {
                return fail(Errc::Unsupported, fmt::format("line 1: expected \"{}\"", kHeader));
            }
        } else if (words.size() == 2 && words[0] == "end") {
            ended = parse_number<std::size_t>(words[1]) == rows;
            if (!ended) {
                return fail(Errc::Malformed,
                            fmt::format("line {}: not {} rows", number_of_line, rows));
            }
        } else if (parse_line(line, words, state)) {
            ++rows;
        } else {
            return fail(Errc::Malformed, fmt::format("line {}: not understood", number_of_line));
        }
    }
    if (!ended) {
        return fail(Errc::Truncated, "the last line is missing");
    }
    return state;
}

std::vector<Input> to_inputs(const StateContents& state) {
    std::vector<Input> inputs;
    for (const auto& [key, port] : state.ports) {
        const auto& [bridge, vlan, mac] = key;
        inputs.emplace_back(
            PortRemembered{.bridge = bridge, .vlan = vlan, .mac = mac, .port = port});
    }
    for (const std::string& port : state.shut) {
        inputs.emplace_back(ShutRemembered{.port = port});
    }
    for (const DrainScope& scope : state.drains) {
        inputs.emplace_back(DrainRemembered{.scope = scope});
    }
    return inputs;
}

struct StateFile::Shared {
    std::string path;
    mutable std::mutex mutex;
    StateContents state;
    std::atomic<bool> writing = false;
    std::string problem;

    void write() {
        std::string text;
        {
            const std::lock_guard lock(mutex);
            text = print_state(state);
        }
        std::string result = replace_file(path, text);
        const std::lock_guard lock(mutex);
        problem = std::move(result);
        writing = false;
    }
};

StateFile::StateFile(std::string directory, BackgroundWriter& writer)
    : shared_(std::make_shared<Shared>()), writer_(writer) {
    shared_->path = std::move(directory) + "/state";
}

StateFile::~StateFile() {
    if (writer_.drain() && dirty_) {  // Where the disk hangs, one more write would hang as well.
        shared_->write();
    }
}

StateContents StateFile::load(std::string& problem) {
    std::ifstream file(shared_->path, std::ios::binary);
    if (!file) {
        return {};
    }
    std::ostringstream whole;
    whole << file.rdbuf();
    const std::string text = whole.str();
    auto state = parse_state(text);
    if (!state) {
        const std::string aside = shared_->path + ".damaged";
        problem = fmt::format("{}: {}; set aside as {}", shared_->path, state.error().text, aside);
        (void)::rename(shared_->path.c_str(), aside.c_str());
        return {};
    }
    shared_->state = *state;
    return *state;
}

void StateFile::remember(const RememberPort& port) {
    {
        const std::lock_guard lock(shared_->mutex);
        const std::tuple key{port.bridge, port.vlan, port.mac};
        if (port.port) {
            shared_->state.ports[key] = *port.port;
        } else {
            shared_->state.ports.erase(key);
        }
    }
    dirty_ = true;
}

void StateFile::remember(const RememberShut& shut) {
    {
        const std::lock_guard lock(shared_->mutex);
        if (shut.shut) {
            shared_->state.shut.insert(shut.port);
        } else {
            shared_->state.shut.erase(shut.port);
        }
    }
    dirty_ = true;
}

void StateFile::remember(const RememberDrain& drain) {
    {
        const std::lock_guard lock(shared_->mutex);
        if (drain.drained) {
            shared_->state.drains.insert(drain.scope);
        } else {
            shared_->state.drains.erase(drain.scope);
        }
    }
    dirty_ = true;
}

std::string StateFile::problem() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->problem;
}

void StateFile::tick(TimePoint now) {
    if (!dirty_ || now < next_write_ || shared_->writing.load()) {
        return;
    }
    dirty_ = false;
    next_write_ = now + kWriteSpacing;
    shared_->writing = true;
    writer_.post([shared = shared_] { shared->write(); });
}

std::optional<TimePoint> StateFile::wake_at() const {
    return dirty_ ? std::optional(next_write_) : std::nullopt;
}

Result<LockFile> LockFile::take(const std::string& directory) {
    const std::string path = directory + "/planed.lock";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) {
        return fail_errno(errno, errno_text("cannot open", path));
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        char text[32]{};
        const ssize_t count = ::pread(fd, text, sizeof text - 1, 0);
        std::string_view holder(text, count > 0 ? static_cast<std::size_t>(count) : 0);
        holder = holder.substr(0, holder.find('\n'));
        auto error =
            fail(Errc::Refused,
                 fmt::format("{} is held by process {}: one planed per zebra", path, holder));
        (void)::close(fd);
        return error;
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    // For people; the lock is what counts.
    const bool named = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, pid.data(), pid.size(), 0) > 0;
    (void)named;
    return LockFile(fd);
}

LockFile::~LockFile() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

LockFile::LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

}  // namespace planed::io
