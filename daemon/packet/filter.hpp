// SPDX-License-Identifier: Apache-2.0
// The classic BPF program (linux/filter.h) that lets ARP, NS and NA through and nothing else, so
// that a storm of anything else wakes nobody. It sorts by type alone: what is wrong with a frame is
// parse()'s to say, where it can be counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <linux/filter.h>

namespace planed::packet {

/// Bytes of a frame that are kept; every NS and NA of an Ethernet of 1500 fits whole.
inline constexpr std::uint32_t kFrameMax = 2048;

using Filter = std::array<sock_filter, 19>;

/// Also for a frame that still has its 802.1Q tag. A load past the end of a frame drops it.
const Filter& filter();

}  // namespace planed::packet
