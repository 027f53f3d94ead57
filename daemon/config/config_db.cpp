// SPDX-License-Identifier: Apache-2.0
#include "config/config_db.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include "config/config_db_row.hpp"
#include "config/not_acted_on.hpp"

namespace planed::config {
namespace {

// In the order in which they are laid over each other: what a row refers to comes before it.
constexpr std::array<std::string_view, 8> kTables{"PLANED",
                                                  "PLANED_INTERFACE",
                                                  "VLAN_INTERFACE",
                                                  "NEIGH",
                                                  "PORTCHANNEL",
                                                  "EVPN_MH_GLOBAL",
                                                  "EVPN_ETHERNET_SEGMENT",
                                                  "LOGGER"};

bool is_evpn(std::string_view table) {
    return table.starts_with("EVPN_") || table == "PORTCHANNEL";
}

const DbFields* row_of(const DbRows& rows, std::string_view table, std::string_view key) {
    const auto found = rows.find(table);
    if (found == rows.end()) {
        return nullptr;
    }
    const auto row = found->second.find(key);
    return row == found->second.end() ? nullptr : &row->second;
}

Result<JudgedRow> judge(std::string_view table,
                        const std::string& key,
                        DbFields fields,
                        const DbRows& rows) {
    std::size_t bytes = 0;
    for (const auto& [name, text] : fields) {
        bytes += name.size() + text.size();
    }
    if (bytes > kDbRowMax) {
        return fail(Errc::Invalid,
                    fmt::format("has {} bytes; at most {} are taken", bytes, kDbRowMax));
    }
    fields.erase("NULL");  // How SONiC writes a row without fields: Redis has no empty one.
    return judge_row(table, key, fields, rows);
}

// Of the rows of interfaces, by row.
std::vector<std::string> not_acted_on_in(const DbRows& rows, const Config& config) {
    constexpr std::string_view kPath = "interfaces[0].";
    std::vector<std::string> keys;
    const auto table = rows.find("PLANED_INTERFACE");
    for (const auto& [name, fields] : table == rows.end() ? DbTable() : table->second) {
        Config alone;
        for (const InterfaceConfig& entry : config.interfaces) {
            if (entry.name == name) {
                alone.interfaces.push_back(entry);
            }
        }
        Places written;
        for (const auto& [field, text] : fields) {
            written.try_emplace(fmt::format("{}{}", kPath, field));
        }
        for (const std::string& key : not_acted_on(alone, written)) {
            keys.push_back(fmt::format("PLANED_INTERFACE|{} {}", name, key.substr(kPath.size())));
        }
    }
    return keys;
}

class Merger {
public:
    Merger(const Config& file, const DbRows& rows, const DbRows& before)
        : file_(file), rows_(rows), before_(before) {}

    Merged run() {
        // A row that cannot stand beside the others gives way to what it said before, which may
        // not be able to either: everything is laid out anew until nothing gives way any more.
        do {
            again_ = false;
            effect_ = {.config = file_};
            in_effect_ = {};
            const std::vector<Candidate> candidates = collect();
            apply(candidates);
        } while (again_);
        Merged merged{.config = std::move(effect_.config),
                      .in_effect = std::move(in_effect_),
                      .left_to_sonic = std::move(effect_.left_to_sonic),
                      .log_level = std::move(effect_.log_level)};
        merged.not_acted_on = not_acted_on_in(merged.in_effect, merged.config);
        for (auto& [name, standing] : standings_) {
            merged.refused.push_back(
                {.table = name.first, .key = name.second, .reason = std::move(standing.reason)});
        }
        return merged;
    }

private:
    using Name = std::pair<std::string, std::string>;
    struct Candidate {
        Name name;
        JudgedRow row;
    };
    struct Standing {  // Of a refused row.
        std::string reason;
        bool out = false;  // What it said before cannot stand either.
    };

    std::vector<Candidate> collect() {
        std::vector<Candidate> candidates;
        for (const std::string_view table : kTables) {
            const auto found = rows_.find(table);
            // Without EVPN in planed.yaml those rows are for others alone.
            if (found == rows_.end() || (is_evpn(table) && !file_.evpn.is_on())) {
                continue;
            }
            for (const auto& [key, fields] : found->second) {
                collect({std::string(table), key}, fields, candidates);
            }
        }
        return candidates;
    }

    void collect(Name name, const DbFields& fields, std::vector<Candidate>& candidates) {
        if (!standings_.contains(name)) {
            auto row = judge(name.first, name.second, fields, rows_);
            if (row) {
                candidates.push_back({.name = std::move(name), .row = std::move(*row)});
                return;
            }
            standings_[name].reason = row.error().text;
        }
        Standing& standing = standings_[name];
        const DbFields* before = row_of(before_, name.first, name.second);
        if (standing.out || before == nullptr) {
            return;
        }
        auto row = judge(name.first, name.second, *before, before_);
        if (row) {
            candidates.push_back({.name = std::move(name), .row = std::move(*row)});
        }
    }

    // All at once where all is well, which is nearly always; else by halves down to those that are
    // not.
    void apply(std::span<const Candidate> some) {
        if (some.empty()) {
            return;
        }
        DbEffect trial = effect_;
        std::vector<Problem> problems;
        for (const Candidate& each : some) {
            problems.push_back(each.row.apply(trial));
        }
        if (const Problem problem = first_fault(trial.config, some.front().name.first); !problem) {
            effect_ = std::move(trial);
            settle(some, problems);
        } else if (some.size() == 1) {
            refuse(some.front().name, problems.front().value_or(*problem));
        } else {
            apply(some.first(some.size() / 2));
            apply(some.subspan(some.size() / 2));
        }
    }

    void settle(std::span<const Candidate> some, std::span<const Problem> problems) {
        for (std::size_t i = 0; i < some.size(); ++i) {
            const auto& [table, key] = some[i].name;
            if (problems[i]) {
                refuse(some[i].name, *problems[i]);
            } else {
                in_effect_[table][key] = some[i].row.fields;
            }
        }
    }

    void refuse(const Name& name, const std::string& reason) {
        const auto [found, fresh] = standings_.try_emplace(name, Standing{.reason = reason});
        if (!fresh) {
            found->second.out = true;
        } else if (row_of(before_, name.first, name.second) != nullptr) {
            again_ = true;
        }
    }

    const Config& file_;
    const DbRows& rows_;
    const DbRows& before_;
    DbEffect effect_;
    DbRows in_effect_;
    std::map<Name, Standing> standings_;
    bool again_ = false;
};

}  // namespace

std::span<const std::string_view> db_tables() {
    return kTables;
}

bool is_read(std::string_view table, std::string_view key) {
    if (table == "LOGGER") {
        return key == "planed";
    }
    // VLAN_INTERFACE has rows for addresses too, which the kernel tells.
    return table != "VLAN_INTERFACE" || key.find('|') == std::string_view::npos;
}

Merged merge(const Config& file, const DbRows& rows, const DbRows& before) {
    return Merger(file, rows, before).run();
}

}  // namespace planed::config
