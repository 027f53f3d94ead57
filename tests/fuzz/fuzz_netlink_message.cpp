// SPDX-License-Identifier: Apache-2.0
// A whole datagram, as the socket hands it over, through the walker and every decoder.
#include "netlink/decode.hpp"
#include "netlink/message.hpp"
#include "netlink/socket_diag.hpp"
#include "netlink/table_codec.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    MessageReader reader({data, size});
    std::size_t walked = 0;
    while (true) {
        const auto message = reader.next();
        if (!message) {
            check_error(message.error(), size);
            return 0;
        }
        if (!*message) {
            return 0;
        }
        const std::size_t end = (*message)->offset + (*message)->payload.size();
        PLANED_ASSERT(end > walked);  // Else it could walk for ever.
        PLANED_ASSERT(end <= size);
        walked = end;
        check(decode(**message, planed::Source::Event), size);
        if (const auto table = decode_neighbor_table(**message); !table) {
            check_error(table.error(), size);
        }
        if (const auto peer = decode_bgp_peer(**message); !peer) {
            check_error(peer.error(), size);
        }
    }
}
