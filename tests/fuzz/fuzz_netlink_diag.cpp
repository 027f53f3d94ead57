// SPDX-License-Identifier: Apache-2.0
// Rows of sock_diag: the payload of a SOCK_DIAG_BY_FAMILY.
#include <linux/sock_diag.h>

#include "netlink/socket_diag.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    const Message message{.type = SOCK_DIAG_BY_FAMILY, .payload = {data, size}};
    const auto peer = decode_bgp_peer(message);
    if (!peer) {
        check_error(peer.error(), size);
    }
    return 0;
}
