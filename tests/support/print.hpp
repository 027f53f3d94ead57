// SPDX-License-Identifier: Apache-2.0
// How values look in a failed expectation. GTest finds these by the values' namespace.
#pragma once

#include <optional>
#include <ostream>

#include "core/output.hpp"
#include "core/route.hpp"
#include "net/ip_address.hpp"
#include "net/ip_prefix.hpp"
#include "net/mac_address.hpp"
#include "telemetry/note.hpp"

namespace planed {

inline void PrintTo(const IpAddress& address, std::ostream* out) {  // NOLINT: GTest's name.
    *out << address.to_string();
}
inline void PrintTo(const IpPrefix& prefix, std::ostream* out) {  // NOLINT
    *out << prefix.to_string();
}
inline void PrintTo(const MacAddress& mac, std::ostream* out) {  // NOLINT
    *out << mac.to_string();
}
inline void PrintTo(const IfIndex& link, std::ostream* out) {  // NOLINT
    *out << "link " << number(link);
}
inline void PrintTo(const NeighborKey& key, std::ostream* out) {  // NOLINT
    *out << key.address.to_string() << " on link " << number(key.link);
}
inline void PrintTo(const RouteKey& key, std::ostream* out) {  // NOLINT
    *out << key.prefix.to_string() << " vrf " << number(key.vrf);
}
inline void PrintTo(const HostRoute& route, std::ostream* out) {  // NOLINT
    *out << "via link " << number(route.out) << (route.gateway_is_host ? " gateway itself" : "")
         << " distance " << int{route.distance} << " metric " << route.metric << " tag "
         << route.tag;
}
inline void PrintTo(const SendRoute& send, std::ostream* out) {  // NOLINT
    PrintTo(send.key, out);
    if (send.put) {
        *out << " put ";
        PrintTo(*send.put, out);
    } else {
        *out << " delete";
    }
}
inline void PrintTo(const WriteNeighbor& write, std::ostream* out) {  // NOLINT
    *out << "write " << write.request << ": ";
    PrintTo(write.key, out);
    *out << " mac " << write.mac.to_string() << " state " << number(write.state)
         << (write.ext_learned ? " ext_learned" : "");
}
inline void PrintTo(const SendProxy& send, std::ostream* out) {  // NOLINT
    *out << (send.put ? "proxy " : "no proxy ");
    PrintTo(send.key, out);
}
inline void PrintTo(const Note& note, std::ostream* out) {  // NOLINT
    *out << note.id << ' ' << note.text;
}

}  // namespace planed
