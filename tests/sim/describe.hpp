// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs in a few words, for traces.
#pragma once

#include <string>

#include "core/input.hpp"
#include "core/output.hpp"

namespace planed::sim {

std::string describe(const Input& input);
std::string describe(const Output& output);

}  // namespace planed::sim
