// SPDX-License-Identifier: Apache-2.0
// The decoder of neighbours and forwarding entries: first byte even RTM_NEWNEIGH, odd RTM_DELNEIGH;
// then the payload.
#include <linux/rtnetlink.h>

#include "netlink/neighbor_codec.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    if (const auto message = chosen({data, size}, RTM_NEWNEIGH, RTM_DELNEIGH)) {
        check(decode_neighbor(*message, planed::Source::Event), message->payload.size());
    }
    return 0;
}
