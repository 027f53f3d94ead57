// SPDX-License-Identifier: Apache-2.0
// What this leaf measures of itself, as OpenMetrics text: which families there are, and where their
// values come from. Pure; every number is of the snapshot or of the counters beside it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/translate.hpp"
#include "core/snapshot_builder.hpp"
#include "net/time.hpp"

namespace planed::api {

/// As `planectl counters` shows them: a name without prefix and unit words, and its value.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Every one of `counters` is among it; one that nobody has described here is of unknown type.
/// `now`: when the snapshot was finished.
std::string to_open_metrics(const Snapshot& snapshot,
                            const NodeWords& words,
                            const Counters& counters,
                            TimePoint now);

/// The names of the counters of which it is known what they are.
std::vector<std::string_view> described_counters();

}  // namespace planed::api
