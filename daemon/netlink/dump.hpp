// SPDX-License-Identifier: Apache-2.0
// One attempt at reading a whole table, from its request to its end. It is complete only if the
// kernel said so, nothing changed underneath (NLM_F_DUMP_INTR), and each row could be read: else
// nothing may be concluded from a row's absence. Never sends; whether and when to try again is
// core's decision, which answers an incomplete dump with another after a pause.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/input.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

class Dump {
public:
    /// `sequence` must be new for its socket: leftovers of an earlier dump are known by theirs.
    Dump(DumpKind kind, std::uint32_t sequence) : kind_(kind), sequence_(sequence) {}

    /// The bytes to send. DumpStarted is due before the first row.
    [[nodiscard]] std::vector<std::uint8_t> request() const;

    /// A row as Input (Source::Dump), DumpFinished once at the end, else nothing.
    std::optional<Input> receive(const Message& message);
    /// The shell lost a datagram, could not send or got no answer in time: ends it, incomplete.
    std::optional<Input> abandon(Error why);

    [[nodiscard]] bool finished() const { return finished_; }
    /// Why it is finished but not complete.
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

private:
    void note(Error error);
    Input finish();

    DumpKind kind_;
    std::uint32_t sequence_;
    bool finished_ = false;
    std::optional<Error> error_{};  // The first reason not to trust it.
};

}  // namespace planed::netlink
