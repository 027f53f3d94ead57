// SPDX-License-Identifier: Apache-2.0
#include "io/zapi_client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "io/backoff.hpp"
#include "io/unix_diag.hpp"
#include "net/assert.hpp"

namespace planed::io {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// One read is at most one turn's worth of notices: 64 KiB are 2,000 of them.
constexpr std::size_t kNoticesMax = std::size_t{64} * 1024;
// What flush() writes at most, so that a turn stays short while zebra reads as fast as we write.
constexpr std::size_t kFlushMax = std::size_t{512} * 1024;
// A session that stood this long makes the next back-off start from the beginning.
constexpr Duration kSessionStood = 5s;
constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;

Error no_connection(const std::string& path, int number) {
    const auto error = [number](Errc code, std::string text) {
        return Error{.code = code, .text = std::move(text), .system_errno = number};
    };
    switch (number) {
        case ENOENT:
            return error(Errc::System,
                         fmt::format("no zebra: {} does not exist (is FRR running?)", path));
        case ECONNREFUSED:
            return error(
                Errc::System,
                fmt::format("no zebra: nobody listens on {} (has zebra died, or just begun?)",
                            path));
        case EACCES:
        case EPERM:
            return error(
                Errc::Refused,
                fmt::format("no right to open {}: zebra gives its socket to user frr alone "
                            "(mode 0700), so run planed as root or with User=frr",
                            path));
        case EAGAIN:
            return error(
                Errc::System,
                fmt::format("zebra does not take connections on {} (its queue is full)", path));
        default:
            return error(Errc::System,
                         fmt::format("cannot connect to zebra on {}: {}", path, strerror(number)));
    }
}

/// Nothing is wrong with these that time and zebra would not mend.
bool is_absence(int number) {
    return number == ENOENT || number == ECONNREFUSED || number == EAGAIN;
}

asio::local::stream_protocol::endpoint endpoint_at(std::string path) {
    if (path.starts_with('@')) {
        path.front() = '\0';
    }
    return {path};
}

}  // namespace

ZapiClient::ZapiClient(asio::io_context& loop, ZapiClientOptions options, ZapiCallbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      random_(options_.seed),
      socket_(loop),
      read_buffer_(kNoticesMax),
      timer_(loop) {}

void ZapiClient::start() {
    PLANED_ASSERT(state_ == State::Stopped);
    if (options_.release) {
        pinned_ = zapi::family_of_release(*options_.release);
        if (!pinned_) {
            report({.code = Errc::Invalid,
                    .text = fmt::format("frr.release: planed does not speak FRR {}",
                                        *options_.release)});
            return;
        }
    }
    if (options_.path.size() > kPathMax) {
        report({.code = Errc::Invalid,
                .text = fmt::format("frr.socket: longer than {} bytes", kPathMax)});
        return;
    }
    attempt();
}

zapi::Session* ZapiClient::session() {
    return session_ && session_->is_ready() && !closing_ ? session_.get() : nullptr;
}

// Connecting --------------------------------------------------------------------------------------

void ZapiClient::attempt() {
    // Before connecting: a zebra that goes and is back before we notice has made another file.
    tried_file_ = identify();
    if (auto error = connect()) {
        lose(std::move(*error));
        return;
    }
    family_.reset();
    begin_settling();
}

std::optional<Error> ZapiClient::connect() {
    error_code error;
    socket_.open(asio::local::stream_protocol(), error);
    if (!error) {
        socket_.non_blocking(true, error);
    }
    if (!error) {
        socket_.connect(endpoint_at(options_.path), error);
    }
    if (!error) {
        return std::nullopt;
    }
    return no_connection(options_.path, error.value());
}

void ZapiClient::disconnect() {
    error_code ignored;
    socket_.close(ignored);  // Nothing is lost with it that drain did not wait for.
    ++epoch_;
    waiting_writable_ = false;
    probe_.reset();
    session_.reset();
}

void ZapiClient::begin_settling() {
    state_ = State::Settling;
    settled_ = false;
    saw_half_closed_ = false;
    settle_deadline_ = options_.now() + options_.settle_deadline;
    settle();
}

/// Two graceful-restart sessions of one route type that are both closed abort zebra (8.4, 10.3), so
/// ours does not begin before zebra has noticed the end of an earlier one: of a planed that was
/// killed a moment ago, or of our own. And when a connection ends, 10.3 drops routes of others that
/// wait in its queue, so the session also waits for the end of the probe's.
void ZapiClient::settle() {
    const TimePoint now = options_.now();
    if (!settled_) {
        look_for_half_closed(now);
    }
    if (state_ != State::Settling) {
        return;
    }
    if (!settled_ || now < settle_at_) {
        arm();
    } else if (family_) {
        talk(*family_);
    } else {
        probe();
    }
}

void ZapiClient::look_for_half_closed(TimePoint now) {
    const auto server = look_at_unix_server(options_.path);
    if (!server || !server->listening) {
        settled_ = true;
        settle_at_ = zebra_hung_up_ && !family_ ? now : now + options_.settle_blind;
    } else if (server->half_closed == 0) {
        settled_ = true;
        settle_at_ = saw_half_closed_ ? now + options_.settle_after : now;
    } else if (now < settle_deadline_) {
        saw_half_closed_ = true;
        settle_at_ = now + options_.settle_poll;
    } else {
        lose({.code = Errc::Lost,
              .text = "zebra does not answer: it has not yet closed an earlier connection"});
    }
}

void ZapiClient::probe() {
    state_ = State::Probing;
    probe_.emplace(pinned_);
    probe_->connected(options_.now());
    read();
    write();
}

void ZapiClient::after_probe() {
    if (!probe_ || !probe_->result()) {
        return;
    }
    const Result<zapi::WireFamily> result = *probe_->result();
    disconnect();
    if (!result) {
        lose(result.error());
        return;
    }
    if (auto error = connect()) {
        lose(std::move(*error));
        return;
    }
    family_ = *result;
    begin_settling();
}

void ZapiClient::talk(zapi::WireFamily family) {
    state_ = State::Talking;
    zebra_hung_up_ = false;
    session_ = std::make_unique<zapi::Session>(zapi::SessionOptions{
        .family = family, .type = options_.route_type, .stale_seconds = options_.stale_seconds});
    session_->connected(options_.now());
    if (closing_) {
        session_->disable_restart();
        session_->sync();
    }
    read();
    write();
}

// Bytes -------------------------------------------------------------------------------------------

void ZapiClient::read() {
    socket_.async_read_some(asio::buffer(read_buffer_),
                            [this, epoch = epoch_](const error_code& error, std::size_t count) {
                                if (epoch == epoch_) {
                                    on_read(error, count);
                                }
                            });
}

void ZapiClient::on_read(const error_code& error, std::size_t count) {
    if (error) {
        on_end();
        return;
    }
    const std::uint64_t epoch = epoch_;
    take(std::span<const std::uint8_t>(read_buffer_).first(count));
    if (epoch == epoch_) {
        read();
        write();
    }
}

void ZapiClient::take(std::span<const std::uint8_t> bytes) {
    if (probe_) {
        probe_->receive(bytes, options_.now());
        after_probe();
        return;
    }
    const Result<void> received = session_->receive(bytes, options_.now());
    hand_out_events();
    if (!received && session_) {
        lose(received.error());
    }
}

void ZapiClient::hand_out_events() {
    while (session_) {
        const auto event = session_->poll_event();
        if (!event) {
            return;
        }
        if (std::holds_alternative<zapi::Ready>(*event)) {
            up_since_ = options_.now();
            reported_.clear();
        }
        if (!closing_) {
            callbacks_.on_event(*event);
        } else if (finish_at_ || std::holds_alternative<zapi::Synced>(*event)) {
            drained();
        }
    }
}

std::span<const std::uint8_t> ZapiClient::pending() {
    if (probe_) {
        return probe_->pending();
    }
    return session_ ? session_->pending() : std::span<const std::uint8_t>{};
}

void ZapiClient::flush() {
    if (state_ == State::Talking && !waiting_writable_) {
        write();
    }
}

void ZapiClient::write() {
    std::size_t total = 0;
    for (auto bytes = pending(); !bytes.empty(); bytes = pending()) {
        error_code error;
        const std::size_t count = total < kFlushMax ? write_some(bytes, error) : 0;
        if (count == 0 && (!error || error == asio::error::would_block)) {
            wait_writable();
            break;
        }
        if (error) {
            on_end();
            return;
        }
        total += count;
    }
    arm();
}

std::size_t ZapiClient::write_some(std::span<const std::uint8_t> bytes, error_code& error) {
    const std::size_t count = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
    if (probe_) {
        probe_->written(count);
    } else {
        session_->written(count);
    }
    return count;
}

void ZapiClient::wait_writable() {
    if (std::exchange(waiting_writable_, true)) {
        return;
    }
    socket_.async_wait(Socket::wait_write, [this, epoch = epoch_](const error_code& error) {
        if (epoch == epoch_ && !error) {
            waiting_writable_ = false;
            write();
            hand_out_events();
        }
    });
}

/// The connection broke or was closed by zebra.
void ZapiClient::on_end() {
    if (probe_) {
        probe_->closed();
        after_probe();
        return;
    }
    zebra_hung_up_ = true;
    lose({.code = Errc::Lost, .text = "zebra closed the session"}, Cause::Absent);
}

// Failing -----------------------------------------------------------------------------------------

void ZapiClient::lose(const Error& why, Cause cause) {
    const TimePoint now = options_.now();
    const auto up_since = std::exchange(up_since_, std::nullopt);
    disconnect();
    if (closing_) {
        finish();
        return;
    }
    failures_ = up_since && now - *up_since >= kSessionStood ? 0 : failures_;
    back_off(now, is_absence(why.system_errno) ? Cause::Absent : cause);
    if (up_since) {
        reported_ = why.text;
        callbacks_.on_down(why);
    } else {
        report(why);
    }
}

void ZapiClient::back_off(TimePoint now, Cause cause) {
    const Duration cap = cause == Cause::Absent ? options_.backoff_absent : options_.backoff_max;
    const Duration delay = backoff(options_.backoff_first, cap, failures_, random_);
    state_ = State::BackingOff;
    ++failures_;
    retry_at_ = now + delay;
    watch_at_ = now + options_.watch_interval;
    arm();
}

void ZapiClient::report(const Error& why) {
    if (why.text != std::exchange(reported_, why.text)) {
        callbacks_.on_down(why);
    }
}

/// A zebra that begins makes its socket anew; one whose rights are mended changes it.
ZapiClient::FileIdentity ZapiClient::identify() const {
    struct stat status {};
    if (::stat(options_.path.c_str(), &status) != 0) {
        return {};
    }
    return {.device = status.st_dev,
            .inode = status.st_ino,
            .changed_ns = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec};
}

// Time --------------------------------------------------------------------------------------------

std::optional<TimePoint> ZapiClient::wake_at() const {
    std::optional<TimePoint> result;
    switch (state_) {
        case State::Stopped: return std::nullopt;
        case State::BackingOff: result = std::min(retry_at_, watch_at_); break;
        case State::Settling: result = settle_at_; break;
        case State::Probing: result = probe_->wake_at(); break;
        case State::Talking: result = session_->wake_at(); break;
    }
    if (closing_) {
        const TimePoint end = finish_at_.value_or(drain_deadline_);
        result = result ? std::min(*result, end) : end;
    }
    return result;
}

void ZapiClient::arm() {
    const auto at = wake_at();
    if (at == armed_at_) {
        return;
    }
    armed_at_ = at;
    if (!at) {
        timer_.cancel();
        return;
    }
    timer_.expires_at(*at);
    timer_.async_wait([this](const error_code& error) {
        if (!error) {
            armed_at_.reset();
            tick();
        }
    });
}

void ZapiClient::tick() {
    const TimePoint now = options_.now();
    if (closing_ && now >= finish_at_.value_or(drain_deadline_)) {
        finish();
        return;
    }
    switch (state_) {
        case State::Stopped: return;
        case State::BackingOff: tick_back_off(now); return;
        case State::Settling: settle(); return;
        case State::Probing:
            probe_->tick(now);
            after_probe();
            break;
        case State::Talking: tick_session(now); break;
    }
    arm();
}

void ZapiClient::tick_back_off(TimePoint now) {
    const bool changed = now >= watch_at_ && identify() != tried_file_;
    if (changed) {
        failures_ = 0;
    }
    if (changed || now >= retry_at_) {
        attempt();
        return;
    }
    watch_at_ = std::max(watch_at_, now + options_.watch_interval);
    arm();
}

void ZapiClient::tick_session(TimePoint now) {
    const Result<void> ticked = session_->tick(now);
    hand_out_events();
    if (!ticked && session_) {
        lose(ticked.error());
    }
}

// The end -----------------------------------------------------------------------------------------

void ZapiClient::close(bool withdraw, std::function<void()> done) {
    PLANED_ASSERT(!closing_);
    closing_ = true;
    done_ = std::move(done);
    drain_deadline_ = options_.now() + options_.drain_deadline;
    withdraw_ = withdraw;
    if (state_ == State::Talking && (withdraw || session_->is_ready())) {
        if (withdraw) {
            session_->disable_restart();
        }
        session_->sync();
        write();
    } else if (withdraw && (state_ == State::Settling || state_ == State::Probing)) {
        arm();  // The session that is about to begin ends an earlier one's graceful restart.
    } else {
        finish();
    }
}

/// zebra has handled every message; its notices may still be coming in. Where additions leak, it is
/// left in peace until it has nothing more to say: 50 ms alone left 8,000 of 20,000 behind
/// on 8.4.4.
void ZapiClient::drained() {
    const bool leaks = withdraw_ && zapi::leaks_on_close(session_->family());
    const TimePoint quiet = options_.now() + (leaks ? options_.leak_pause : Duration{0});
    finish_at_ = std::min(quiet, drain_deadline_);
    arm();
}

void ZapiClient::finish() {
    disconnect();
    timer_.cancel();
    armed_at_.reset();
    state_ = State::Stopped;
    if (done_) {
        asio::post(loop_, std::exchange(done_, nullptr));
    }
}

}  // namespace planed::io
