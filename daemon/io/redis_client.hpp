// SPDX-License-Identifier: Apache-2.0
// The connection to STATE_DB: finds a server among the configured places, selects the database,
// carries out what statedb::Mirror asks for, and starts over when the connection ends. It decides
// nothing about rows. All of it runs on the loop that it is given; nothing here waits, and what is
// under way is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "config/config.hpp"
#include "io/clock.hpp"
#include "io/redis_link.hpp"
#include "io/redis_places.hpp"
#include "net/time.hpp"
#include "statedb/mirror.hpp"

namespace planed::io {

struct RedisClientOptions {
    RedisConfig config{};
    std::string name_space{};  // See sonic_namespace().

    Duration backoff_first = 50ms;
    Duration backoff_max = 400ms;  // Rows are right within a second of a server's return.
    Duration stalled_after = 1s;   // No answer for so long: nothing more is sent.
    Duration give_up_after = 10s;  // Then a new connection is made.
    std::size_t under_way_max = 1024;
    std::size_t reads_under_way_max = 128;

    std::uint64_t seed = std::random_device{}();  // Of the back-off's jitter.
    TimePoint (*now)() = &io::now;
};

struct RedisCallbacks {
    std::function<void(const RedisPlace&)> on_up;
    std::function<void()> on_down;
    std::function<void(
        std::uint64_t id, const std::string& key, statedb::Answer answer, std::string_view words)>
        on_answer;
    std::function<void(const std::string& key, std::span<const std::string_view>)> on_row;
    std::function<void(const std::string& key)> on_wrong_type;
    std::function<void(bool complete)> on_read_back;
    std::function<void(std::span<const std::string_view>)> on_heartbeat;
    std::function<void()> on_heartbeat_refused;
    /// There may be room again, or trouble() has changed.
    std::function<void()> on_progress;
};

class RedisClient {
public:
    RedisClient(boost::asio::io_context& loop,
                RedisClientOptions options,
                RedisCallbacks callbacks);
    ~RedisClient();
    RedisClient(const RedisClient&) = delete;
    RedisClient& operator=(const RedisClient&) = delete;
    RedisClient(RedisClient&&) = delete;
    RedisClient& operator=(RedisClient&&) = delete;

    void start();
    [[nodiscard]] bool has_room() const;
    void carry_out(const statedb::MirrorOp& op);
    /// Why there is no working connection, as a sentence; empty if there is one.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }
    [[nodiscard]] std::size_t under_way() const { return pending_.size(); }

private:
    enum class State : std::uint8_t { Stopped, BackingOff, Connecting, Up };
    enum class Kind : std::uint8_t { Select, Part, Row, Transaction, Heartbeat, Scan, Read };
    struct Pending {
        Kind kind{};
        std::uint64_t id = 0;
        std::string key{};
        bool is_put = false;
    };

    void attempt();
    void try_place();
    void resolve();
    void connect_tcp(const std::string& address);
    void select();
    void place_failed(const std::string& why);
    void lose(const std::string& why);
    void disconnect();
    void back_off();
    void set_trouble(std::string text);

    void send(Pending pending, std::span<const std::string_view> words);
    void put(const statedb::PutRow& row);
    void on_reply(const redisReply& reply);
    void on_select(const redisReply& reply);
    void on_row_reply(const Pending& pending, const redisReply& reply);
    void on_scan(const redisReply& reply);
    void on_read(const Pending& pending, const redisReply& reply);
    void on_heartbeat(const redisReply& reply);
    void go_on_reading();

    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    void arm();
    void tick();

    boost::asio::io_context& loop_;
    RedisClientOptions options_;
    RedisCallbacks callbacks_;
    std::mt19937_64 random_;

    State state_ = State::Stopped;
    std::vector<RedisPlace> places_;
    std::size_t place_ = 0;      // Of places_, that is being tried or that we are at.
    std::string failures_text_;  // Of the places that were tried.
    std::shared_ptr<RedisLink> link_;
    std::unique_ptr<boost::asio::ip::tcp::resolver> resolver_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For handlers that outlive us.

    std::deque<Pending> pending_;  // In the order in which they will be answered.
    TimePoint waiting_since_{};    // For a first sign, or since the last one.
    bool stalled_ = false;
    std::string refusal_;  // Within a transaction: what the first part that failed was told.

    bool reading_ = false;
    bool read_failed_ = false;
    bool scanning_ = false;
    std::string cursor_;
    std::deque<std::string> to_read_;
    std::size_t reads_ = 0;  // Under way.

    boost::asio::steady_timer timer_;
    std::optional<TimePoint> armed_at_;
    TimePoint retry_at_{};
    unsigned failures_ = 0;  // Since a connection stood.
    TimePoint up_since_{};
    std::string trouble_;
};

}  // namespace planed::io
