// SPDX-License-Identifier: Apache-2.0
#include "bench/kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

namespace planed::bench {
namespace {

constexpr std::size_t kPiece = std::size_t{32} * 1024;  // Of one write.
constexpr int kSendBuffer = 4 << 20;
constexpr int kReceiveBuffer = 256 << 20;

constexpr std::size_t aligned(std::size_t size) {
    return (size + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
}

template <class T>
void append(std::vector<std::uint8_t>& out, const T& value) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), begin, begin + sizeof value);
}

void append_attribute(std::vector<std::uint8_t>& out,
                      std::uint16_t type,
                      std::span<const std::uint8_t> value) {
    append(out,
           nlattr{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + value.size()),
                  .nla_type = type});
    out.insert(out.end(), value.begin(), value.end());
    out.resize(aligned(out.size()));
}

template <class T>
std::optional<T> head_of(std::span<const std::uint8_t> body) {
    if (body.size() < sizeof(T)) {
        return std::nullopt;
    }
    T value{};
    std::memcpy(&value, body.data(), sizeof value);
    return value;
}

int open_socket() {
    const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) {
        die("no netlink socket");
    }
    return fd;
}

ndmsg entry(int family, IfIndex link, std::uint16_t state, std::uint8_t flags) {
    ndmsg head{};
    head.ndm_family = static_cast<std::uint8_t>(family);
    head.ndm_ifindex = static_cast<int>(number(link));
    head.ndm_state = state;
    head.ndm_flags = flags;
    return head;
}

int family_of(const IpAddress& address) {
    return address.is_v4() ? AF_INET : AF_INET6;
}

}  // namespace

// Changes -----------------------------------------------------------------------------------------

Changes::Changes() : fd_(open_socket()) {
    (void)::setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
    const int on = 1;
    (void)::setsockopt(fd_, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
}

Changes::~Changes() {
    (void)::close(fd_);
}

void Changes::neighbor(IfIndex link,
                       const IpAddress& address,
                       const MacAddress& mac,
                       std::uint16_t state) {
    std::vector<std::uint8_t> body;
    append(body, entry(family_of(address), link, state, 0));
    append_attribute(body, NDA_DST, address.bytes());
    append_attribute(body, NDA_LLADDR, mac.bytes());
    add(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, body);
}

void Changes::no_neighbor(IfIndex link, const IpAddress& address) {
    std::vector<std::uint8_t> body;
    append(body, entry(family_of(address), link, 0, 0));
    append_attribute(body, NDA_DST, address.bytes());
    add(RTM_DELNEIGH, 0, body);
}

void Changes::forwarding(IfIndex port, const MacAddress& mac) {
    std::vector<std::uint8_t> body;
    append(body, entry(AF_BRIDGE, port, kReachable, NTF_MASTER));
    append_attribute(body, NDA_LLADDR, mac.bytes());
    add(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, body);
}

void Changes::link(IfIndex link, bool up) {
    std::vector<std::uint8_t> body;
    ifinfomsg head{};
    head.ifi_index = static_cast<int>(number(link));
    head.ifi_flags = up ? static_cast<unsigned>(IFF_UP) : 0U;
    head.ifi_change = IFF_UP;
    append(body, head);
    add(RTM_NEWLINK, 0, body);
}

void Changes::add(std::uint16_t type, std::uint16_t flags, std::span<const std::uint8_t> body) {
    starts_.push_back(bytes_.size());
    append(bytes_,
           nlmsghdr{.nlmsg_len = static_cast<std::uint32_t>(sizeof(nlmsghdr) + body.size()),
                    .nlmsg_type = type,
                    .nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags),
                    .nlmsg_seq = ++sequence_,
                    .nlmsg_pid = 0});
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    bytes_.resize(aligned(bytes_.size()));
}

Nanoseconds Changes::make() {
    Nanoseconds acked = now();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : bytes_.size();
        if (i + 1 < starts_.size() && end - starts_[begin] < kPiece) {
            continue;
        }
        ask_for_ack(i);
        write(starts_[begin], end);
        errno = wait_for_ack(acked);
        if (errno != 0) {
            die("the kernel refused a change");
        }
        begin = i + 1;
    }
    bytes_.clear();
    starts_.clear();
    return acked;
}

bool Changes::try_make() {
    Nanoseconds acked = 0;
    ask_for_ack(0);
    write(0, bytes_.size());
    bytes_.clear();
    starts_.clear();
    return wait_for_ack(acked) == 0;
}

void Changes::ask_for_ack(std::size_t message) {
    nlmsghdr header{};
    std::memcpy(&header, &bytes_[starts_[message]], sizeof header);
    header.nlmsg_flags |= NLM_F_ACK;
    std::memcpy(&bytes_[starts_[message]], &header, sizeof header);
}

void Changes::write(std::size_t begin, std::size_t end) {
    if (::send(fd_, &bytes_[begin], end - begin, 0) != static_cast<ssize_t>(end - begin)) {
        die("the kernel took no change");
    }
}

int Changes::wait_for_ack(Nanoseconds& at) {
    std::uint8_t buffer[4096];
    if (::recv(fd_, buffer, sizeof buffer, 0) < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof(int))) {
        die("no acknowledgement");
    }
    at = now();
    int error = 0;
    std::memcpy(&error, &buffer[NLMSG_HDRLEN], sizeof error);
    return -error;
}

// Notices -----------------------------------------------------------------------------------------

Notices::Notices(std::initializer_list<unsigned> groups)
    : fd_(open_socket()), buffer_(std::size_t{64} * 1024) {
    (void)::setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        die("cannot bind a netlink socket");
    }
    for (const unsigned group : groups) {
        if (::setsockopt(fd_, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
            die("cannot join a netlink group");
        }
    }
}

Notices::~Notices() {
    (void)::close(fd_);
}

void Notices::read(const OnMessage& on_message) {
    while (true) {
        const ssize_t count = ::recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count < 0) {
            die("notifications were lost");
        }
        std::span<const std::uint8_t> rest(buffer_.data(), static_cast<std::size_t>(count));
        while (const auto header = head_of<nlmsghdr>(rest)) {
            if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > rest.size()) {
                break;
            }
            on_message(header->nlmsg_type,
                       rest.subspan(NLMSG_HDRLEN, header->nlmsg_len - NLMSG_HDRLEN));
            rest = rest.subspan(std::min(aligned(header->nlmsg_len), rest.size()));
        }
    }
}

void Notices::discard() {
    read([](std::uint16_t, std::span<const std::uint8_t>) {});
}

std::optional<IfIndex> forwarding_gone(std::uint16_t type, std::span<const std::uint8_t> body) {
    const auto head = head_of<ndmsg>(body);
    if (type != RTM_DELNEIGH || !head || head->ndm_family != AF_BRIDGE) {
        return std::nullopt;
    }
    return IfIndex{static_cast<std::uint32_t>(head->ndm_ifindex)};
}

int host_route_change(std::uint16_t type, std::span<const std::uint8_t> body) {
    const auto head = head_of<rtmsg>(body);
    if (!head || (type != RTM_NEWROUTE && type != RTM_DELROUTE) ||
        head->rtm_table != RT_TABLE_MAIN || head->rtm_type != RTN_UNICAST ||
        head->rtm_dst_len != (head->rtm_family == AF_INET ? 32 : 128)) {
        return 0;
    }
    return type == RTM_NEWROUTE ? 1 : -1;
}

IfIndex index_of(const char* name) {
    const unsigned index = ::if_nametoindex(name);
    if (index == 0) {
        die(name);
    }
    return IfIndex{index};
}

}  // namespace planed::bench
