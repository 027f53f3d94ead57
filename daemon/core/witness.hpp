// SPDX-License-Identifier: Apache-2.0
// Who is told everything that decisions depend on, before they are made: the recorder. It changes
// nothing.
#pragma once

#include "core/input.hpp"
#include "net/time.hpp"

namespace planed {

class Witness {
public:
    Witness() = default;
    virtual ~Witness() = default;
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    Witness(Witness&&) = delete;
    Witness& operator=(Witness&&) = delete;

    virtual void saw(const Input& input, TimePoint now) = 0;
};

}  // namespace planed
