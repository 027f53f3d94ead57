// SPDX-License-Identifier: Apache-2.0
// What an audit tells: which tables were read and compared with what planed wants or knows, and
// where they were otherwise. Shapes only; who finds differences makes them, in words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/time.hpp"

namespace planed {

/// A table that is compared. The first four are what planed knows of the kernel, the others what it
/// has written.
enum class AuditTable : std::uint8_t {
    Links,
    Addresses,
    Neighbors,
    Forwarding,
    Proxies,
    Settings,  // Of interfaces: sysctl.
    Routes,    // Ours in zebra.
    Rows,      // Ours in STATE_DB.
};
inline constexpr std::size_t kAuditTables = 8;
inline constexpr std::size_t kKernelTables = 6;

/// "neighbors", as it is called where counts are shown.
std::string_view word(AuditTable table);
/// "neighbor": what one entry of it is called.
std::string_view entry_word(AuditTable table);
/// "kernel", "zebra" or "redis".
std::string_view place_of(AuditTable table);

/// One entry that was not as it should be. Empty text: does not apply; of `wanted` and `found`:
/// there is, or should be, nothing.
struct Difference {
    AuditTable table{};
    std::string vrf{};  // "default", or the VRF device's name.
    std::string interface {};
    std::string object{};  // "10.0.0.5/32", a key in Redis, a setting's name.
    std::string wanted{};  // Of what planed only observes: as planed knew it.
    std::string found{};
    std::string_view action{};  // What planed does about it: "sent again".
    bool whole_table = false;   // It could not be read, so it may differ anywhere.
    bool operator==(const Difference&) const = default;
};

/// How the reading of one table went.
struct AuditedTable {
    AuditTable table{};
    std::optional<TimePoint> began{};  // Nullopt: it has not been read.
    std::uint64_t entries = 0;         // That concern planed, of those that were read.
    std::string trouble{};             // Why it could not be read, in words.
    std::string_view action{};         // And what planed does about that.
    bool wanted = true;                // False: there is to be none (Redis switched off).
    bool operator==(const AuditedTable&) const = default;
};

/// One audit, whole. What could not be read is among the differences too.
struct AuditReport {
    std::vector<AuditedTable> tables{};
    std::vector<Difference> differences{};
    std::uint64_t left_out = 0;  // Differences that were counted, and not kept for want of room.
    bool operator==(const AuditReport&) const = default;
};

/// Since the start: differences by table, those of the periodic audits too.
struct AuditCounters {
    std::uint64_t audits = 0;  // That operators have asked for.
    std::uint64_t reads = 0;   // Tables that were compared whole.
    std::array<std::uint64_t, kAuditTables> differences{};
    bool operator==(const AuditCounters&) const = default;
};

}  // namespace planed
