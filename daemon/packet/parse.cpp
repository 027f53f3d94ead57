// SPDX-License-Identifier: Apache-2.0
#include "packet/parse.hpp"

#include "packet/arp.hpp"
#include "packet/nd.hpp"

namespace planed::packet {

tl::expected<Heard, Refusal> parse(const Frame& frame) {
    const auto ethernet = read_ethernet(frame);
    if (!ethernet) {
        return tl::unexpected(ethernet.error());
    }
    switch (ethernet->type) {
        case kTypeArp: return parse_arp(*ethernet);
        case kTypeIpv6: return parse_nd(*ethernet);
        default: return tl::unexpected(Refusal::NotOurs);
    }
}

}  // namespace planed::packet
