// SPDX-License-Identifier: Apache-2.0
#include "sim/zebra_codec.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>

namespace planed::sim {
namespace {

constexpr Numbers kFamilyA{.hello = 18,
                           .capabilities = 19,
                           .client_capabilities = 119,
                           .error = 118,
                           .route_add = 8,
                           .route_delete = 9,
                           .notify_owner = 10,
                           .notify_request = 124,
                           .redistribute_add = 11,
                           .redistribute_delete = 12,
                           .row_add = 30,
                           .row_delete = 31,
                           .vrf_add = 33,
                           .close_notify = 125,
                           .babel = 22,
                           .bgp = 9};
constexpr Numbers kFamilyD{.hello = 19,
                           .capabilities = 20,
                           .client_capabilities = 121,
                           .error = 120,
                           .route_add = 9,
                           .route_delete = 10,
                           .notify_owner = 11,
                           .notify_request = 126,
                           .redistribute_add = 12,
                           .redistribute_delete = 13,
                           .row_add = 31,
                           .row_delete = 32,
                           .vrf_add = 33,
                           .close_notify = 127,
                           .babel = 23,
                           .bgp = 10};
constexpr std::size_t kHeader = 10;
constexpr std::uint32_t kOurFields = 0x0B;  // Next hops, distance, tag.
constexpr std::uint32_t kMetricField = 0x04;

/// Big-endian fields from the front; running out is remembered.
class Fields {
public:
    explicit Fields(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint32_t take(std::size_t width) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            value = (value << 8U) | byte();
        }
        return value;
    }
    std::uint8_t byte() {
        if (at_ == bytes_.size()) {
            short_ = true;
            return 0;
        }
        return bytes_[at_++];
    }
    IpAddress address(Family family) {
        IpAddress::Bytes bytes{};
        for (std::size_t i = 0; i < bits_of(family) / 8U; ++i) {
            bytes.at(i) = byte();
        }
        return family == Family::V4 ? IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3])
                                    : IpAddress::v6(bytes);
    }
    [[nodiscard]] bool exact() const { return !short_ && at_ == bytes_.size(); }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    bool short_ = false;
};

void append(ByteString& out, std::uint64_t value, std::size_t width) {
    for (std::size_t i = width; i-- > 0;) {
        out.push_back(static_cast<std::uint8_t>((value >> (8U * i)) & 0xFFU));
    }
}

void append_host_order(ByteString& out, std::uint32_t value) {
    std::array<std::uint8_t, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_address(ByteString& out, const IpAddress& address) {
    out.insert(out.end(), address.bytes().begin(), address.bytes().end());
}

std::uint8_t address_family(const RouteKey& key) {
    return key.prefix.address().is_v4() ? 2 : 10;
}

void append_message(ByteString& out, std::uint16_t command, VrfId vrf, const ByteString& body) {
    append(out, kHeader + body.size(), 2);
    append(out, 0xFE06, 2);
    append(out, number(vrf), 4);
    append(out, command, 2);
    out.insert(out.end(), body.begin(), body.end());
}

ClientMessage bad(std::string why) {
    return BadMessage{.why = std::move(why)};
}

// Reading -----------------------------------------------------------------------------------------

ClientMessage read_hello(Release release, Fields body) {
    HelloMessage hello{.type = body.byte()};
    const bool plain = body.take(2) == 0 && body.take(4) == 0;
    hello.notify = is_family_a(release) && body.byte() == 1;
    const bool asynchronous = body.byte() == 0;
    if (!body.exact() || !plain || !asynchronous) {
        return bad("HELLO");
    }
    return hello;
}

struct RouteHead {
    RouteKey key{};
    std::uint32_t fields = 0;
    std::string fault{};
};

RouteHead read_route_head(Release release, VrfId vrf, Fields& body) {
    RouteHead head;
    if (body.byte() != numbers_of(release).babel || body.take(2) != 0) {
        head.fault = "route of a type or instance that is not ours";
    }
    if (body.take(4) != 0) {
        head.fault = "route flags";
    }
    head.fields = body.take(4);
    if (body.byte() != 1) {
        head.fault = "route that is not unicast";
    }
    const std::uint8_t address_family = body.byte();
    const std::uint8_t length = body.byte();
    const Family family = address_family == 2 ? Family::V4 : Family::V6;
    if ((address_family != 2 && address_family != 10) || length != bits_of(family)) {
        head.fault = "prefix that is not a host";
        return head;
    }
    head.key = {.vrf = vrf, .prefix = host_prefix(body.address(family))};
    return head;
}

ClientMessage read_add(Release release, VrfId vrf, Fields body) {
    const RouteHead head = read_route_head(release, vrf, body);
    if (!head.fault.empty()) {
        return bad(head.fault);
    }
    if ((head.fields & ~kMetricField) != kOurFields || body.take(2) != 1 ||
        body.take(4) != number(vrf)) {
        return bad("ADD of an unexpected form");
    }
    AddMessage add{.key = head.key};
    const IpAddress& host = head.key.prefix.address();
    const std::uint8_t type = body.byte();
    const std::uint8_t flags = body.byte();
    add.route.gateway_is_host = type != 1;
    if (add.route.gateway_is_host) {
        const bool right = type == (host.is_v4() ? 3 : 5) && flags == 1;
        if (!right || body.address(host.family()) != host) {
            return bad("gateway that is not the host itself");
        }
    } else if (flags != 0) {
        return bad("onlink without a gateway, which the kernel refuses");
    }
    add.route.out = IfIndex{body.take(4)};
    add.route.distance = body.byte();
    add.route.metric = (head.fields & kMetricField) != 0 ? body.take(4) : 0;
    add.route.tag = body.take(4);
    return body.exact() ? ClientMessage(add) : bad("ADD of a wrong length");
}

ClientMessage read_delete(Release release, VrfId vrf, Fields body) {
    const RouteHead head = read_route_head(release, vrf, body);
    if (!head.fault.empty() || head.fields != 0 || !body.exact()) {
        return bad("DELETE: " + head.fault);
    }
    return DeleteMessage{.key = head.key};
}

ClientMessage read_redistribute(Release release, bool on, VrfId vrf, Fields body) {
    const std::uint8_t afi = body.byte();
    const std::uint8_t type = body.byte();
    const bool of_bgp = type == numbers_of(release).bgp;
    const bool known = (of_bgp || type == numbers_of(release).babel) && body.take(2) == 0;
    if (!known || (afi != 1 && afi != 2) || !body.exact()) {
        return bad("REDISTRIBUTE");
    }
    return RedistributeMessage{
        .on = on, .of_bgp = of_bgp, .family = afi == 1 ? Family::V4 : Family::V6, .vrf = vrf};
}

ClientMessage read_capability(Fields body) {
    switch (body.take(4)) {
        case 1: {
            const std::uint32_t seconds = body.take(4);
            const GracefulMessage graceful{.stale_seconds = seconds, .vrf = VrfId{body.take(4)}};
            return body.exact() ? ClientMessage(graceful) : bad("GR_CAPABILITIES");
        }
        case 2: {
            const std::uint32_t afi = body.take(4);
            const bool unicast = body.take(4) == 1;
            const VrfId vrf{body.take(4)};
            if (!unicast || (afi != 1 && afi != 2) || !body.exact()) {
                return bad("ROUTE_UPDATE_COMPLETE");
            }
            return CompleteMessage{.family = afi == 1 ? Family::V4 : Family::V6, .vrf = vrf};
        }
        case 4: {
            const DisableMessage disable{.vrf = VrfId{body.take(4)}};
            return body.exact() ? ClientMessage(disable) : bad("GR_DISABLE");
        }
        default: return bad("CLIENT_CAPABILITIES");
    }
}

ClientMessage read(Release release, std::uint16_t command, VrfId vrf, Fields body) {
    const Numbers& numbers = numbers_of(release);
    if (command == numbers.hello) {
        return read_hello(release, body);
    }
    if (command == numbers.route_add) {
        return read_add(release, vrf, body);
    }
    if (command == numbers.route_delete) {
        return read_delete(release, vrf, body);
    }
    if (command == numbers.redistribute_add || command == numbers.redistribute_delete) {
        return read_redistribute(release, command == numbers.redistribute_add, vrf, body);
    }
    if (command == numbers.client_capabilities) {
        return read_capability(body);
    }
    if (command == numbers.notify_request) {
        return NotifyMessage{.on = body.byte() == 1};
    }
    return command == 0xFFFF ? ClientMessage(UnknownMessage{.vrf = vrf})
                             : bad(fmt::format("command {}", command));
}

// Writing -----------------------------------------------------------------------------------------

ByteString row(Release release, const RouteKey& key, const HostRoute& route) {
    ByteString body;
    append(body, numbers_of(release).babel, 1);
    append(body, 0, 2);
    append(body, 0x08, 4);                                   // Selected.
    append(body, 0x17U | (route.tag != 0 ? 0x08U : 0U), 4);  // Next hops, distance, metric, MTU.
    append(body, 1, 1);
    append(body, address_family(key), 1);
    append(body, key.prefix.length(), 1);
    append_address(body, key.prefix.address());
    append(body, 1, 2);
    append(body, number(key.vrf), 4);
    const bool v4 = key.prefix.address().is_v4();
    append(body, !route.gateway_is_host ? 1U : (v4 ? 3U : 5U), 1);
    append(body, route.gateway_is_host ? 0x05U : 0x04U, 1);  // Weight, and onlink.
    if (route.gateway_is_host) {
        append_address(body, key.prefix.address());
    }
    append(body, number(route.out), 4);
    append(body, 1, is_family_a(release) ? 4 : 8);
    append(body, route.distance, 1);
    append(body, route.metric, 4);
    if (route.tag != 0) {
        append(body, route.tag, 4);
    }
    append(body, 0, 4);
    return body;
}

}  // namespace

const Numbers& numbers_of(Release release) {
    return is_family_a(release) ? kFamilyA : kFamilyD;
}

std::optional<ClientMessage> take_message(Release release, ByteString& stream) {
    if (stream.size() < kHeader) {
        return std::nullopt;
    }
    Fields header(stream);
    const std::size_t length = header.take(2);
    if (header.take(2) != 0xFE06 || length < kHeader || length > 16384) {
        stream.clear();
        return bad("header");
    }
    if (stream.size() < length) {
        return std::nullopt;
    }
    const VrfId vrf{header.take(4)};
    const auto command = static_cast<std::uint16_t>(header.take(2));
    const auto body = std::span<const std::uint8_t>(stream).subspan(kHeader, length - kHeader);
    ClientMessage message = read(release, command, vrf, Fields(body));
    stream.erase(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(length));
    return message;
}

void write_capabilities(Release release, ByteString& out) {
    ByteString body;
    append(body, 0, release == Release::Master ? 1 : 4);  // VRF backend.
    append(body, 0, 1);
    append(body, 256, 4);
    append(body, 0, is_family_a(release) ? 1 : 3);
    append_message(out, numbers_of(release).capabilities, VrfId::Default, body);
}

void write_vrf_add(Release release, ByteString& out) {
    append_message(out, numbers_of(release).vrf_add, VrfId::Default, ByteString(76, 0));
}

void write_notice(Release release, const RouteKey& key, Notice notice, ByteString& out) {
    ByteString body;
    append_host_order(body, static_cast<std::uint32_t>(notice));
    append(body, address_family(key), 1);
    append(body, key.prefix.length(), 1);
    append_address(body, key.prefix.address());
    if (!is_family_a(release)) {
        append(body, 0, 1);
        body.resize(body.size() + key.prefix.address().bytes().size());
    }
    append(body, 254, 4);
    append(body, key.prefix.address().is_v4() ? 1 : 2, 1);
    append(body, 1, 1);
    append_message(out, numbers_of(release).notify_owner, key.vrf, body);
}

void write_row(Release release, const RouteKey& key, const HostRoute& route, ByteString& out) {
    append_message(out, numbers_of(release).row_add, key.vrf, row(release, key, route));
}

void write_row_gone(Release release, const RouteKey& key, const HostRoute& route, ByteString& out) {
    append_message(out, numbers_of(release).row_delete, key.vrf, row(release, key, route));
}

// By a neighbour's link-local address; what stands behind the prefix is not ours to read.
void write_plane_row(Release release, const RouteKey& key, bool gone, ByteString& out) {
    const Numbers& numbers = numbers_of(release);
    ByteString body;
    append(body, numbers.bgp, 1);
    append(body, 0, 2);
    append(body, 0x08, 4);
    append(body, 0x17, 4);
    append(body, 1, 1);
    append(body, address_family(key), 1);
    append(body, key.prefix.length(), 1);
    append_address(body, key.prefix.address());
    append(body, 2, 2);  // Two next hops, of forms that planed never sends.
    body.resize(body.size() + 40, 0xEE);
    append_message(out, gone ? numbers.row_delete : numbers.row_add, key.vrf, body);
}

void write_bgp_closed(Release release, ByteString& out) {
    ByteString body;
    append(body, numbers_of(release).bgp, 1);
    append(body, 0, 2 + 4);
    append_message(out, numbers_of(release).close_notify, VrfId::Default, body);
}

void write_error(Release release, VrfId vrf, std::uint32_t code, ByteString& out) {
    ByteString body;
    append_host_order(body, code);
    append_message(out, numbers_of(release).error, vrf, body);
}

}  // namespace planed::sim
