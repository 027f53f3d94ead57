// SPDX-License-Identifier: Apache-2.0
// The decoder of links: first byte even RTM_NEWLINK, odd RTM_DELLINK; then the payload.
#include <linux/rtnetlink.h>

#include "netlink/link_codec.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    if (const auto message = chosen({data, size}, RTM_NEWLINK, RTM_DELLINK)) {
        check(decode_link(*message, planed::Source::Event), message->payload.size());
    }
    return 0;
}
