// SPDX-License-Identifier: Apache-2.0
// One frame from the wire -> what it told, checked by RFC 826, 5227, 4861 and 4862 and by what a
// switch can know more: a host speaks for itself, from its own MAC. Believes no field that it has
// not checked; knows no subnet, no interface and no history.
#pragma once

#include <tl/expected.hpp>

#include "packet/frame.hpp"
#include "packet/heard.hpp"

namespace planed::packet {

/// The refusal is a bare number, without words: under a storm they come 50,000 times a second.
tl::expected<Heard, Refusal> parse(const Frame& frame);

}  // namespace planed::packet
