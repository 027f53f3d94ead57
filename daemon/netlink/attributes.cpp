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
    // libnl reads through the pointer; no access here depends on its alignment.
    const auto* head = reinterpret_cast<const nlattr*>(rest_.data());
    if (nla_ok(head, static_cast<int>(rest_.size())) == 0) {
        const bool lies = rest_.size() >= sizeof(nlattr) && nla_len(head) < 0;
        fail(offset_,
             lies ? Errc::Malformed : Errc::Truncated,
             lies ? "attribute shorter than its header" : "attribute cut short");
        return std::nullopt;
    }
    const auto length = static_cast<std::size_t>(nla_len(head));
    const Attribute attribute{.type = static_cast<std::uint16_t>(nla_type(head)),
                              .payload = rest_.subspan(sizeof(nlattr), length),
                              .offset = offset_ + sizeof(nlattr)};
    const auto padded = static_cast<std::size_t>(nla_total_size(static_cast<int>(length)));
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
