// SPDX-License-Identifier: Apache-2.0
// rtnetlink from the bench's side: changes, many in one write, and notifications.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/clock.hpp"
#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"

namespace planed::bench {

inline constexpr std::uint16_t kReachable = 0x02;  // NUD_* of linux/neighbour.h.
inline constexpr std::uint16_t kStale = 0x04;

/// Requests that are gathered first and then written as fast as the kernel takes them. The last of
/// each write is acknowledged; a refusal of any ends the bench.
class Changes {
public:
    Changes();
    ~Changes();
    Changes(const Changes&) = delete;
    Changes& operator=(const Changes&) = delete;

    void neighbor(IfIndex link,
                  const IpAddress& address,
                  const MacAddress& mac,
                  std::uint16_t state);
    void no_neighbor(IfIndex link, const IpAddress& address);
    /// As the bridge had learned it: it ages, and goes when the port does.
    void forwarding(IfIndex port, const MacAddress& mac);
    void link(IfIndex link, bool up);
    /// Returns the moment of the acknowledgement: by then the kernel has made every change.
    Nanoseconds make();
    /// The same for a single change, which the kernel may refuse.
    bool try_make();

private:
    void add(std::uint16_t type, std::uint16_t flags, std::span<const std::uint8_t> body);
    void write(std::size_t begin, std::size_t end);
    void ask_for_ack(std::size_t message);
    int wait_for_ack(Nanoseconds& at);

    int fd_ = -1;
    std::uint32_t sequence_ = 0;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::size_t> starts_;  // Of each message in bytes_.
};

/// Notifications of some rtnetlink groups.
class Notices {
public:
    explicit Notices(std::initializer_list<unsigned> groups);
    ~Notices();
    Notices(const Notices&) = delete;
    Notices& operator=(const Notices&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    /// Calls on_message(type, body) for all that has come; never waits.
    using OnMessage = std::function<void(std::uint16_t, std::span<const std::uint8_t>)>;
    void read(const OnMessage& on_message);
    void discard();

private:
    int fd_ = -1;
    std::vector<std::uint8_t> buffer_;
};

/// The port of a forwarding entry that went (RTM_DELNEIGH of AF_BRIDGE), else nullopt.
std::optional<IfIndex> forwarding_gone(std::uint16_t type, std::span<const std::uint8_t> body);
/// Whether this is a host route (/32, /128) of the main table out of `link`: +1 new, -1 gone, 0 no.
int host_route_change(std::uint16_t type, std::span<const std::uint8_t> body);

IfIndex index_of(const char* name);

}  // namespace planed::bench
