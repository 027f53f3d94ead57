// SPDX-License-Identifier: Apache-2.0
// One message of any of our tables -> one fact.
#pragma once

#include <optional>

#include "core/input.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

/// Nothing for messages that tell no fact: control messages, requests that the kernel echoes,
/// tables that we do not keep.
Result<std::optional<Input>> decode(const Message& message, Source source);

}  // namespace planed::netlink
