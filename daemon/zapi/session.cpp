// SPDX-License-Identifier: Apache-2.0
#include "zapi/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "net/assert.hpp"

namespace planed::zapi {

namespace {

constexpr std::array kAfis{Afi::V4, Afi::V6};

std::set<VrfId> with_default(std::span<const VrfId> vrfs) {
    std::set<VrfId> result(vrfs.begin(), vrfs.end());
    result.insert(VrfId::Default);
    return result;
}

}  // namespace

Session::Session(const SessionOptions& options)
    : options_(options), commands_(commands_of(options.family)) {}

void Session::connected(TimePoint now) {
    PLANED_ASSERT(state_ == State::Unconnected);
    last_now_ = now;
    hello_deadline_ = now + kHelloDeadline;
    state_ = State::AwaitingCapabilities;
    // Nothing else yet: in a wrong family the next number could be any other command.
    encode_hello(options_.family, options_.type, outbox_);
}

Result<void> Session::receive(std::span<const std::uint8_t> bytes, TimePoint now) {
    PLANED_ASSERT(state_ != State::Unconnected);
    last_now_ = now;
    if (state_ == State::Failed) {
        return fail(Errc::Lost, "the session with zebra has been given up");
    }
    framer_.feed(bytes);
    for (;;) {
        const auto frame = framer_.next();
        if (!frame) {
            return give_up(frame.error());
        }
        if (!*frame) {
            return {};
        }
        if (const auto handled = handle(**frame, now); !handled) {
            return give_up(handled.error());
        }
    }
}

tl::unexpected<Error> Session::give_up(Error error) {
    state_ = State::Failed;
    error.text.insert(0, "zebra: ");
    return tl::unexpected(std::move(error));
}

/// Everything else arrives unasked (VRFs, interfaces) and is skipped.
Result<void> Session::handle(const Frame& frame, TimePoint now) {
    const std::uint16_t command = frame.header.command;
    if (command == commands_.capabilities) {
        return handle_capabilities(frame);
    }
    if (command == commands_.error) {
        return handle_error(frame);
    }
    if (command == commands_.route_notify_owner) {
        return handle_owner(frame);
    }
    if (command == commands_.redistribute_route_add ||
        command == commands_.redistribute_route_del) {
        return handle_row(frame, now);
    }
    if (command == commands_.client_close_notify) {
        return handle_client_close(frame);
    }
    return {};
}

Result<void> Session::handle_capabilities(const Frame& frame) {
    auto capabilities = decode_capabilities(options_.family, frame.body);
    if (!capabilities) {
        return tl::unexpected(std::move(capabilities.error()));
    }
    if (state_ == State::AwaitingCapabilities) {
        become_ready(*capabilities);
    }
    return {};
}

void Session::become_ready(const Capabilities& capabilities) {
    state_ = State::Ready;
    if (!hello_asks_for_notices(options_.family)) {
        encode_notify_request(options_.family, outbox_);
    }
    announce_vrf(VrfId::Default);
    events_.emplace_back(Ready{.family = options_.family, .capabilities = capabilities});
}

Result<void> Session::handle_error(const Frame& frame) {
    const auto error = decode_error(frame);
    if (!error) {
        return tl::unexpected(error.error());
    }
    if (state_ == State::AwaitingCapabilities) {
        return fail(
            Errc::Unsupported,
            fmt::format(
                "refused HELLO of {} (code {})", releases_of(options_.family), error->code));
    }
    const bool is_mark = error->vrf == kNoVrf && marks_answered_ < marks_encoded_;
    if (!is_mark) {
        events_.emplace_back(ServerRefused{*error});
        return {};
    }
    ++marks_answered_;
    if (read_back_ && read_back_->mark == marks_answered_) {
        read_back_.reset();
        events_.emplace_back(ReadBackDone{});
    }
    if (!plane_marks_.empty() && plane_marks_.front().first == marks_answered_) {
        events_.emplace_back(PlaneDumped{.vrf = plane_marks_.front().second});
        plane_marks_.pop_front();
    }
    if (sync_mark_ == marks_answered_) {
        sync_mark_ = 0;
        events_.emplace_back(Synced{});
    }
    return {};
}

Result<void> Session::handle_owner(const Frame& frame) {
    const auto notice = decode_owner_notice(frame);
    if (!notice) {
        return tl::unexpected(notice.error());
    }
    if (state_ == State::Ready) {
        events_.emplace_back(*notice);
    }
    return {};
}

Result<void> Session::handle_row(const Frame& frame, TimePoint now) {
    const auto head = decode_redistributed_head(frame);
    if (head && head->type == bgp_number(options_.family)) {
        handle_plane_row(frame, head->prefix);
        return {};
    }
    auto row = decode_redistributed(options_.family, frame);
    if (!row) {
        return tl::unexpected(std::move(row.error()));
    }
    // Before the answer to the last but one mark, rows belong to a read-back that timed out.
    const bool counts = read_back_ && marks_answered_ + 1 == read_back_->mark &&
                        row->type == number_of(options_.type, options_.family);
    if (!counts) {
        return {};
    }
    read_back_->deadline = now + kReadBackDeadline;
    if (frame.header.command == commands_.redistribute_route_add) {
        events_.emplace_back(ReadBackRow{std::move(*row)});
    } else {
        events_.emplace_back(ReadBackGone{.vrf = row->vrf, .prefix = row->prefix});
    }
    return {};
}

// A fabric has many routes that are no hosts: of those nobody is told.
void Session::handle_plane_row(const Frame& frame, const IpPrefix& prefix) {
    if (prefix.is_host() && watched_.contains(frame.header.vrf)) {
        const bool gone = frame.header.command == commands_.redistribute_route_del;
        events_.emplace_back(PlaneRow{.vrf = frame.header.vrf, .prefix = prefix, .gone = gone});
    }
}

Result<void> Session::handle_client_close(const Frame& frame) {
    const auto type = decode_client_close(frame);
    if (!type) {
        return {};  // A form that we do not know. It only tells, and the next message is found.
    }
    if (*type == bgp_number(options_.family) && !watched_.empty()) {
        events_.emplace_back(PlaneDoubted{});
    }
    return {};
}

Result<void> Session::tick(TimePoint now) {
    last_now_ = now;
    if (state_ == State::AwaitingCapabilities && now >= hello_deadline_) {
        return give_up(Error{
            .code = Errc::Lost,
            .text = fmt::format("no CAPABILITIES within {} s of HELLO", kHelloDeadline / 1s)});
    }
    check_read_back(now);
    check_stall(now);
    return {};
}

void Session::check_read_back(TimePoint now) {
    if (!read_back_ || now < read_back_->deadline) {
        return;
    }
    if (std::exchange(read_back_->bytes_moved, false)) {
        read_back_->deadline = now + kReadBackDeadline;  // It waits behind other messages.
        return;
    }
    read_back_.reset();
    events_.emplace_back(ReadBackFailed{});
}

void Session::check_stall(TimePoint now) {
    if (!is_writing()) {
        stall_at_.reset();
        return;
    }
    if (!stall_at_) {
        stall_at_ = now + kStallAfter;
    } else if (now >= *stall_at_ && !stalled_) {
        stalled_ = true;
        events_.emplace_back(Stalled{.backlog = backlog()});
    }
}

std::optional<TimePoint> Session::wake_at() const {
    std::optional<TimePoint> result;
    const auto at = [&result](TimePoint time) { result = result ? std::min(*result, time) : time; };
    if (state_ == State::Failed || state_ == State::Unconnected) {
        return std::nullopt;
    }
    if (state_ == State::AwaitingCapabilities) {
        at(hello_deadline_);
    }
    if (read_back_) {
        at(read_back_->deadline);
    }
    if (is_writing() && !stalled_) {
        at(stall_at_.value_or(last_now_));  // No deadline yet: the next tick sets it.
    }
    return result;
}

std::optional<Event> Session::poll_event() {
    if (events_.empty()) {
        return std::nullopt;
    }
    std::optional<Event> event = std::move(events_.front());
    events_.pop_front();
    return event;
}

bool Session::is_writing() const {
    return outbox_begin_ < outbox_.size() || (state_ == State::Ready && !queue_.empty());
}

std::span<const std::uint8_t> Session::pending() {
    if (state_ == State::Ready) {
        refill();
    }
    return std::span<const std::uint8_t>(outbox_).subspan(outbox_begin_);
}

void Session::refill() {
    if (queue_.empty() || outbox_.size() - outbox_begin_ >= kWriteBuffer / 2) {
        return;
    }
    outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(outbox_begin_));
    outbox_begin_ = 0;
    outbox_.reserve(kWriteBuffer);
    while (outbox_.size() < kWriteBuffer - kLongestSent) {
        const auto outgoing = queue_.pop();
        if (!outgoing) {
            return;
        }
        encode(*outgoing);
    }
}

void Session::written(std::size_t count) {
    PLANED_ASSERT(count <= outbox_.size() - outbox_begin_);
    if (count == 0) {
        return;
    }
    outbox_begin_ += count;
    if (outbox_begin_ == outbox_.size()) {
        outbox_.clear();
        outbox_begin_ = 0;
    }
    stall_at_.reset();
    if (std::exchange(stalled_, false)) {
        events_.emplace_back(Resumed{});
    }
    if (read_back_) {
        read_back_->bytes_moved = true;
    }
}

void Session::encode(const Outgoing& outgoing) {
    if (const auto* const route = std::get_if<Route>(&outgoing)) {
        encode_route_add(options_.family, options_.type, *route, outbox_);
    } else if (const auto* const removal = std::get_if<Removal>(&outgoing)) {
        encode_route_delete(options_.family, options_.type, removal->vrf, removal->prefix, outbox_);
    } else {
        encode_control(std::get<Control>(outgoing));
    }
}

void Session::encode_control(const Control& control) {
    const auto& [family, type, stale_seconds] = options_;
    switch (control.kind) {
        case Control::Kind::AnnounceVrf:
            encode_restart_capable(family, control.vrf, stale_seconds, outbox_);
            return;
        case Control::Kind::DisableRestart:
            encode_restart_disable(family, control.vrf, outbox_);
            return;
        case Control::Kind::CompleteRestart:
            encode_restart_complete(family, control.vrf, control.afi, outbox_);
            return;
        case Control::Kind::RedistributeAdd:
            encode_redistribute_add(family, type, control.vrf, control.afi, outbox_);
            return;
        case Control::Kind::RedistributeDelete:
            encode_redistribute_delete(family, type, control.vrf, control.afi, outbox_);
            return;
        case Control::Kind::WatchPlane:
            encode_watch_plane(family, control.vrf, control.afi, outbox_);
            return;
        case Control::Kind::Mark:
            // Answered after all that was asked before, and told apart by its VRF.
            encode_bare(kUnknownCommand, kNoVrf, outbox_);
            ++marks_encoded_;
            return;
    }
}

void Session::put(const Route& route) {
    if (accepts_routes()) {
        queue_.put(route);
    }
}

void Session::remove(VrfId vrf, const IpPrefix& prefix) {
    if (accepts_routes()) {
        queue_.remove({.vrf = vrf, .prefix = prefix});
    }
}

bool Session::accepts_routes() const {
    return state_ != State::Failed && !restart_disabled_;
}

void Session::announce_vrf(VrfId vrf) {
    if (!announced_.insert(vrf).second) {
        return;
    }
    // Without graceful restart it is switched off aloud: a session inherits it from an earlier one.
    const auto kind =
        options_.stale_seconds > 0 ? Control::Kind::AnnounceVrf : Control::Kind::DisableRestart;
    queue_.add({.kind = kind, .vrf = vrf});
}

void Session::complete_restart(std::span<const VrfId> vrfs) {
    if (options_.stale_seconds == 0) {
        return;
    }
    for (const VrfId vrf : with_default(vrfs)) {
        for (const Afi afi : kAfis) {
            queue_.add({.kind = Control::Kind::CompleteRestart, .vrf = vrf, .afi = afi});
        }
    }
}

bool Session::start_read_back(std::span<const VrfId> vrfs, TimePoint now) {
    if (read_back_ || !accepts_routes()) {
        return false;
    }
    const std::set<VrfId> all = with_default(vrfs);
    const auto ask = [this, &all](Control::Kind kind) {
        for (const VrfId vrf : all) {
            for (const Afi afi : kAfis) {
                queue_.add({.kind = kind, .vrf = vrf, .afi = afi});
            }
        }
    };
    // zebra dumps while it handles the request, so the subscription can end right behind it: no
    // changes are streamed afterwards that a later read-back could take for its own rows.
    ask(Control::Kind::RedistributeAdd);
    ask(Control::Kind::RedistributeDelete);
    read_back_ = ReadBack{.mark = add_mark(), .deadline = now + kReadBackDeadline};
    return true;
}

void Session::watch_plane(VrfId vrf) {
    if (restart_disabled_ || !watched_.insert(vrf).second) {
        return;
    }
    for (const Afi afi : kAfis) {
        queue_.add({.kind = Control::Kind::WatchPlane, .vrf = vrf, .afi = afi});
    }
    plane_marks_.emplace_back(add_mark(), vrf);
}

std::uint64_t Session::add_mark() {
    queue_.add({.kind = Control::Kind::Mark});
    return ++marks_queued_;
}

void Session::sync() {
    sync_mark_ = add_mark();
}

void Session::disable_restart() {
    queue_.clear();
    marks_queued_ = marks_encoded_;
    read_back_.reset();
    plane_marks_.clear();
    sync_mark_ = 0;
    restart_disabled_ = true;
    announced_.insert(VrfId::Default);  // Also if CAPABILITIES has not come yet.
    for (const VrfId vrf : announced_) {
        queue_.add({.kind = Control::Kind::DisableRestart, .vrf = vrf});
    }
}

bool Session::idle() const {
    return outbox_begin_ == outbox_.size() && queue_.empty() && !read_back_;
}

}  // namespace planed::zapi
