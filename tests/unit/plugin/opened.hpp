// SPDX-License-Identifier: Apache-2.0
// A host of real shared objects, with a clock that stands still unless a call is to have cost
// something.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "net/time.hpp"
#include "plugin/host.hpp"

namespace planed::plugin::test {

inline std::string fixture(const std::string& name) {
    return std::string(PLANED_FIXTURES_DIR "/") + name + ".so";
}
inline std::string shipped(const std::string& name) {
    return std::string(PLANED_PLUGINS_DIR "/") + name + ".so";
}
inline Wanted wanted(const std::string& path, Instance::Options options = {}) {
    return {.path = path, .options = std::move(options)};
}

inline Candidate candidate(const std::string& address,
                           const std::string& interface = "Vlan100",
                           const std::string& mac = "02:00:00:00:00:05") {
    return {.address = *IpAddress::parse(address),
            .mac = *MacAddress::parse(mac),
            .interface = interface};
}

class Opened {
public:
    explicit Opened(const std::vector<Wanted>& list) : wrong(host.open(list)) {}

    std::vector<std::string> said;  // The log, as "id text".
    Reading cost;                   // Of every call from now on.
    Host host{
        {.version = "1.2.3",
         .meter =
             [this] {
                 if (std::exchange(within_, !within_)) {
                     now_.wall += cost.wall;
                     now_.busy += cost.busy;
                     now_.waits += cost.waits;
                 }
                 return now_;
             },
         .log =
             [this](const Note& note) { said.push_back(std::string(note.id) + ' ' + note.text); }}};
    std::vector<std::string> wrong;

private:
    bool within_ = false;  // A call.
    Reading now_;
};

}  // namespace planed::plugin::test
