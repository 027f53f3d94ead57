// SPDX-License-Identifier: Apache-2.0
#include "io/packet_socket.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <net/if_arp.h>
#include <unistd.h>

#include <fmt/core.h>
#include <linux/if_ether.h>
#include <linux/pkt_sched.h>

#include "io/socket_options.hpp"

namespace planed::io {
namespace {

bool attach_filter(int fd) {
    packet::Filter program = packet::filter();
    const sock_fprog whole{.len = static_cast<unsigned short>(program.size()),
                           .filter = program.data()};
    return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole) == 0;
}

bool join_all_groups(int fd, IfIndex link) {
    packet_mreq request{};
    request.mr_ifindex = static_cast<int>(number(link));
    request.mr_type = PACKET_MR_ALLMULTI;
    return ::setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

// All protocols: a bridge takes a port's ARP before a socket for ETH_P_ARP would be asked.
bool bind_to(int fd, IfIndex link) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(number(link));
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

sockaddr_ll bound_to(int fd) {
    sockaddr_ll address{};
    socklen_t size = sizeof address;
    (void)::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return address;
}

// All before the bind: until then the socket hears nothing, so nothing unfiltered can come in.
Result<void> prepare(int fd, const PacketSocket::Options& options) {
    if (!attach_filter(fd)) {
        return system_error("cannot attach a filter to a packet socket");
    }
    if (!set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)) {
        return system_error("cannot keep a packet socket from hearing what goes out");
    }
    if (!set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1)) {
        return system_error("cannot see VLAN tags on a packet socket");
    }
    set_receive_buffer(fd, options.receive_buffer);
    // Where a queue has classes, ours goes with what keeps the network together.
    (void)set_option(fd, SOL_SOCKET, SO_PRIORITY, TC_PRIO_CONTROL);
    return {};
}

std::optional<packet::Tag> tag_of(msghdr& header) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_PACKET || part->cmsg_type != PACKET_AUXDATA) {
            continue;
        }
        tpacket_auxdata beside{};
        std::memcpy(&beside, CMSG_DATA(part), sizeof beside);
        if ((beside.tp_status & TP_STATUS_VLAN_VALID) == 0) {
            return std::nullopt;
        }
        packet::Tag tag{.control = beside.tp_vlan_tci};
        if ((beside.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0) {
            tag.protocol = beside.tp_vlan_tpid;
        }
        return tag;
    }
    return std::nullopt;
}

}  // namespace

FrameBatch::FrameBatch(std::size_t frames) : slots_(frames), headers_(frames) {
    frames_.reserve(frames);
}

void FrameBatch::prepare() {
    frames_.clear();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        Slot& slot = slots_[i];
        slot.part = {.iov_base = slot.bytes.data(), .iov_len = slot.bytes.size()};
        headers_[i] = {};
        headers_[i].msg_hdr.msg_iov = &slot.part;
        headers_[i].msg_hdr.msg_iovlen = 1;
        headers_[i].msg_hdr.msg_control = slot.control.data();
        headers_[i].msg_hdr.msg_controllen = slot.control.size();
    }
}

Result<PacketSocket> PacketSocket::open(const Options& options) {
    if (options.link == IfIndex::None) {
        return fail(Errc::Invalid, "a packet socket needs an interface");  // 0 would bind to all.
    }
    const int fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return system_error("cannot open a packet socket");
    }
    PacketSocket socket(fd);
    if (auto prepared = prepare(fd, options); !prepared) {
        return tl::unexpected(prepared.error());
    }
    if (!bind_to(fd, options.link)) {
        return system_error(
            fmt::format("cannot bind a packet socket to interface {}", number(options.link)));
    }
    if (bound_to(fd).sll_hatype != ARPHRD_ETHER) {
        return fail(Errc::Unsupported,
                    fmt::format("interface {} is not Ethernet", number(options.link)));
    }
    if (options.multicast == Multicast::All && !join_all_groups(fd, options.link)) {
        return system_error(
            fmt::format("cannot join all groups on interface {}", number(options.link)));
    }
    return socket;
}

PacketSocket::~PacketSocket() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

PacketSocket::PacketSocket(PacketSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

PacketSocket& PacketSocket::operator=(PacketSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

PacketSocket::Received PacketSocket::receive(FrameBatch& batch) {
    batch.prepare();
    int count = -1;
    do {
        count = ::recvmmsg(fd_,
                           batch.headers_.data(),
                           static_cast<unsigned>(batch.headers_.size()),
                           MSG_DONTWAIT,
                           nullptr);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return without_frames(errno);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        mmsghdr& header = batch.headers_[i];
        batch.frames_.push_back({.bytes = std::span(batch.slots_[i].bytes).first(header.msg_len),
                                 .tag = tag_of(header.msg_hdr)});
    }
    return {.kind = count == 0 ? Kind::Nothing : Kind::Frames, .frames = batch.frames_};
}

PacketSocket::Received PacketSocket::without_frames(int error) const {
    if (error == EAGAIN) {
        return {};
    }
    if (error != ENETDOWN) {
        return {.kind = Kind::Failed, .system_errno = error};
    }
    return {.kind = is_gone() ? Kind::Gone : Kind::Down, .system_errno = error};
}

// The kernel takes the index of an interface that is no more out of the binding (packet_notifier,
// net/packet/af_packet.c).
bool PacketSocket::is_gone() const {
    return bound_to(fd_).sll_ifindex <= 0;
}

Result<void> PacketSocket::send(std::span<const std::uint8_t> frame) {
    ssize_t count = -1;
    do {
        count = ::send(fd_, frame.data(), frame.size(), MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return system_error("cannot send a frame");
    }
    return {};
}

PacketSocket::Statistics PacketSocket::statistics() {
    tpacket_stats counted{};
    socklen_t size = sizeof counted;
    (void)::getsockopt(fd_, SOL_PACKET, PACKET_STATISTICS, &counted, &size);
    // The kernel counts what it dropped among the packets too.
    return {.received = counted.tp_packets - counted.tp_drops, .dropped = counted.tp_drops};
}

int PacketSocket::receive_buffer() const {
    int value = 0;
    socklen_t size = sizeof value;
    (void)::getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &value, &size);
    return value;
}

}  // namespace planed::io
