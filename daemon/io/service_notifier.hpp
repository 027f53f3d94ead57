// SPDX-License-Identifier: Apache-2.0
// What the service manager is told over NOTIFY_SOCKET (sd_notify(3)): where we are, one line of
// status, and that the loop turns. It decides nothing about when we are ready.
//
// Not libsystemd's sd_notify(): that one blocks while process 1 does not read, from the 11th
// message on where net.unix.max_dgram_qlen is the kernel's 10. Here the last word is kept and tried
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/time.hpp"

namespace planed::io {

/// What a service manager has left in our environment, as it stands there.
struct ServiceEnvironment {
    std::string notify_socket{};
    std::string watchdog_usec{};
    std::string watchdog_pid{};
    bool operator==(const ServiceEnvironment&) const = default;
};
ServiceEnvironment service_environment();

/// The period within which the manager wants to hear of us; nullopt: it does not, or it is some
/// other process that it wants to hear of (sd_watchdog_enabled(3)).
std::optional<Duration> watchdog_period(const ServiceEnvironment& environment, int own_pid);

enum class ServicePhase : std::uint8_t { Starting, Ready, Reloading, Stopping };

struct ServiceReport {
    ServicePhase phase = ServicePhase::Starting;
    std::string status{};  // One line for operators; what would end the line becomes a space.
    bool operator==(const ServiceReport&) const = default;
};

/// The lines that lead a manager from what it knows to `now_is`; empty if there is nothing to say.
std::string notification(const ServiceReport& told, const ServiceReport& now_is, TimePoint now);

class ServiceNotifier {
public:
    /// How long a message waits that the manager had no room for.
    static constexpr Duration kRetry = 100ms;
    /// Between two ticks where no watchdog says how often.
    static constexpr Duration kUnwatchedTick = 5s;

    ServiceNotifier(boost::asio::io_context& loop, ServiceEnvironment environment);
    ~ServiceNotifier();
    ServiceNotifier(const ServiceNotifier&) = delete;
    ServiceNotifier& operator=(const ServiceNotifier&) = delete;
    ServiceNotifier(ServiceNotifier&&) = delete;
    ServiceNotifier& operator=(ServiceNotifier&&) = delete;

    /// False: nobody listens, and nothing below does anything.
    [[nodiscard]] bool has_manager() const { return fd_ >= 0; }

    /// From now on feeds the watchdog, by a timer of the loop itself at a third of the period: a
    /// loop that hangs feeds nothing, an idle one is alive. Calls `on_tick` before each time.
    void start(std::function<void()> on_tick);
    /// The same twice is said once.
    void tell(ServiceReport report);

private:
    void tick();
    void retry();
    void arm(boost::asio::steady_timer& timer, Duration after, void (ServiceNotifier::*then)());
    void flush();
    [[nodiscard]] std::string heartbeat() const;
    bool send(std::string_view text);

    ServiceEnvironment environment_;
    std::optional<Duration> watchdog_;
    int fd_ = -1;
    boost::asio::steady_timer ticks_;
    boost::asio::steady_timer retry_;
    bool retrying_ = false;
    std::function<void()> on_tick_;
    ServiceReport told_;
    ServiceReport wanted_;
    bool heartbeat_due_ = false;
};

}  // namespace planed::io
