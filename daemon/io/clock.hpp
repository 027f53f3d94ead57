// SPDX-License-Identifier: Apache-2.0
// The one place that asks what time it is.
#pragma once

#include "net/time.hpp"

namespace planed::io {

TimePoint now();

}  // namespace planed::io
