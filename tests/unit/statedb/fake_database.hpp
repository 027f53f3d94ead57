// SPDX-License-Identifier: Apache-2.0
// A database of rows inside the test: carries out what a Mirror asks for as a Redis would, in
// order, and can be told to refuse. And a leaf with such a mirror beside it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "statedb/mirror.hpp"
#include "support/leaf.hpp"

namespace planed::statedb {

using RowText = std::map<std::string, std::string>;

inline const std::string kWrongType = "(not a row)";  // NOLINT(cert-err58-cpp)

class FakeDatabase {
public:
    std::map<std::string, RowText> rows;
    bool full = false;
    bool read_only = false;
    std::size_t puts = 0;
    std::size_t replaced = 0;
    std::size_t drops = 0;
    std::size_t read_backs = 0;

    void set_wrong_type(const std::string& key) { rows[key] = {{kWrongType, ""}}; }
    static bool is_wrong_type(const RowText& row) { return row.contains(kWrongType); }

    void carry_out(const MirrorOp& op, Mirror& mirror, TimePoint now) {
        if (const auto* put = std::get_if<PutRow>(&op)) {
            this->put(*put, mirror, now);
        } else if (const auto* drop = std::get_if<DropRow>(&op)) {
            if (read_only) {
                mirror.answered(drop->id, drop->key, Answer::Refused, "READONLY", now);
                return;
            }
            ++drops;
            rows.erase(drop->key);
            mirror.answered(drop->id, drop->key, Answer::Done, "", now);
        } else if (const auto* read = std::get_if<ReadRow>(&op)) {
            mirror.heartbeat_seen(texts_of(rows[read->key]), now);
            std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
        } else {
            ++read_backs;
            for (const auto& [key, row] : std::map<std::string, RowText>(rows)) {
                if (!is_ours(key, "|")) {
                    continue;
                }
                if (is_wrong_type(row)) {
                    mirror.row_of_wrong_type(key, now);
                } else {
                    mirror.row_seen(key, texts_of(row), now);
                }
            }
            mirror.read_back_finished(true, now);
        }
    }

    static std::vector<std::string_view> texts_of(const RowText& row) {
        std::vector<std::string_view> texts;
        for (const auto& [name, value] : row) {
            texts.push_back(name);
            texts.push_back(value);
        }
        return texts;
    }

private:
    void put(const PutRow& put, Mirror& mirror, TimePoint now) {
        if (full || read_only) {
            mirror.answered(put.id, put.key, Answer::Refused, full ? "OOM" : "READONLY", now);
            return;
        }
        if (is_wrong_type(rows[put.key]) && !put.replace) {
            mirror.answered(put.id, put.key, Answer::WrongType, "WRONGTYPE", now);
            return;
        }
        if (put.replace) {
            ++replaced;
            rows[put.key].clear();
        }
        const std::size_t fields_before = rows[put.key].size();
        for (const auto& [name, value] : put.fields) {
            rows[put.key][std::string(name)] = value;
        }
        ++puts;
        const bool created = !put.replace && rows[put.key].size() > fields_before;
        mirror.answered(put.id, put.key, created ? Answer::Created : Answer::Done, "", now);
    }
};

/// A leaf whose mirror follows it turn by turn.
class MirroredLeaf : public test::RailLeaf {
public:
    explicit MirroredLeaf(Config config = named(), MirrorOptions options = {})
        : RailLeaf(std::move(config)), mirror(with_version(std::move(options))) {
        engine.keep_changes(true);
    }

    static Config named() {
        Config config = test::serving({"br0"});
        config.node = {.name = "leaf-a1", .plane = "A"};
        return config;
    }

    Mirror mirror;
    FakeDatabase database;
    std::vector<MirrorOp> sent;
    EvpnRows evpn;
    std::size_t evpn_asked = 0;

    void connect() {
        mirror.up(now);
        follow();
    }
    /// What the engine has decided reaches the database, and what EVPN has when it is due.
    void follow() {
        mirror.take(engine.take_changes());
        if (mirror.evpn_rows_due(now)) {
            ++evpn_asked;
            mirror.take(evpn, now);
        }
        mirror.settle(EngineView(engine), now);
        while (const auto op = mirror.next(EngineView(engine), now)) {
            sent.push_back(*op);
            database.carry_out(*op, mirror, now);
        }
    }
    void happen(std::vector<Input> inputs) {
        (void)feed(std::move(inputs));
        follow();
    }
    void happen(const Input& input) { happen(std::vector<Input>{input}); }
    void show(EvpnRows rows) {
        evpn = std::move(rows);
        mirror.evpn_changed();
        follow();
    }
    /// As the loop does: wakes when the mirror or the engine asks for it.
    void pass(Duration span) {
        const TimePoint end = now + span;
        std::size_t turns_at_one_instant = 0;
        while (true) {
            const auto mirrors = mirror.wake_at(true);
            const auto engines = engine.wake_at();
            auto at = mirrors && engines ? std::min(*mirrors, *engines)
                                         : (mirrors ? *mirrors : engines.value_or(end + 1ns));
            if (at > end) {
                break;
            }
            turns_at_one_instant = at > now ? 0 : turns_at_one_instant + 1;
            PLANED_ASSERT(turns_at_one_instant < 100);  // The loop would spin.
            now = std::max(now, at);
            happen(std::vector<Input>{});
        }
        now = end;
        follow();
    }

    [[nodiscard]] std::vector<PutRow> puts() const {
        std::vector<PutRow> found;
        for (const MirrorOp& op : sent) {
            if (const auto* put = std::get_if<PutRow>(&op)) {
                found.push_back(*put);
            }
        }
        return found;
    }

private:
    static MirrorOptions with_version(MirrorOptions options) {
        options.version = "0.1.0";
        return options;
    }
};

inline const std::string kGlobalRow = "PLANED_TABLE|global";                       // NOLINT
inline const std::string kBr0Row = "PLANED_INTERFACE_TABLE|br0";                   // NOLINT
inline const std::string kHostRow = "PLANED_NEIGHBOR_TABLE|default|br0|10.0.0.5";  // NOLINT
inline const std::string kRouteRow = "PLANED_ROUTE_TABLE|default|10.0.0.5/32";     // NOLINT

}  // namespace planed::statedb
