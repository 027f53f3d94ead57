// SPDX-License-Identifier: Apache-2.0
// UPDATE (RFC 4271 4.3) of the family L2VPN EVPN: routes in MP_REACH_NLRI and MP_UNREACH_NLRI (RFC
// 4760), everything else in attributes. Other families are read over.
//
// Errors have the classes of RFC 7606. Only what makes the routes themselves unreadable ends the
// session; a route whose frame is whole but whose inside is wrong is left out alone, for one bad
// route must not cost all the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bgp/attributes.hpp"
#include "bgp/message.hpp"
#include "bgp/routes.hpp"

namespace planed::bgp {

/// A fault that the session survives.
struct Fault {
    enum class Kind : std::uint8_t {
        TreatAsWithdraw,     // All routes of the message were taken for withdrawn.
        AttributeDiscarded,  // The attribute was left out, the routes stand.
        RouteSkipped,        // One route was left out.
        FamilyIgnored,       // Routes of a family that was not agreed on.
    };
    static constexpr std::size_t kKinds = 4;

    Kind kind{};
    Error error{};  // The text has the place, the offset counts from the message's beginning.
    bool operator==(const Fault&) const = default;
};
std::string_view name_of(Fault::Kind kind);  // "treat_as_withdraw"

/// Withdrawn first, then reachable: a route that is in both is reachable.
struct Update {
    std::vector<RouteKey> withdrawn{};
    std::vector<Route> reachable{};
    Path path{};  // Of the reachable ones; nothing without any.
    bool end_of_rib = false;
    std::size_t unknown_routes = 0;  // Of types that we do not speak: no fault (RFC 7606 5.4).
    std::vector<Fault> faults{};
    bool operator==(const Update&) const = default;
};

enum class PeerKind : std::uint8_t { Internal, External };

Decoded<Update> decode_update(std::span<const std::uint8_t> body, PeerKind peer);

/// One UPDATE with as many of `routes` as fit into `longest` octets, from the first on, and how
/// many those are; none, and nothing written, if not even one fits beside the attributes.
/// MP_REACH_NLRI comes first, then the attributes by their number, communities in the given order.
std::size_t encode_reachable(const Path& path,
                             std::span<const Route> routes,
                             std::size_t longest,
                             Bytes& out);
/// The same for withdrawals; one always fits.
std::size_t encode_withdrawn(std::span<const RouteKey> routes, std::size_t longest, Bytes& out);
void encode_end_of_rib(Bytes& out);

}  // namespace planed::bgp
