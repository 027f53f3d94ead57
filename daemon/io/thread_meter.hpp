// SPDX-License-Identifier: Apache-2.0
// What the calling thread has used so far: of the clock, of a processor, and how often it waited.
#pragma once

#include "plugin/meter.hpp"

namespace planed::io {

/// About a microsecond.
plugin::Reading read_thread_meter();

}  // namespace planed::io
