// SPDX-License-Identifier: Apache-2.0
#include "io/redis_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

#include "io/backoff.hpp"
#include "io/redis_reply.hpp"
#include "net/assert.hpp"
#include "net/ip_address.hpp"
#include "statedb/schema.hpp"

namespace planed::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Keys of a table that a SCAN call looks at: about 0.2 ms of the server's time.
constexpr std::string_view kScanCount = "512";
constexpr std::string_view kOurKeys = "PLANED_*";

// A connection that stood this long makes the next back-off start from the beginning.
constexpr Duration kStood = 5s;

std::vector<std::string_view> texts_of(const redisReply& reply) {
    std::vector<std::string_view> texts;
    texts.reserve(elements_of(reply).size());
    for (const redisReply* element : elements_of(reply)) {
        texts.push_back(text_of(*element));
    }
    return texts;
}

std::string seconds(Duration duration) {
    return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

}  // namespace

RedisClient::RedisClient(asio::io_context& loop,
                         RedisClientOptions options,
                         RedisCallbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      random_(options_.seed),
      timer_(loop) {}

RedisClient::~RedisClient() {
    disconnect();
}

void RedisClient::start() {
    PLANED_ASSERT(state_ == State::Stopped);
    attempt();
}

// Connecting --------------------------------------------------------------------------------------

void RedisClient::attempt() {
    state_ = State::Connecting;
    auto places = redis_places(options_.config, options_.name_space);
    failures_text_.clear();
    if (!places) {
        set_trouble(fmt::format("no Redis: {}", places.error().text));
        back_off();
        return;
    }
    places_ = std::move(*places);
    place_ = 0;
    try_place();
}

void RedisClient::try_place() {
    if (place_ >= places_.size()) {
        set_trouble(fmt::format("no Redis: {}", failures_text_));
        back_off();
        return;
    }
    const RedisPlace& place = places_[place_];
    waiting_since_ = options_.now();
    link_ = RedisLink::make(loop_,
                            {
                                .on_connected = [this] { select(); },
                                .on_reply = [this](const redisReply& reply) { on_reply(reply); },
                                .on_read = [this] { callbacks_.on_progress(); },
                                .on_closed =
                                    [this](const std::string& why) {
                                        state_ == State::Up ? lose(why) : place_failed(why);
                                    },
                            });
    if (place.unix_socket.empty()) {
        resolve();
        return;
    }
    if (const std::string why = link_->connect_unix(place.unix_socket); !why.empty()) {
        place_failed(why);
        return;
    }
    arm();
}

/// A name is looked up by Asio's own thread: a name server that does not answer holds up nobody.
void RedisClient::resolve() {
    const RedisPlace& place = places_[place_];
    if (IpAddress::parse(place.host)) {
        connect_tcp(place.host);
        return;
    }
    resolver_ = std::make_unique<asio::ip::tcp::resolver>(loop_);
    resolver_->async_resolve(
        place.host,
        "",
        [this, alive = std::weak_ptr<bool>(alive_), link = link_](const error_code& error,
                                                                  const auto& found) {
            if (alive.expired() || link != link_ || state_ != State::Connecting) {
                return;
            }
            if (error || found.empty()) {
                place_failed(error ? error.message() : "no address");
            } else {
                connect_tcp(found.begin()->endpoint().address().to_string());
            }
        });
    arm();
}

void RedisClient::connect_tcp(const std::string& address) {
    if (const std::string why = link_->connect_tcp(address, places_[place_].port); !why.empty()) {
        place_failed(why);
        return;
    }
    arm();
}

void RedisClient::select() {
    const std::string number = fmt::format_int(places_[place_].database).str();
    const std::array<std::string_view, 2> words{"SELECT", number};
    send({.kind = Kind::Select}, words);
}

void RedisClient::place_failed(const std::string& why) {
    failures_text_ += fmt::format(
        "{}{}: {}", failures_text_.empty() ? "" : "; ", to_string(places_[place_]), why);
    disconnect();
    state_ = State::Connecting;
    ++place_;
    try_place();
}

void RedisClient::lose(const std::string& why) {
    if (options_.now() - up_since_ >= kStood) {
        failures_ = 0;
    }
    set_trouble(fmt::format("Redis at {} is gone: {}", to_string(places_[place_]), why));
    disconnect();
    back_off();
    callbacks_.on_down();
}

void RedisClient::disconnect() {
    if (link_) {
        link_->close();
        link_.reset();
    }
    resolver_.reset();
    pending_.clear();
    stalled_ = false;
    reading_ = false;
    read_failed_ = false;
    scanning_ = false;
    to_read_.clear();
    reads_ = 0;
    refusal_.clear();
}

void RedisClient::back_off() {
    const Duration delay =
        backoff(options_.backoff_first, options_.backoff_max, failures_, random_);
    ++failures_;
    state_ = State::BackingOff;
    retry_at_ = options_.now() + delay;
    arm();
}

void RedisClient::set_trouble(std::string text) {
    if (text != trouble_) {
        trouble_ = std::move(text);
        callbacks_.on_progress();
    }
}

// Commands ----------------------------------------------------------------------------------------

bool RedisClient::has_room() const {
    return state_ == State::Up && !stalled_ && pending_.size() < options_.under_way_max;
}

void RedisClient::send(Pending pending, std::span<const std::string_view> words) {
    if (pending_.empty()) {
        waiting_since_ = options_.now();
    }
    pending_.push_back(std::move(pending));
    link_->send(words);
    arm();
}

void RedisClient::carry_out(const statedb::MirrorOp& op) {
    if (state_ != State::Up) {
        return;  // It will be asked again when there is a connection.
    }
    if (const auto* row = std::get_if<statedb::PutRow>(&op)) {
        put(*row);
    } else if (const auto* drop = std::get_if<statedb::DropRow>(&op)) {
        const std::array<std::string_view, 2> words{"DEL", drop->key};
        send({.kind = Kind::Row, .id = drop->id, .key = drop->key}, words);
    } else if (const auto* read = std::get_if<statedb::ReadRow>(&op)) {
        const std::array<std::string_view, 2> words{"HGETALL", read->key};
        send({.kind = Kind::Heartbeat}, words);
    } else {
        reading_ = true;
        read_failed_ = false;
        scanning_ = false;
        cursor_.clear();
        to_read_.clear();
        go_on_reading();
    }
}

void RedisClient::put(const statedb::PutRow& row) {
    std::vector<std::string_view> words{"HSET", row.key};
    words.reserve(2 + 2 * row.fields.size());
    for (const auto& [name, value] : row.fields) {
        words.push_back(name);
        words.push_back(value);
    }
    if (!row.replace) {
        send({.kind = Kind::Row, .id = row.id, .key = row.key, .is_put = true}, words);
        return;
    }
    constexpr std::array<std::string_view, 1> kMulti{"MULTI"};
    constexpr std::array<std::string_view, 1> kExec{"EXEC"};
    const std::array<std::string_view, 2> del{"DEL", row.key};
    send({.kind = Kind::Part}, kMulti);
    send({.kind = Kind::Part}, del);
    send({.kind = Kind::Part}, words);
    send({.kind = Kind::Transaction, .id = row.id, .key = row.key}, kExec);
}

// Replies -----------------------------------------------------------------------------------------

void RedisClient::on_reply(const redisReply& reply) {
    if (pending_.empty()) {
        lose("it answered what nobody has asked");
        return;
    }
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    waiting_since_ = options_.now();
    if (std::exchange(stalled_, false)) {
        set_trouble({});
    }
    switch (pending.kind) {
        case Kind::Select: on_select(reply); return;
        case Kind::Part:
            if (is_error(reply) && refusal_.empty()) {
                refusal_ = text_of(reply);
            }
            return;
        case Kind::Row:
        case Kind::Transaction: on_row_reply(pending, reply); return;
        case Kind::Heartbeat: on_heartbeat(reply); return;
        case Kind::Scan: on_scan(reply); return;
        case Kind::Read: on_read(pending, reply); return;
    }
}

void RedisClient::on_select(const redisReply& reply) {
    if (is_error(reply)) {
        place_failed(std::string(text_of(reply)));
        return;
    }
    state_ = State::Up;
    up_since_ = options_.now();
    set_trouble({});
    callbacks_.on_up(places_[place_]);
}

void RedisClient::on_row_reply(const Pending& pending, const redisReply& reply) {
    // A transaction that was refused says only that something before was.
    const std::string before = std::exchange(refusal_, {});
    std::string_view words = is_error(reply) ? text_of(reply) : std::string_view();
    for (const redisReply* element : elements_of(reply)) {
        words = words.empty() && is_error(*element) ? text_of(*element) : words;
    }
    const bool has_failed = !words.empty();
    if (has_failed && pending.kind == Kind::Transaction && !before.empty()) {
        words = before;
    }
    const auto failure =
        words.starts_with("WRONGTYPE") ? statedb::Answer::WrongType : statedb::Answer::Refused;
    const auto success = pending.is_put && reply.type == REDIS_REPLY_INTEGER && reply.integer > 0
                             ? statedb::Answer::Created
                             : statedb::Answer::Done;
    callbacks_.on_answer(pending.id, pending.key, has_failed ? failure : success, words);
}

void RedisClient::on_heartbeat(const redisReply& reply) {
    if (is_error(reply)) {
        callbacks_.on_heartbeat_refused();
    } else {
        callbacks_.on_heartbeat(texts_of(reply));
    }
}

// Reading back ------------------------------------------------------------------------------------

void RedisClient::go_on_reading() {
    while (reads_ < options_.reads_under_way_max && !to_read_.empty() && !read_failed_) {
        std::string key = std::move(to_read_.front());
        to_read_.pop_front();
        ++reads_;
        const std::array<std::string_view, 2> words{"HGETALL", key};
        std::string copy = key;
        send({.kind = Kind::Read, .key = std::move(copy)}, words);
    }
    const bool scanned = cursor_ == "0";
    if (!scanned && !scanning_ && !read_failed_ && to_read_.empty()) {
        scanning_ = true;
        const std::string from = cursor_.empty() ? "0" : cursor_;
        const std::array<std::string_view, 6> words{
            "SCAN", from, "MATCH", kOurKeys, "COUNT", kScanCount};
        send({.kind = Kind::Scan}, words);
        return;
    }
    if (reading_ && !scanning_ && reads_ == 0 && (read_failed_ || (scanned && to_read_.empty()))) {
        reading_ = false;
        to_read_.clear();
        callbacks_.on_read_back(!read_failed_);
    }
}

void RedisClient::on_scan(const redisReply& reply) {
    scanning_ = false;
    const auto elements = elements_of(reply);
    if (elements.size() != 2 || text_of(*elements[0]).empty()) {
        read_failed_ = true;
    } else {
        cursor_ = text_of(*elements[0]);
        for (const std::string_view key : texts_of(*elements[1])) {
            if (statedb::is_ours(key, places_[place_].separator)) {
                to_read_.emplace_back(key);
            }
        }
    }
    go_on_reading();
}

void RedisClient::on_read(const Pending& pending, const redisReply& reply) {
    --reads_;
    if (!is_error(reply)) {
        // Of a key that has gone meanwhile nothing is left.
        if (const auto texts = texts_of(reply); !texts.empty()) {
            callbacks_.on_row(pending.key, texts);
        }
    } else if (text_of(reply).starts_with("WRONGTYPE")) {
        callbacks_.on_wrong_type(pending.key);
    } else {
        read_failed_ = true;
    }
    go_on_reading();
}

// Time --------------------------------------------------------------------------------------------

std::optional<TimePoint> RedisClient::wake_at() const {
    switch (state_) {
        case State::Stopped: return std::nullopt;
        case State::BackingOff: return retry_at_;
        case State::Connecting:
        case State::Up: break;
    }
    if (state_ == State::Up && pending_.empty()) {
        return std::nullopt;
    }
    return waiting_since_ + (stalled_ ? options_.give_up_after : options_.stalled_after);
}

/// A deadline that has moved away is looked at when the old one is reached: moving the timer with
/// every command would cost more than the command.
void RedisClient::arm() {
    const auto at = wake_at();
    if (!at || (armed_at_ && *armed_at_ <= *at)) {
        return;
    }
    armed_at_ = at;
    timer_.expires_at(*at);
    timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const error_code& error) {
        if (!error && !alive.expired()) {
            armed_at_.reset();
            tick();
        }
    });
}

void RedisClient::tick() {
    const TimePoint now = options_.now();
    const auto at = wake_at();
    if (!at || *at > now) {
        arm();
        return;
    }
    if (state_ == State::BackingOff) {
        attempt();
        return;
    }
    const std::string place = to_string(places_[place_]);
    if (!std::exchange(stalled_, true)) {
        if (state_ == State::Up || trouble_.empty()) {
            set_trouble(fmt::format(
                "Redis at {} has not answered for {}", place, seconds(options_.stalled_after)));
        }
        arm();
        return;
    }
    const std::string why = fmt::format("no answer for {}", seconds(options_.give_up_after));
    state_ == State::Up ? lose(why) : place_failed(why);
}

}  // namespace planed::io
