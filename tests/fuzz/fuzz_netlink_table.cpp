// SPDX-License-Identifier: Apache-2.0
// The fill of the neighbour tables: the payload of an RTM_NEWNEIGHTBL.
#include <linux/rtnetlink.h>

#include "netlink/table_codec.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    const Message message{.type = RTM_NEWNEIGHTBL, .payload = {data, size}};
    if (const auto table = decode_neighbor_table(message); !table) {
        check_error(table.error(), size);
    }
    return 0;
}
