// SPDX-License-Identifier: Apache-2.0
#include "netlink/attributes.hpp"

#include <algorithm>

#include <linux/netlink.h>
#include <netlink/attr.h>

namespace planed::netlink {

std::optional<Attribute> AttributeReader::next() {
    if (failed_ || rest_.empty()) {
        return std::nullopt;
    }
    nlattr head{};
    if (rest_.size() < sizeof head) {
        fail(offset_, Errc::Truncated, "attribute header cut short");
        return std::nullopt;
    }
    std::memcpy(&head, rest_.data(), sizeof head);
    if (head.nla_len < sizeof head) {
        fail(offset_, Errc::Malformed, "attribute shorter than its header");
        return std::nullopt;
    }
    if (head.nla_len > rest_.size()) {
        fail(offset_, Errc::Truncated, "attribute cut short");
        return std::nullopt;
    }
    const Attribute attribute{
        .type = static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
        .payload = rest_.subspan(sizeof head, head.nla_len - sizeof head),
        .offset = offset_ + sizeof head,
    };
    // The last attribute may lack its padding.
    const std::size_t padded =
        (head.nla_len + std::size_t{NLA_ALIGNTO} - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
    const std::size_t step = std::min(rest_.size(), padded);
    rest_ = rest_.subspan(step);
    offset_ += step;
    return attribute;
}

IpAddress AttributeReader::address(const Attribute& attribute, Family family) {
    const auto address = IpAddress::from_bytes(family, attribute.payload);
    if (!address) {
        fail(attribute.offset, Errc::Malformed, "address of wrong length");
        return {};
    }
    return *address;
}

MacAddress AttributeReader::mac(const Attribute& attribute) {
    return MacAddress::from_bytes(attribute.payload).value_or(MacAddress{});
}

std::string_view AttributeReader::text(const Attribute& attribute) {
    const auto& payload = attribute.payload;
    const auto end = std::find(payload.begin(), payload.end(), std::uint8_t{0});
    return {reinterpret_cast<const char*>(payload.data()),
            static_cast<std::size_t>(end - payload.begin())};
}

void AttributeReader::fail(std::size_t offset, Errc code, const char* what) {
    if (!failed_) {
        failed_ = true;
        offset_ = offset;
        code_ = code;
        what_ = what;
    }
}

}  // namespace planed::netlink
