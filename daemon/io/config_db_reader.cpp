// SPDX-License-Identifier: Apache-2.0
#include "io/config_db_reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <fmt/format.h>

#include "io/backoff.hpp"
#include "io/redis_reply.hpp"
#include "net/assert.hpp"
#include "net/ip_address.hpp"

namespace planed::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Keys of the database that a SCAN call looks at: about 0.2 ms of the server's time.
constexpr std::string_view kScannedKeys = "512";
constexpr std::string_view kInitialized = "CONFIG_DB_INITIALIZED";

/// Whether `notify-keyspace-events` has Redis publish what becomes of hashes: keyspace events, of
/// hashes and of any key (redis.conf).
bool tells_of_rows(std::string_view flags) {
    const auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
    return has('K') && (has('A') || (has('g') && has('h')));
}

}  // namespace

ConfigDbReader::ConfigDbReader(asio::io_context& loop,
                               ConfigDbReaderOptions options,
                               ConfigDbCallbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      random_(options_.seed),
      timer_(loop) {}

ConfigDbReader::~ConfigDbReader() {
    disconnect();
}

void ConfigDbReader::start() {
    PLANED_ASSERT(state_ == State::Stopped);
    attempt();
}

// Connecting --------------------------------------------------------------------------------------

void ConfigDbReader::attempt() {
    state_ = State::Connecting;
    failures_text_.clear();
    auto places = redis_places(options_.config, options_.name_space, SonicDatabase::ConfigDb);
    if (!places) {
        set_trouble(fmt::format("CONFIG_DB is not read: {}", places.error().text));
        back_off();
        return;
    }
    places_ = std::move(*places);
    place_ = 0;
    try_place();
}

void ConfigDbReader::try_place() {
    if (place_ >= places_.size()) {
        set_trouble(fmt::format("CONFIG_DB is not read: {}", failures_text_));
        back_off();
        return;
    }
    waiting_since_ = options_.now();
    told_ = make_link([this] { subscribe(); }, [this](const redisReply& reply) { on_told(reply); });
    const RedisPlace& place = places_[place_];
    address_ = place.host;
    if (!place.unix_socket.empty() || IpAddress::parse(place.host)) {
        connect(told_);
    } else {
        resolve();
    }
    arm();
}

/// A name is looked up by Asio's own thread: a name server that does not answer holds up nobody.
void ConfigDbReader::resolve() {
    resolver_ = std::make_unique<asio::ip::tcp::resolver>(loop_);
    resolver_->async_resolve(
        places_[place_].host,
        "",
        [this, alive = std::weak_ptr<bool>(alive_), link = told_](const error_code& error,
                                                                  const auto& found) {
            if (alive.expired() || link != told_ || state_ != State::Connecting) {
                return;
            }
            if (error || found.empty()) {
                fail(error ? error.message() : "no address");
                return;
            }
            address_ = found.begin()->endpoint().address().to_string();
            connect(told_);
        });
}

void ConfigDbReader::connect(const std::shared_ptr<RedisLink>& link) {
    const RedisPlace& place = places_[place_];
    const std::string why = place.unix_socket.empty() ? link->connect_tcp(address_, place.port)
                                                      : link->connect_unix(place.unix_socket);
    if (!why.empty()) {
        fail(why);
    }
}

std::shared_ptr<RedisLink> ConfigDbReader::make_link(
    std::function<void()> on_connected, std::function<void(const redisReply&)> on_reply) {
    return RedisLink::make(loop_,
                           {.on_connected = std::move(on_connected),
                            .on_reply = std::move(on_reply),
                            .on_read = [] {},
                            .on_closed = [this](const std::string& why) { fail(why); }});
}

void ConfigDbReader::subscribe() {
    const RedisPlace& place = places_[place_];
    const std::string channel = fmt::format("__keyspace@{}__:", place.database);
    std::vector<std::string> patterns{fmt::format("{}{}", channel, kInitialized)};
    for (const std::string_view table : config::db_tables()) {
        patterns.push_back(fmt::format("{}{}{}*", channel, table, place.separator));
    }
    std::vector<std::string_view> words{"PSUBSCRIBE"};
    words.insert(words.end(), patterns.begin(), patterns.end());
    subscriptions_ = 0;
    told_->send(words);
}

/// Each pattern is confirmed by itself; whatever else comes is news.
void ConfigDbReader::on_told(const redisReply& reply) {
    const auto elements = elements_of(reply);
    if (elements.empty()) {
        fail(fmt::format("{} (to PSUBSCRIBE)", text_of(reply)));
        return;
    }
    waiting_since_ = options_.now();
    if (text_of(*elements.front()) != "psubscribe") {
        changed_ = true;
        if (!reading_ && state_ == State::Up) {
            const TimePoint soon = options_.now() + options_.gather;
            read_at_ = read_at_ ? std::min(*read_at_, soon) : soon;
            arm();
        }
    } else if (++subscriptions_ == config::db_tables().size() + 1) {
        asking_ = make_link(
            [this] {
                const std::string number = fmt::format_int(places_[place_].database).str();
                const std::array<std::string_view, 2> words{"SELECT", number};
                send({.kind = Kind::Select}, words);
            },
            [this](const redisReply& answer) { on_reply(answer); });
        connect(asking_);
    }
}

/// The place does not work, or does not work any more.
void ConfigDbReader::fail(const std::string& why) {
    if (state_ == State::Up) {
        set_trouble(fmt::format(
            "CONFIG_DB is not read: Redis at {} is gone: {}", to_string(places_[place_]), why));
        disconnect();
        back_off();
        return;
    }
    failures_text_ += fmt::format(
        "{}{}: {}", failures_text_.empty() ? "" : "; ", to_string(places_[place_]), why);
    disconnect();
    ++place_;
    try_place();
}

void ConfigDbReader::disconnect() {
    for (auto* link : {&told_, &asking_}) {
        if (*link) {
            (*link)->close();
            link->reset();
        }
    }
    resolver_.reset();
    pending_.clear();
    reading_ = false;
    rows_under_way_ = 0;
    to_read_.clear();
    read_at_.reset();
}

void ConfigDbReader::back_off() {
    const Duration delay =
        backoff(options_.backoff_first, options_.backoff_max, failures_, random_);
    ++failures_;
    state_ = State::BackingOff;
    retry_at_ = options_.now() + delay;
    arm();
}

void ConfigDbReader::set_trouble(std::string text) {
    if (text != trouble_) {
        trouble_ = std::move(text);
        callbacks_.on_trouble();
    }
}

// Asking ------------------------------------------------------------------------------------------

void ConfigDbReader::send(Pending pending, std::span<const std::string_view> words) {
    if (pending_.empty()) {
        waiting_since_ = options_.now();
    }
    pending_.push_back(std::move(pending));
    asking_->send(words);
    arm();
}

void ConfigDbReader::on_reply(const redisReply& reply) {
    if (pending_.empty()) {
        fail("it answered what nobody has asked");
        return;
    }
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    waiting_since_ = options_.now();
    // Another type than a hash is one row's fault, and CONFIG may be forbidden; the rest must work.
    if (is_error(reply) && pending.kind != Kind::Row && pending.kind != Kind::Notify) {
        fail(std::string(text_of(reply)));
        return;
    }
    switch (pending.kind) {
        case Kind::Select:
            state_ = State::Up;
            read();
            return;
        case Kind::Loaded: loaded_ = is_loaded(reply); return;
        case Kind::Notify:
            tells_ = elements_of(reply).size() == 2 && tells_of_rows(text_of(*reply.element[1]));
            return;
        case Kind::Scan: on_scan(reply); return;
        case Kind::Row: on_row(pending, reply); return;
        case Kind::LoadedStill: finish(loaded_ && is_loaded(reply)); return;
    }
}

void ConfigDbReader::read() {
    reading_ = true;
    changed_ = false;
    read_at_.reset();
    has_keys_ = false;
    too_many_ = false;
    keys_.clear();
    to_read_.clear();
    rows_.clear();
    constexpr std::array<std::string_view, 2> kLoaded{"GET", kInitialized};
    constexpr std::array<std::string_view, 3> kNotify{"CONFIG", "GET", "notify-keyspace-events"};
    send({.kind = Kind::Loaded}, kLoaded);
    send({.kind = Kind::Notify}, kNotify);
    scan("0");
}

void ConfigDbReader::scan(std::string_view cursor) {
    const std::array<std::string_view, 4> words{"SCAN", cursor, "COUNT", kScannedKeys};
    send({.kind = Kind::Scan}, words);
}

void ConfigDbReader::on_scan(const redisReply& reply) {
    const auto elements = elements_of(reply);
    if (elements.size() != 2) {
        fail("its answer to SCAN is none");
        return;
    }
    for (const redisReply* key : elements_of(*elements[1])) {
        has_keys_ = true;
        take_key(text_of(*key));
    }
    const std::string cursor(text_of(*elements[0]));
    if (cursor != "0") {
        scan(cursor);
        return;
    }
    to_read_.assign(keys_.begin(), keys_.end());
    read_rows();
}

void ConfigDbReader::take_key(std::string_view key) {
    const std::string& separator = places_[place_].separator;
    const std::size_t at = key.find(separator);
    const std::string_view table = key.substr(0, at);
    const auto tables = config::db_tables();
    if (at == std::string_view::npos ||
        std::find(tables.begin(), tables.end(), table) == tables.end()) {
        return;
    }
    const std::string_view rest = key.substr(at + separator.size());
    if (!config::is_read(table, rest)) {
        return;
    }
    if (keys_.size() >= config::kDbRowsMax) {
        too_many_ = true;
        return;
    }
    keys_.emplace(table, rest);
}

void ConfigDbReader::read_rows() {
    while (!to_read_.empty() && rows_under_way_ < options_.under_way_max) {
        auto [table, key] = std::move(to_read_.front());
        to_read_.pop_front();
        const std::string whole = fmt::format("{}{}{}", table, places_[place_].separator, key);
        const std::array<std::string_view, 2> words{"HGETALL", whole};
        ++rows_under_way_;
        send({.kind = Kind::Row, .table = std::move(table), .key = std::move(key)}, words);
    }
    if (rows_under_way_ == 0) {
        constexpr std::array<std::string_view, 2> kLoaded{"GET", kInitialized};
        send({.kind = Kind::LoadedStill}, kLoaded);
    }
}

void ConfigDbReader::on_row(const Pending& pending, const redisReply& reply) {
    --rows_under_way_;
    const auto elements = elements_of(reply);
    if (!elements.empty()) {  // Else it has gone meanwhile, or is no row.
        config::DbFields& row = rows_[pending.table][pending.key];
        for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
            row.insert_or_assign(std::string(text_of(*elements[i])),
                                 std::string(text_of(*elements[i + 1])));
        }
    }
    read_rows();
}

bool ConfigDbReader::is_loaded(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) {
        return !was_initialized_;
    }
    was_initialized_ = true;
    return text_of(reply) == "1";
}

void ConfigDbReader::finish(bool loaded) {
    reading_ = false;
    failures_ = 0;
    const TimePoint now = options_.now();
    const bool believed = loaded && has_keys_;
    read_at_ = now + (changed_    ? options_.gather
                      : !believed ? options_.not_loaded_retry
                      : !tells_   ? options_.untold_interval
                                  : options_.audit_interval);
    arm();
    if (!believed) {
        set_trouble(has_keys_ ? "CONFIG_DB is not loaded yet" : "CONFIG_DB is empty");
        return;
    }
    if (too_many_) {
        set_trouble(fmt::format("CONFIG_DB has more than {} rows for planed; the rest is not read",
                                config::kDbRowsMax));
    } else {
        set_trouble(tells_
                        ? ""
                        : "Redis does not tell of changes (notify-keyspace-events lacks K and A, "
                          "or K, g and h): CONFIG_DB is read every few seconds");
    }
    callbacks_.on_rows(std::exchange(rows_, {}));
}

// Time --------------------------------------------------------------------------------------------

std::optional<TimePoint> ConfigDbReader::wake_at() const {
    switch (state_) {
        case State::Stopped: return std::nullopt;
        case State::BackingOff: return retry_at_;
        case State::Connecting: return waiting_since_ + options_.give_up_after;
        case State::Up: break;
    }
    return pending_.empty() ? read_at_ : std::optional(waiting_since_ + options_.give_up_after);
}

void ConfigDbReader::arm() {
    const auto at = wake_at();
    // Later than planned is as good: tick() looks again. An answer must not set a timer each time.
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

void ConfigDbReader::tick() {
    const auto at = wake_at();
    if (!at || options_.now() < *at) {
        arm();
        return;
    }
    switch (state_) {
        case State::Stopped: return;
        case State::BackingOff: attempt(); return;
        case State::Connecting: fail("no answer"); return;
        case State::Up: break;
    }
    if (pending_.empty()) {
        read();
    } else {
        fail("no answer");
    }
}

}  // namespace planed::io
