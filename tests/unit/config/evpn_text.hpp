// SPDX-License-Identifier: Apache-2.0
// A file with an EVPN speaker, to which a test adds what it is about.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace planed::config {

/// `more`, keys of `evpn` indented by two, begins in line 5.
inline std::string speaker_and(std::string_view more) {
    return fmt::format(
        "evpn:\n"
        "  router_id: 10.66.0.1\n"
        "  local_as: 65000\n"
        "  peers: [{{address: 10.66.0.2, remote_as: 65000}}]\n"
        "{}",
        more);
}

}  // namespace planed::config
