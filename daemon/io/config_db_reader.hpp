// SPDX-License-Identifier: Apache-2.0
// Reads the rows of CONFIG_DB that concern planed, all of them, and again whenever Redis tells that
// one has changed. Two connections: one that is told, which Redis then lets do nothing else, and
// one that asks. It subscribes before it reads, so no change falls between the two. It starts over
// when a connection ends; nobody hears of rows meanwhile, which is no reason to forget any.
//
// A database that is not loaded yet is not believed: SONiC's `config reload` empties CONFIG_DB,
// fills it, and sets CONFIG_DB_INITIALIZED to 1 at the end. Nor is one without any key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/config.hpp"
#include "config/config_db.hpp"
#include "io/clock.hpp"
#include "io/redis_link.hpp"
#include "io/redis_places.hpp"
#include "net/time.hpp"

namespace planed::io {

struct ConfigDbReaderOptions {
    RedisConfig config{};
    std::string name_space{};  // See sonic_namespace().

    Duration backoff_first = 50ms;
    Duration backoff_max = 1s;
    Duration give_up_after = 10s;  // No answer for so long: a new connection is made.
    Duration gather = 50ms;        // Changes that come together are read together.
    Duration not_loaded_retry = 500ms;
    Duration untold_interval = 3s;  // Redis does not tell of changes: it is read so often.
    Duration audit_interval = 60s;  // It does, and yet: FLUSHDB, for one, is told to nobody.
    std::size_t under_way_max = 128;

    std::uint64_t seed = std::random_device{}();  // Of the back-off's jitter.
    TimePoint (*now)() = &io::now;
};

struct ConfigDbCallbacks {
    std::function<void(config::DbRows rows)> on_rows;  // All there are, whether or not others.
    std::function<void()> on_trouble;                  // trouble() has changed.
};

class ConfigDbReader {
public:
    ConfigDbReader(boost::asio::io_context& loop,
                   ConfigDbReaderOptions options,
                   ConfigDbCallbacks callbacks);
    ~ConfigDbReader();
    ConfigDbReader(const ConfigDbReader&) = delete;
    ConfigDbReader& operator=(const ConfigDbReader&) = delete;
    ConfigDbReader(ConfigDbReader&&) = delete;
    ConfigDbReader& operator=(ConfigDbReader&&) = delete;

    void start();
    /// Why rows may be others than they were last said to be, as a sentence; empty: they are not.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
    enum class State : std::uint8_t { Stopped, BackingOff, Connecting, Up };
    enum class Kind : std::uint8_t { Select, Loaded, Notify, Scan, Row, LoadedStill };
    struct Pending {
        Kind kind{};
        std::string table{};
        std::string key{};
    };

    void attempt();
    void try_place();
    void resolve();
    void connect(const std::shared_ptr<RedisLink>& link);
    [[nodiscard]] std::shared_ptr<RedisLink> make_link(
        std::function<void()> on_connected, std::function<void(const redisReply&)> on_reply);
    void subscribe();
    void on_told(const redisReply& reply);
    void fail(const std::string& why);
    void disconnect();
    void back_off();
    void set_trouble(std::string text);

    void send(Pending pending, std::span<const std::string_view> words);
    void on_reply(const redisReply& reply);
    void read();
    void scan(std::string_view cursor);
    void on_scan(const redisReply& reply);
    void take_key(std::string_view key);
    void read_rows();
    void on_row(const Pending& pending, const redisReply& reply);
    void finish(bool loaded);
    [[nodiscard]] bool is_loaded(const redisReply& reply);

    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    void arm();
    void tick();

    boost::asio::io_context& loop_;
    ConfigDbReaderOptions options_;
    ConfigDbCallbacks callbacks_;
    std::mt19937_64 random_;

    State state_ = State::Stopped;
    std::vector<RedisPlace> places_;
    std::size_t place_ = 0;      // Of places_, that is being tried or that we are at.
    std::string address_;        // Of its host, once it is known.
    std::string failures_text_;  // Of the places that were tried.
    std::shared_ptr<RedisLink> told_;
    std::shared_ptr<RedisLink> asking_;
    std::size_t subscriptions_ = 0;  // Confirmed.
    std::unique_ptr<boost::asio::ip::tcp::resolver> resolver_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For handlers that outlive us.

    std::deque<Pending> pending_;  // In the order in which they will be answered.
    TimePoint waiting_since_{};    // For a first sign, or since the last one.

    // Of the read that is under way.
    bool reading_ = false;
    bool loaded_ = false;
    bool has_keys_ = false;
    bool too_many_ = false;
    bool tells_ = false;
    std::set<std::pair<std::string, std::string>> keys_;  // Table and key.
    std::deque<std::pair<std::string, std::string>> to_read_;
    std::size_t rows_under_way_ = 0;
    config::DbRows rows_;

    bool changed_ = false;          // Since the last read began.
    bool was_initialized_ = false;  // CONFIG_DB_INITIALIZED has been seen: there it counts.
    std::optional<TimePoint> read_at_;

    boost::asio::steady_timer timer_;
    std::optional<TimePoint> armed_at_;
    TimePoint retry_at_{};
    unsigned failures_ = 0;  // Since rows were read.
    std::string trouble_;
};

}  // namespace planed::io
