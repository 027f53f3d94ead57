// SPDX-License-Identifier: Apache-2.0
// Every bound of the daemon in one place, each with the sketch that it comes from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/time.hpp"

namespace planed::limits {

/// Inputs whose table entries are fetched side by side: a core has 10 to 16 such requests open.
inline constexpr std::size_t kFetchedAhead = 16;

// A plane has up to 16,384 GPUs, two addresses each; eight times that is a broken or hostile
// network.
inline constexpr std::size_t kNeighborsMax = 262'144;
inline constexpr std::size_t kFdbMax = 262'144;
inline constexpr std::size_t kLinksMax = 16'384;
inline constexpr std::size_t kAddressesMax = 65'536;

// The hosts of the plane that other leaves have: as for neighbours.
inline constexpr std::size_t kPlaneRoutesMax = 262'144;
// After a session with zebra began anew, what its first dump did not name is kept this long: bgpd
// has its peers back 4 to 15 s after zebra died with it (measured, with graceful restart).
inline constexpr Duration kPlaneGrace = 30s;
// A bgpd that is stopped takes its routes back before it ends: one that goes is gone so long after
// the last of them, at most so long after the first.
inline constexpr Duration kPlaneGoneQuiet = 250ms;
inline constexpr Duration kPlaneGoneMost = 700ms;
// Proxy entries of a leaf: a plane's IPv6 addresses, on four interfaces.
inline constexpr std::size_t kProxiesMax = 65'536;
// Each costs the kernel some microseconds under RTNL, of which others want their share.
inline constexpr std::size_t kProxiesPerTurnMax = 256;

// zebra takes 100,000 routes a second and answers after 14 ms: a window of this size never limits.
inline constexpr std::size_t kRoutesInFlightMax = 262'144;

// Planning costs about a microsecond a host: a turn stays under 10 ms whatever has become dirty.
inline constexpr std::size_t kPlannedPerTurnMax = 8'192;

// Kernel tables are read whole this often even if no event was lost: some changes have no event.
inline constexpr Duration kAuditInterval = 60s;
// A forwarding entry that we have written is written again after this long, if it is not there.
inline constexpr Duration kForwardingRetry = 1s;
// What the bridge says it has heard within this long after we wrote an entry may be that writing.
inline constexpr Duration kForwardingWritten = 100ms;
// A FAILED entry that makes the kernel deaf to its host is deleted after this long.
inline constexpr Duration kFailedGrace = 20ms;
// A port that the kernel would not take down or up is set again after this long.
inline constexpr Duration kLinkRetry = 1s;
// Between two dumps of one table: an overrun under load must not turn into a dump after a dump.
inline constexpr Duration kDumpSpacing = 200ms;
// A dump that failed or was interrupted is asked for again so soon, doubling up to the maximum.
inline constexpr Duration kDumpRetryFirst = 100ms;
inline constexpr Duration kDumpRetryMax = 5s;

// linkwatch reports a carrier loss up to a second late when it has just reported another one, while
// a read shows it at once: after a carrier event the links are read this often, this long.
inline constexpr Duration kLinkReadInterval = 10ms;
inline constexpr Duration kLinkReadWindow = 1200ms;

// The kernel flushes neighbours a moment before it says that the interface went down: what looks
// like garbage collection waits this long before it is put back.
inline constexpr Duration kCollectedGrace = 50ms;
// A neighbour can be seen before its forwarding entry: probe for the port only after this.
inline constexpr Duration kPortUnknownGrace = 250ms;
// The garbage collector takes nothing that was used within this time (gc_staletime, neighbour.c).
inline constexpr Duration kGcStaleTime = 60s;
// Probes and write-backs: 64 every 10 ms are 6,400 a second, under 1 % of a core here.
inline constexpr std::size_t kProbesPerRound = 64;
inline constexpr Duration kProbeRound = 10ms;
inline constexpr Duration kProbeRetry = 1s;

// The kernel hears the same frame: it has this long to change an entry itself.
inline constexpr Duration kHeardGrace = 50ms;
// Heard hosts that wait to be written; a storm of invented ones must not grow without bound.
inline constexpr std::size_t kHeardMax = 4'096;
// And as many are written in a turn: each costs the kernel 3 us.
inline constexpr std::size_t kHeardPerTurnMax = 256;
// MACs that one bridge port may have, or half of its interface's max_hosts if that is more: what
// one server invents must leave room for the others.
inline constexpr std::size_t kHostsPerPortLeast = 256;
// Addresses that frames may give to one MAC: a server has a few, one that invents them has more.
inline constexpr std::size_t kAddressesPerMacMax = 256;
// A host that does not answer is believed to live for so long after anything that was heard of it;
// with the default refresh this is when it would be asked anyway.
inline constexpr Duration kEvidenceMax = 21s;

// Addresses that have changed their MAC lately: more are not watched.
inline constexpr std::size_t kConflictsMax = 1'024;
// Alarms on single hosts: each ends when its cause was not seen for so long.
inline constexpr std::size_t kHostAlarmsMax = 64;
inline constexpr Duration kHostAlarm = 180s;

// Routes that stay for a while though their host is lost. Each was a host's; addresses that
// somebody makes up one after the other must not keep theirs without bound: beyond this they go at
// once.
inline constexpr std::size_t kLeavingMax = 65'536;
// Hosts that were withdrawn shortly ago, while a delay for new ones is configured.
inline constexpr std::size_t kDepartedMax = 65'536;
// Hosts whose withdrawals are counted, max_flaps times 8 bytes each. Without room for another one
// that host is not damped, which is the safe side.
inline constexpr std::size_t kFlapHistoriesMax = 16'384;
// Routes that stay because too many hosts fell silent at once; beyond this they go at once.
inline constexpr std::size_t kGuardedMax = 131'072;
// Such a host is asked within this time, however often the kernel refuses, and has answered within
// that: the kernel's six requests take six seconds.
inline constexpr Duration kAskedWithin = 60s;
inline constexpr Duration kAnswerWithin = 10s;
// A hold doubles so many times at most: 2 minutes become 16.
inline constexpr std::uint8_t kHoldDoublingsMax = 3;

// Drained hosts leave BGP, and come back, so many at a time: bgpd is busy with others too.
inline constexpr std::size_t kDrainedAtOnce = 64;
inline constexpr Duration kDrainPace = 10ms;
// Drained ports and hosts; beyond this one drains the leaf.
inline constexpr std::size_t kDrainsMax = 1'024;

// Routes under way of which it is measured how long they take; more at once are not measured.
inline constexpr std::size_t kTimedRoutesMax = 16'384;

// What a dump shows to be otherwise is a difference if no notification has told of it so long
// after: the kernel sends them as it changes its tables, and we read them in another socket.
// linkwatch puts off what it tells of a link; of an IPv6 address it is told once nobody else has
// it.
inline constexpr Duration kAuditGrace = 200ms;
inline constexpr Duration kAuditGraceLinks = kLinkReadWindow;
inline constexpr Duration kAuditGraceAddresses = 2500ms;
// Differences that an audit tells one by one; beyond this it counts.
inline constexpr std::size_t kDifferencesMax = 65'536;
// And finds words for in a turn, at about a microsecond each.
inline constexpr std::size_t kToldPerTurnMax = 2'048;

// Read-backs of our own routes: this far apart at least, and one every audit interval.
inline constexpr Duration kReadBackSpacing = 1s;
inline constexpr Duration kReadBackTimeout = 30s;

}  // namespace planed::limits
