// SPDX-License-Identifier: Apache-2.0
// Netlink attributes (type, length, payload). Fails sticky, as ByteReader does: walk, read what is
// known, ask once. Every length that lies is an error with its offset; what libnl's nla_parse does
// with one (end quietly) would turn a damaged row into a row with fields missing. Of libnl's
// nla_ok, nla_next and the like, a message with 40 attributes needs 200 calls, which took most of
// its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

struct Attribute {
    std::uint16_t type = 0;  // Without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
    Bytes payload{};
    std::size_t offset = 0;  // Of the payload, from the datagram's start.
};

class AttributeReader {
public:
    /// `offset`: where `bytes` begin in the datagram, for errors.
    AttributeReader(Bytes bytes, std::size_t offset) : rest_(bytes), offset_(offset) {}
    explicit AttributeReader(const Attribute& nest) : AttributeReader(nest.payload, nest.offset) {}

    /// The next attribute; nullopt at the end or once something was wrong.
    std::optional<Attribute> next();

    /// A number in host byte order, of exactly this size.
    template <class Number>
    Number number(const Attribute& attribute) {
        static_assert(std::is_unsigned_v<Number>);
        Number value = 0;
        if (attribute.payload.size() == sizeof value) {
            std::memcpy(&value, attribute.payload.data(), sizeof value);
        } else {
            fail(attribute.offset, Errc::Malformed, "attribute of wrong length");
        }
        return value;
    }
    IpAddress address(const Attribute& attribute, Family family);
    /// Zero where the link layer has other addresses than Ethernet's.
    static MacAddress mac(const Attribute& attribute);
    /// Up to the terminating NUL.
    static std::string_view text(const Attribute& attribute);

    [[nodiscard]] bool ok() const { return !failed_; }
    [[nodiscard]] tl::unexpected<Error> error() const { return fail_at(offset_, code_, what_); }
    /// The first fault wins; `what` is a literal.
    void fail(std::size_t offset, Errc code, const char* what);

private:
    Bytes rest_;
    std::size_t offset_;
    bool failed_ = false;
    Errc code_ = Errc::Malformed;
    const char* what_ = "";
};

}  // namespace planed::netlink
