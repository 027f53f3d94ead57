// SPDX-License-Identifier: Apache-2.0
// Finds out which wire family a zebra speaks, on a connection that is thrown away afterwards. It
// sends no HELLO: zebra takes such a client for nobody's and removes nothing when it goes. Never a
// guess: a family is only reported if an answer says so.
//
// It asks a command that no release has. The ERROR that comes back has a command number of its own:
// 117 is B, 120 is D, 118 is A or C. Then it sends command 19 without a body, CAPABILITIES in A
// (which zebra only sends: ERROR, no handler) and HELLO in C (which ignores a body that is too
// short), and behind it a message for a VRF that cannot exist (ERROR, no such VRF, in both): the
// first answer decides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/result.hpp"
#include "net/time.hpp"
#include "zapi/codec.hpp"
#include "zapi/dialect.hpp"
#include "zapi/messages.hpp"

namespace planed::zapi {

class Probe {
public:
    /// The whole probe: a zebra that is busy with 100,000 routes answers after a second.
    static constexpr Duration kDeadline = 10s;

    /// `pinned`: the only family that is acceptable, from the release that the operator named.
    explicit Probe(std::optional<WireFamily> pinned = std::nullopt);

    void connected(TimePoint now);
    void receive(std::span<const std::uint8_t> bytes, TimePoint now);
    /// The other side closed the connection, or it broke.
    void closed();
    void tick(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    [[nodiscard]] std::span<const std::uint8_t> pending() const;
    void written(std::size_t count);

    /// Once there is a result nothing changes any more: close the connection.
    [[nodiscard]] const std::optional<Result<WireFamily>>& result() const { return result_; }

private:
    enum class Question : std::uint8_t { UnknownCommand, BareHello };

    void handle(const Frame& frame);
    void handle_first(std::uint16_t error_command);
    void handle_second(const Frame& frame, const ServerError& error);
    void conclude(WireFamily family);
    void conclude(Errc code, std::string text);

    std::optional<WireFamily> pinned_;
    Question question_ = Question::UnknownCommand;
    TimePoint deadline_{};
    bool heard_ = false;
    Framer framer_;
    Bytes outbox_;
    std::optional<Result<WireFamily>> result_;
};

}  // namespace planed::zapi
