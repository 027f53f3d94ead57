// SPDX-License-Identifier: Apache-2.0
#include "io/service_notifier.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/core.h>

#include "io/clock.hpp"

namespace planed::io {
namespace {

// A status is read on one line of a terminal, and a datagram has to fit into the manager's buffer.
constexpr std::size_t kStatusMax = 500;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end && !text.empty() ? std::optional(value)
                                                                : std::nullopt;
}

std::int64_t microseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

std::string one_line(std::string_view text) {
    std::string line(text.substr(0, kStatusMax));
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return line;
}

std::string phase_line(ServicePhase phase, TimePoint now) {
    switch (phase) {
        case ServicePhase::Starting: return "";
        case ServicePhase::Ready: return "READY=1\n";
        // The time is what systemd 253's Type=notify-reload asks for; 252 passes over it.
        case ServicePhase::Reloading:
            return fmt::format("RELOADING=1\nMONOTONIC_USEC={}\n",
                               microseconds(now.time_since_epoch()));
        case ServicePhase::Stopping: return "STOPPING=1\n";
    }
    return "";
}

}  // namespace

ServiceEnvironment service_environment() {
    return {.notify_socket = variable("NOTIFY_SOCKET"),
            .watchdog_usec = variable("WATCHDOG_USEC"),
            .watchdog_pid = variable("WATCHDOG_PID")};
}

std::optional<Duration> watchdog_period(const ServiceEnvironment& environment, int own_pid) {
    const auto usec = number(environment.watchdog_usec);
    if (!usec || *usec <= 0 || *usec > microseconds(Duration::max())) {
        return std::nullopt;
    }
    if (!environment.watchdog_pid.empty() && number(environment.watchdog_pid) != own_pid) {
        return std::nullopt;
    }
    return std::chrono::microseconds(*usec);
}

std::string notification(const ServiceReport& told, const ServiceReport& now_is, TimePoint now) {
    std::string text;
    if (now_is.phase != told.phase) {
        text += phase_line(now_is.phase, now);
    }
    if (now_is.status != told.status) {
        text += fmt::format("STATUS={}\n", one_line(now_is.status));
    }
    return text;
}

ServiceNotifier::ServiceNotifier(boost::asio::io_context& loop, ServiceEnvironment environment)
    : environment_(std::move(environment)),
      watchdog_(watchdog_period(environment_, ::getpid())),
      ticks_(loop),
      retry_(loop) {
    const std::string& path = environment_.notify_socket;
    // '@' is the abstract namespace. Other kinds (vsock:) are for managers outside of a machine.
    const bool is_unix = path.size() > 1 && (path[0] == '/' || path[0] == '@');
    if (is_unix && path.size() < sizeof(sockaddr_un::sun_path)) {
        fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }
}

ServiceNotifier::~ServiceNotifier() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

void ServiceNotifier::start(std::function<void()> on_tick) {
    if (has_manager()) {
        on_tick_ = std::move(on_tick);
        tick();
    }
}

void ServiceNotifier::tell(ServiceReport report) {
    wanted_ = std::move(report);
    flush();
}

void ServiceNotifier::tick() {
    heartbeat_due_ = true;
    on_tick_();
    flush();
    arm(ticks_, watchdog_ ? *watchdog_ / 3 : kUnwatchedTick, &ServiceNotifier::tick);
}

void ServiceNotifier::arm(boost::asio::steady_timer& timer,
                          Duration after,
                          void (ServiceNotifier::*then)()) {
    timer.expires_after(after);
    timer.async_wait([this, then](const boost::system::error_code& error) {
        if (!error) {
            (this->*then)();
        }
    });
}

/// A start that takes long is a slow one as long as the loop turns, and no reason to begin again.
std::string ServiceNotifier::heartbeat() const {
    if (!watchdog_) {
        return "";
    }
    std::string text = "WATCHDOG=1\n";
    if (wanted_.phase == ServicePhase::Starting) {
        text += fmt::format("EXTEND_TIMEOUT_USEC={}\n", microseconds(*watchdog_));
    }
    return text;
}

void ServiceNotifier::flush() {
    if (!has_manager() || retrying_) {
        return;
    }
    const std::string text =
        notification(told_, wanted_, now()) + (heartbeat_due_ ? heartbeat() : "");
    if (text.empty() || send(text)) {
        told_ = wanted_;
        heartbeat_due_ = false;
        return;
    }
    retrying_ = true;
    arm(retry_, kRetry, &ServiceNotifier::retry);
}

void ServiceNotifier::retry() {
    retrying_ = false;
    flush();
}

bool ServiceNotifier::send(std::string_view text) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string& path = environment_.notify_socket;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') {
        address.sun_path[0] = '\0';  // An abstract name has no end but its length.
    }
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    return ::sendto(fd_,
                    text.data(),
                    text.size(),
                    MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&address),
                    length) >= 0;
}

}  // namespace planed::io
