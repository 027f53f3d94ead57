// SPDX-License-Identifier: Apache-2.0
// One EVPN route: a byte of type, then its body. What is taken is written octet by octet as it was,
// and its key is the same however often it is made.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bgp/routes.hpp"
#include "net/assert.hpp"

namespace planed::bgp {
namespace {

void check(std::uint8_t type, std::span<const std::uint8_t> body) {
    const auto route = decode_route(type, body);
    if (!route) {
        PLANED_ASSERT(route.error().offset.value() <= body.size());
        return;
    }
    if (!*route) {
        PLANED_ASSERT(type == 0 || type > 5);
        return;
    }
    Bytes out;
    encode_route(**route, out);
    PLANED_ASSERT(out.size() == encoded_size(**route));
    PLANED_ASSERT(out[0] == type);
    PLANED_ASSERT(std::equal(out.begin() + 2, out.end(), body.begin(), body.end()));
    const RouteKey key(**route);
    PLANED_ASSERT(RouteKey(key.route()) == key);
    PLANED_ASSERT(!to_string(key.route()).empty());
}

}  // namespace
}  // namespace planed::bgp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 0) {
        planed::bgp::check(data[0], {data + 1, size - 1});
    }
    return 0;
}
