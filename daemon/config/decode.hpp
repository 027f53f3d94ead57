// SPDX-License-Identifier: Apache-2.0
// A parsed document becomes a Config: every key is looked up in keys.hpp, every value checked on
// its own. Rules between keys are validate's.
#pragma once

#include "config/config.hpp"
#include "config/document.hpp"
#include "config/fault.hpp"

namespace planed::config {

struct Decoded {
    Config config;   // Defaults where the document is silent or wrong.
    Places written;  // Every key of the document that planed knows, and every list element.
};

/// Bounded in time and memory by the limits of keys.hpp and a budget of values, whatever aliases
/// the document has.
Decoded decode(const Document& document, FaultList& faults);

}  // namespace planed::config
