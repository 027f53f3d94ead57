// SPDX-License-Identifier: Apache-2.0
// What each verb does: ask planed, print the answer in the form that was asked for.
#pragma once

#include "ctl/command_line.hpp"

namespace planed::ctl {

/// The exit code; what goes wrong is on stderr.
int run(const Invocation& invocation);

}  // namespace planed::ctl
