// SPDX-License-Identifier: Apache-2.0
#include "change_log/writer.hpp"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace change_log {
namespace {

constexpr auto kLastWords = std::chrono::milliseconds(500);

// What write(2) took nothing of, as words; empty: all was written.
std::string write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return std::strerror(errno);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

std::string lost_line(std::uint64_t lost) {
    return "{\"lost\":" + std::to_string(lost) + "}\n";
}

}  // namespace

struct Writer::Shared {
    explicit Shared(int descriptor) : file(descriptor) {}
    ~Shared() { (void)::close(file); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    Shared(Shared&&) = delete;
    Shared& operator=(Shared&&) = delete;

    const int file;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> waiting;
    std::uint64_t lost = 0;  // Not in the file, and not told there yet.
    std::string problem;
    bool ends = false;
    bool ended = false;
};

std::unique_ptr<Writer> Writer::open(const std::string& path, std::string& error) {
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (file < 0) {
        error = path + ": " + std::strerror(errno);
        return nullptr;
    }
    return std::unique_ptr<Writer>(new Writer(std::make_shared<Shared>(file)));
}

Writer::Writer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {
    std::thread([shared = shared_] { run(shared); }).detach();  // ~Writer() waits for `ended`.
}

Writer::~Writer() {
    std::unique_lock lock(shared_->mutex);
    shared_->ends = true;
    shared_->changed.notify_all();
    (void)shared_->changed.wait_for(lock, kLastWords, [this] { return shared_->ended; });
}

void Writer::add(std::string line) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waiting.size() >= kWaitingMax) {
        ++shared_->lost;
        return;
    }
    shared_->waiting.push_back(std::move(line));
    shared_->changed.notify_all();
}

bool Writer::news(std::string& problem) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->problem == told_) {
        return false;
    }
    problem = told_ = shared_->problem;
    return true;
}

void Writer::run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    while (true) {
        shared->changed.wait(lock, [&] { return shared->ends || !shared->waiting.empty(); });
        if (shared->waiting.empty()) {
            break;
        }
        const std::deque<std::string> lines = std::exchange(shared->waiting, {});
        const std::uint64_t lost = std::exchange(shared->lost, 0);
        lock.unlock();
        std::string text = lost == 0 ? std::string() : lost_line(lost);
        for (const std::string& line : lines) {
            text += line;
        }
        std::string problem = write_all(shared->file, text);
        lock.lock();
        shared->lost += problem.empty() ? 0 : lost + lines.size();
        shared->problem = std::move(problem);
    }
    shared->ended = true;
    shared->changed.notify_all();
}

}  // namespace change_log
