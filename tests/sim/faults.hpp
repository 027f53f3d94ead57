// SPDX-License-Identifier: Apache-2.0
// Every way in which a simulated world may misbehave, as one struct of knobs. All off by default:
// a scenario turns on what it is about, a seed draws a mixture.
#pragma once

#include "net/time.hpp"
#include "sim/random.hpp"

namespace planed::sim {

struct Faults {
    // The machine: how long a woken planed waits for its turn, and kernel requests for their
    // answer.
    Duration turn_delay_max = 0us;
    Duration request_delay_max = 0us;

    // Netlink, in percent of dumps.
    unsigned dump_fails_percent = 0;
    unsigned dump_interrupted_percent = 0;
    bool slow_dumps = false;       // Chunks milliseconds apart instead of at once.
    bool fdb_flush_early = false;  // A port's entries go at the loss, not with the link message.

    // The socket to zebra.
    bool torn_reads = false;  // Bytes arrive cut anywhere, and glued together.
    bool short_writes = false;

    // zebra.
    bool zebra_slow = false;     // Tens to hundreds of milliseconds for each round.
    bool acks_installed = true;  // False: SONiC's offload mode never says INSTALLED.
    unsigned acks_lost_percent = 0;

    // What a chaos driver may do; scenarios do it themselves.
    bool overruns = false;
    bool zebra_restarts = false;
    bool zebra_stalls = false;
    bool planed_kills = false;
    bool interface_flaps = false;
    bool interface_recreated = false;
    bool garbage_collection = false;
    bool duplicate_addresses = false;
    bool better_routes = false;

    static Faults from(Random& random) {
        const auto coin = [&random] { return random.percent(50); };
        const auto rare = [&random](unsigned most) {
            return random.percent(50) ? static_cast<unsigned>(random.below(most)) : 0U;
        };
        Faults faults;
        faults.turn_delay_max = coin() ? random.between(0us, 3ms) : 0us;
        faults.request_delay_max = coin() ? random.between(0us, 5ms) : 0us;
        faults.dump_fails_percent = rare(40);
        faults.dump_interrupted_percent = rare(40);
        faults.slow_dumps = coin();
        faults.fdb_flush_early = coin();
        faults.torn_reads = coin();
        faults.short_writes = coin();
        faults.zebra_slow = random.percent(30);
        faults.acks_installed = random.percent(85);
        faults.acks_lost_percent = rare(20);
        faults.overruns = coin();
        faults.zebra_restarts = coin();
        faults.zebra_stalls = random.percent(30);
        faults.planed_kills = coin();
        faults.interface_flaps = coin();
        faults.interface_recreated = random.percent(30);
        faults.garbage_collection = coin();
        faults.duplicate_addresses = random.percent(30);
        faults.better_routes = coin();
        return faults;
    }
};

}  // namespace planed::sim
