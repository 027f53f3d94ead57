// SPDX-License-Identifier: Apache-2.0
#include "bench/fake_zebra.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/byte_reader.hpp"
#include "net/byte_writer.hpp"

namespace planed::bench {
namespace {

// Family D; daemon/zapi/dialect.cpp has the same numbers from the same vectors.
constexpr std::uint16_t kRouteAdd = 9;
constexpr std::uint16_t kRouteDelete = 10;
constexpr std::uint16_t kOwner = 11;
constexpr std::uint16_t kRedistributeAdd = 12;
constexpr std::uint16_t kRedistributeDelete = 13;
constexpr std::uint16_t kHello = 19;
constexpr std::uint16_t kCapabilities = 20;
constexpr std::uint16_t kRedistributeRouteAdd = 31;
constexpr std::uint16_t kError = 120;
constexpr std::uint16_t kClientCapabilities = 121;
constexpr std::uint16_t kNotifyRequest = 126;
constexpr std::uint8_t kBabel = 23;
constexpr std::uint32_t kNoVrf = 0xFFFF'FFFE;
constexpr std::uint32_t kInstalled = 2;
constexpr std::uint32_t kRemoved = 3;
constexpr std::uint32_t kNoSuchVrf = 1;
constexpr std::uint32_t kNoHandler = 2;
constexpr std::size_t kHeaderSize = 10;

// A message's header now, its length when the body stands behind it.
class Message {
public:
    Message(std::vector<std::uint8_t>& out, std::uint16_t command, std::uint32_t vrf = 0)
        : begin_(out.size()), out_(out), writer_(out) {
        writer_.u16(0);
        writer_.u8(0xFE);
        writer_.u8(6);
        writer_.u32(vrf);
        writer_.u16(command);
    }
    ~Message() { writer_.patch_u16(begin_, static_cast<std::uint16_t>(out_.size() - begin_)); }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    ByteWriter* operator->() { return &writer_; }
    void host_u32(std::uint32_t value) {  // In the machine's byte order, as zebra writes some.
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        writer_.bytes({bytes, sizeof value});
    }
    void prefix(const IpPrefix& value) {
        writer_.u8(value.address().is_v4() ? AF_INET : AF_INET6);
        writer_.u8(value.length());
        writer_.bytes(value.address().bytes());
    }

private:
    std::size_t begin_;
    std::vector<std::uint8_t>& out_;
    ByteWriter writer_;
};

std::uint32_t big(std::span<const std::uint8_t> bytes) {
    std::uint32_t value = 0;
    for (const std::uint8_t byte : bytes) {
        value = value << 8U | byte;
    }
    return value;
}

}  // namespace

FakeZebra::FakeZebra(const std::string& path)
    : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      buffer_(std::size_t{1024} * 1024) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0) {
        die("the fake zebra cannot listen");
    }
}

FakeZebra::~FakeZebra() {
    (void)::close(listener_);
    for (const Connection& connection : connections_) {
        (void)::close(connection.fd);
    }
}

void FakeZebra::watch(int fd, std::function<bool(Nanoseconds)> on_ready) {
    watched_ = fd;
    on_ready_ = std::move(on_ready);
}

bool FakeZebra::serve_until(const std::function<bool()>& done, Nanoseconds deadline) {
    while (!done()) {
        const Nanoseconds left = deadline - now();
        if (left <= 0) {
            return false;
        }
        turn(left);
    }
    return true;
}

void FakeZebra::await_routes(std::size_t count, Nanoseconds patience) {
    if (!serve_until([&] { return routes() == count; }, now() + patience)) {
        die("planed did not announce the hosts");
    }
}

void FakeZebra::serve_for(Nanoseconds duration) {
    (void)serve_until([] { return false; }, now() + duration);
}

void FakeZebra::turn(Nanoseconds timeout) {
    std::vector<pollfd> polled{{.fd = listener_, .events = POLLIN, .revents = 0},
                               {.fd = watched_, .events = POLLIN, .revents = 0}};
    for (const Connection& connection : connections_) {
        const int events = connection.out.empty() ? POLLIN : POLLIN | POLLOUT;
        polled.push_back({.fd = connection.fd, .events = static_cast<short>(events), .revents = 0});
    }
    const timespec wait{.tv_sec = timeout / kSecond, .tv_nsec = timeout % kSecond};
    if (::ppoll(polled.data(), polled.size(), &wait, nullptr) <= 0) {
        return;
    }
    if ((polled[1].revents & POLLIN) != 0 && !on_ready_(now())) {
        watched_ = -1;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        Connection& connection = connections_[i];
        const short events = polled[i + 2].revents;
        const bool alive = (events & (POLLIN | POLLHUP)) == 0 || read(connection);
        if (!alive) {
            (void)::close(connection.fd);
            continue;
        }
        flush(connection);
        if (kept != i) {
            connections_[kept] = std::move(connection);
        }
        ++kept;
    }
    connections_.resize(kept);
    if ((polled[0].revents & POLLIN) != 0) {
        accept();
    }
}

void FakeZebra::accept() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        connections_.push_back({.fd = fd, .in = {}, .out = {}});
    }
}

bool FakeZebra::read(Connection& connection) {
    const ssize_t count = ::recv(connection.fd, buffer_.data(), buffer_.size(), 0);
    const Nanoseconds at = now();
    if (count <= 0) {
        return count < 0 && errno == EAGAIN;
    }
    connection.in.insert(connection.in.end(), buffer_.begin(), buffer_.begin() + count);
    std::span<const std::uint8_t> rest(connection.in);
    while (rest.size() >= kHeaderSize && big(rest.first(2)) <= rest.size()) {
        const std::size_t length = big(rest.first(2));
        if (length < kHeaderSize) {
            die("planed wrote no ZAPI");
        }
        handle(connection, rest.first(length), at);
        rest = rest.subspan(length);
    }
    connection.in.erase(connection.in.begin(),
                        connection.in.end() - static_cast<std::ptrdiff_t>(rest.size()));
    return true;
}

void FakeZebra::handle(Connection& connection,
                       std::span<const std::uint8_t> message,
                       Nanoseconds at) {
    const std::uint32_t vrf = big(message.subspan(4, 4));
    const std::span<const std::uint8_t> body = message.subspan(kHeaderSize);
    if (vrf == kNoVrf) {
        Message(connection.out, kError, vrf).host_u32(kNoSuchVrf);
        return;
    }
    switch (big(message.subspan(8, 2))) {
        case kRouteAdd: handle_route(connection, body, false, at); return;
        case kRouteDelete: handle_route(connection, body, true, at); return;
        case kRedistributeAdd:
            if (body[1] == kBabel) {  // There is no bgpd here.
                dump(connection, body[0]);
            }
            return;
        case kHello: {
            Message answer(connection.out, kCapabilities);
            answer->zeros(5);
            answer->u32(0x100);
            answer->zeros(3);
            return;
        }
        case kRedistributeDelete:
        case kClientCapabilities:
        case kNotifyRequest: return;
        default: Message(connection.out, kError, vrf).host_u32(kNoHandler); return;
    }
}

void FakeZebra::handle_route(Connection& connection,
                             std::span<const std::uint8_t> body,
                             bool is_delete,
                             Nanoseconds at) {
    ByteReader reader(body);
    reader.skip(3 + 4 + 4 + 1);  // Type, instance, flags, what is in the message, SAFI.
    const Family family = reader.u8() == AF_INET ? Family::V4 : Family::V6;
    const std::uint8_t length = reader.u8();
    const auto address = IpAddress::from_bytes(family, reader.take((length + 7U) / 8));
    if (!address) {
        die("planed wrote a route that is no host route");
    }
    const IpPrefix prefix(*address, length);
    if (on_route) {
        on_route({.prefix = prefix, .is_delete = is_delete, .at = at});
    }
    std::uint32_t state = kInstalled;
    if (is_delete) {
        ++deletes_;
        state = kRemoved;
        if (routes_.erase(prefix) == 0) {
            return;
        }
    } else {
        ++adds_;
        reader.skip(2 + 4 + 1 + 1);  // One next hop: VRF, type, flags.
        const std::uint32_t link = reader.u32();
        const std::uint8_t distance = reader.u8();
        routes_[prefix] = {.link = link, .tag = reader.u32(), .distance = distance};
    }
    Message answer(connection.out, kOwner);
    answer.host_u32(state);
    answer.prefix(prefix);
    answer->zeros(1 + prefix.address().bytes().size());  // No source prefix.
    answer->u32(254);                                    // The main table.
    answer->u8(prefix.address().is_v4() ? 1 : 2);
    answer->u8(1);
}

void FakeZebra::dump(Connection& connection, std::uint8_t afi) {
    for (const auto& [prefix, held] : routes_) {
        if (prefix.address().is_v4() != (afi == 1)) {
            continue;
        }
        Message row(connection.out, kRedistributeRouteAdd);
        row->u8(kBabel);
        row->zeros(2);
        row->u32(0x08);  // Selected.
        row->u32(0x1F);  // Next hops, distance, metric, tag, MTU.
        row->u8(1);
        row.prefix(prefix);
        row->u16(1);
        row->u32(0);
        row->u8(1);
        row->u8(4);
        row->u32(held.link);
        row->u64(1);
        row->u8(held.distance);
        row->u32(0);
        row->u32(held.tag);
        row->u32(0);
    }
}

void FakeZebra::flush(Connection& connection) {
    while (!connection.out.empty()) {
        const ssize_t count =
            ::send(connection.fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
        if (count <= 0) {
            return;  // Full or gone: the next turn sees which.
        }
        connection.out.erase(connection.out.begin(), connection.out.begin() + count);
    }
}

}  // namespace planed::bench
