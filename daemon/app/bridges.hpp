// SPDX-License-Identifier: Apache-2.0
// Between the engine and zebra's session: events to inputs, outputs to calls. Pure; the simulator
// runs on the same bridges as the daemon.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "config/config.hpp"
#include "core/input.hpp"
#include "core/output.hpp"
#include "net/result.hpp"
#include "zapi/session.hpp"

namespace planed {

zapi::RouteType zapi_route_type(RouteType type);

/// Unset for "auto".
Result<std::optional<zapi::WireFamily>> pinned_family(const FrrConfig& frr);

ZapiUp zapi_up(zapi::WireFamily family);

/// What the engine is to hear of an event; nullopt for those that are only noted (see note_of).
std::optional<Input> to_input(const zapi::Event& event);

/// What a person is to hear of an event.
std::optional<Note> note_of(const zapi::Event& event);

/// Carries out the outputs that concern zebra. The set of VRFs is the session's: forget it with it.
class ZapiBridge {
public:
    /// True if the output was one of these; `session` null: zebra is away, nothing to do.
    bool carry_out(const Output& output, zapi::Session* session, TimePoint now);
    void forget() { vrfs_.clear(); }

private:
    std::set<VrfId> vrfs_;  // Announced, besides the default one.
};

}  // namespace planed
