// SPDX-License-Identifier: Apache-2.0
// What the peer shall know of us: the routes that are wanted, and which of them it has yet to be
// told. A queue with at most one word per route, the newest, so it is bounded by what is wanted
// however long the peer does not read. Withdrawals go first; routes with the same path share
// messages, in the order segment, A-D per segment, A-D per EVI, multicast, MAC/IP, prefix: a
// receiver needs the former to make use of the latter.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "bgp/update.hpp"
#include "net/result.hpp"

namespace planed::bgp {

class Advertisements {
public:
    Advertisements() = default;
    ~Advertisements() = default;
    Advertisements(const Advertisements&) = delete;  // Entries point into paths_.
    Advertisements& operator=(const Advertisements&) = delete;
    Advertisements(Advertisements&&) = default;
    Advertisements& operator=(Advertisements&&) = default;

    /// Takes the place of what was wanted with this key. An error: the attributes leave no room for
    /// a route in a message; nothing has changed.
    Result<void> want(const Route& route, const Path& path);
    void unwant(const RouteKey& key);

    /// The session is up: everything that is wanted waits, and then End-of-RIB.
    void begin();
    /// The session is gone, and with it what the peer had.
    void end();
    /// The peer asks for everything once more (RFC 2918).
    void resend();

    /// While held, End-of-RIB is not written: there is more to come (RFC 4724 4.1). Once let go it
    /// follows what is wanted then.
    void hold_end_of_rib(bool hold);

    /// Appends one UPDATE of at most `longest` octets; false: nothing waits.
    bool write_next(std::size_t longest, Bytes& out);

    [[nodiscard]] bool empty() const {
        return withdrawals_.empty() && waiting_.empty() && !owes_end_of_rib();
    }
    /// Routes that the peer has yet to be told of, either way.
    [[nodiscard]] std::size_t backlog() const { return withdrawals_.size() + waiting_.size(); }
    [[nodiscard]] std::size_t wanted() const { return wanted_.size(); }

private:
    struct Use {
        std::uint64_t id = 0;  // Of the path, in the order they came.
        std::size_t count = 0;
    };
    using Paths = std::map<Path, Use>;  // Its nodes stay where they are.

    struct Entry {
        Route route{};
        Paths::iterator path{};
        bool sent = false;     // The peer has it, in this form or an earlier one.
        bool initial = false;  // End-of-RIB waits for it.
    };
    struct Ranked {
        std::uint8_t rank = 0;
        RouteKey key{};
        friend auto operator<=>(const Ranked&, const Ranked&) = default;
    };
    struct Waiting {
        std::uint8_t rank = 0;
        std::uint64_t path = 0;
        RouteKey key{};
        friend auto operator<=>(const Waiting&, const Waiting&) = default;
    };

    [[nodiscard]] bool owes_end_of_rib() const { return end_of_rib_due_ && !end_of_rib_held_; }
    static std::uint8_t rank_of(const Route& route);
    static Ranked ranked(const RouteKey& key);
    static Waiting waiting(const Entry& entry);

    Result<Paths::iterator> use(const Path& path);
    void release(Paths::iterator path);
    void queue(const Entry& entry);
    void unqueue(Entry& entry);
    void settle_initial(Entry& entry);
    void write_withdrawals(std::size_t longest, Bytes& out);
    void write_routes(std::size_t longest, Bytes& out);

    absl::btree_map<RouteKey, Entry> wanted_;
    Paths paths_;
    std::uint64_t last_path_ = 0;
    absl::btree_set<Ranked> withdrawals_;
    absl::btree_set<Waiting> waiting_;
    bool active_ = false;
    bool end_of_rib_due_ = false;
    bool end_of_rib_held_ = false;
    std::size_t initial_left_ = 0;
};

}  // namespace planed::bgp
