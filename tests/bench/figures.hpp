// SPDX-License-Identifier: Apache-2.0
// The measurements, each a function from its options to one JSON object on standard output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/clock.hpp"

namespace planed::bench {

struct Options {
    std::string planed;
    std::string zserv;      // A real zebra's socket; empty: a fake one.
    std::string release;    // Of the real zebra: "8.4".
    std::size_t hosts = 1;  // Each with an IPv4 and an IPv6 address.
    std::size_t segments = 1'000;
    std::size_t rounds = 10;
    std::size_t events = 20'000;
    std::size_t per_second = 0;  // Other changes meanwhile.
    std::size_t seconds = 10;
};

/// Carrier loss to the last DELETE, from the kernel's first notification of a flushed forwarding
/// entry.
void measure_carrier(const Options& options);
/// A neighbour that is new, from the kernel's acknowledgement to the ADD.
void measure_add(const Options& options);
/// A host that the kernel does not learn, from its first frame to the ADD.
void measure_frame(const Options& options);
/// CPU time with 50,000 frames a second from one server, and whether others are learned meanwhile.
void measure_storm(const Options& options);
/// CPU time with silent hosts that are all asked within 30 s.
void measure_refresh(const Options& options);
/// Memory, and CPU time of an event, with many neighbours.
void measure_scale(const Options& options);
/// A peer and all its routes gone to the last election of so many segments; nothing but evpn/.
void measure_election(const Options& options);
/// CPU time when nothing happens.
void measure_idle(const Options& options);
/// Routes a second into a real zebra, planed and a bare writer in turn. Runs in zebra's namespace.
void measure_rate(const Options& options);

/// {"count":…,"p50":…,"p99":…,"max":…}, in microseconds.
std::string distribution(std::vector<Nanoseconds> values);

}  // namespace planed::bench
