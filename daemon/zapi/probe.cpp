// SPDX-License-Identifier: Apache-2.0
#include "zapi/probe.hpp"

#include <fmt/format.h>

#include "net/assert.hpp"

namespace planed::zapi {

namespace {

constexpr std::size_t kErrorLength = 14;
constexpr std::uint16_t kHelloOfC = 19;  // And CAPABILITIES of A.

}  // namespace

Probe::Probe(std::optional<WireFamily> pinned) : pinned_(pinned) {}

void Probe::connected(TimePoint now) {
    deadline_ = now + kDeadline;
    encode_bare(kUnknownCommand, VrfId::Default, outbox_);
}

void Probe::receive(std::span<const std::uint8_t> bytes, TimePoint now) {
    (void)now;
    if (result_ || bytes.empty()) {
        return;
    }
    heard_ = true;
    framer_.feed(bytes);
    while (!result_) {
        const auto frame = framer_.next();
        if (!frame) {
            conclude(
                frame.error().code,
                fmt::format("what listens there does not speak ZAPI version 6 as zebra does: {}",
                            frame.error().text));
            return;
        }
        if (!*frame) {
            return;
        }
        handle(**frame);
    }
}

/// An ERROR can be told from everything that arrives unasked (interfaces, other clients' ends) by
/// its length and code in every family, known or not.
void Probe::handle(const Frame& frame) {
    if (frame.header.length != kErrorLength) {
        return;
    }
    const auto error = decode_error(frame);
    if (!error) {
        return;
    }
    switch (question_) {
        case Question::UnknownCommand:
            if (error->code == ServerError::kNoHandler) {
                handle_first(frame.header.command);
            }
            return;
        case Question::BareHello: handle_second(frame, *error); return;
    }
}

void Probe::handle_first(std::uint16_t error_command) {
    if (error_command == commands_of(WireFamily::B).error) {
        conclude(WireFamily::B);
    } else if (error_command == commands_of(WireFamily::D).error) {
        conclude(WireFamily::D);
    } else if (error_command == commands_of(WireFamily::A).error) {
        question_ = Question::BareHello;
        encode_bare(kHelloOfC, VrfId::Default, outbox_);
        encode_bare(kUnknownCommand, kNoVrf, outbox_);
    } else {
        conclude(
            Errc::Unsupported,
            fmt::format("zebra is of a release that planed does not know (its ERROR is command "
                        "{}); known are FRR 8.4 to 10.x",
                        error_command));
    }
}

void Probe::handle_second(const Frame& frame, const ServerError& error) {
    if (frame.header.command != commands_of(WireFamily::A).error) {
        return;
    }
    // The VRF of an answer is that of its question.
    if (error.vrf == kNoVrf || error.code == ServerError::kNoSuchVrf) {
        conclude(WireFamily::C);
    } else if (error.code == ServerError::kNoHandler) {
        conclude(WireFamily::A);
    }
}

void Probe::conclude(WireFamily family) {
    if (pinned_ && *pinned_ != family) {
        conclude(
            Errc::Unsupported,
            fmt::format("zebra is {} (wire family {}), but frr.release names {} (wire family {})",
                        releases_of(family),
                        name_of(family),
                        releases_of(*pinned_),
                        name_of(*pinned_)));
        return;
    }
    result_ = family;
}

void Probe::conclude(Errc code, std::string text) {
    result_ = fail(code, std::move(text));
}

void Probe::closed() {
    if (result_) {
        return;
    }
    if (heard_) {
        conclude(Errc::Lost, "zebra closed the connection before it had told its release");
    } else {
        // Wrong versions are cut off at once and without a word.
        conclude(Errc::Lost,
                 "zebra closed the connection without a word: it is about to stop, or does not "
                 "speak ZAPI version 6 (FRR 8.4 to 10.x)");
    }
}

void Probe::tick(TimePoint now) {
    if (!result_ && now >= deadline_) {
        conclude(Errc::Lost,
                 fmt::format("zebra does not answer: no word about its release within {} s",
                             kDeadline / 1s));
    }
}

std::optional<TimePoint> Probe::wake_at() const {
    return result_ ? std::nullopt : std::optional(deadline_);
}

std::span<const std::uint8_t> Probe::pending() const {
    return outbox_;
}

void Probe::written(std::size_t count) {
    PLANED_ASSERT(count <= outbox_.size());
    outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace planed::zapi
