// SPDX-License-Identifier: Apache-2.0
#include "config/config_db_row.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "config/decode.hpp"
#include "config/document.hpp"
#include "config/keys.hpp"
#include "config/match.hpp"
#include "config/suggest.hpp"
#include "config/validate.hpp"

namespace planed::config {
namespace {

constexpr std::string_view kGlobal = "PLANED";
constexpr std::string_view kInterface = "PLANED_INTERFACE";
constexpr std::string_view kVlanInterface = "VLAN_INTERFACE";
constexpr std::string_view kNeighbor = "NEIGH";
constexpr std::string_view kPortChannel = "PORTCHANNEL";
constexpr std::string_view kMultihoming = "EVPN_MH_GLOBAL";
constexpr std::string_view kSegment = "EVPN_ETHERNET_SEGMENT";
constexpr std::string_view kLogger = "LOGGER";

// What a field of a row is called in planed.yaml. SONiC writes a list as one text, its elements
// parted by commas, under a name that ends in '@'.
struct FieldName {
    std::string_view field;
    std::string_view path;
};
constexpr std::string_view kKey = "key";  // Of a row, where it is what is wrong.

constexpr std::array<FieldName, 17> kGlobalFields{{
    {"plane", "node.plane"},
    {"on_exit", "on_exit"},
    {"uplinks@", "uplinks"},
    {"uplinks_down", "uplinks_down"},
    {"refresh", "learning.refresh"},
    {"probe_interval", "learning.probe_interval"},
    {"probe_attempts", "learning.probe_attempts"},
    {"distance", "routes.distance"},
    {"metric", "routes.metric"},
    {"nexthop", "routes.nexthop"},
    {"tag", "routes.tag"},
    {"add_delay", "routes.add_delay"},
    {"withdraw_delay_silent", "routes.withdraw_delay.silent"},
    {"withdraw_delay_port_down", "routes.withdraw_delay.port_down"},
    {"max_flaps", "routes.damping.max_flaps"},
    {"flap_window", "routes.damping.window"},
    {"flap_hold", "routes.damping.hold"},
}};
constexpr std::array<FieldName, 8> kInterfaceFields{{
    {kKey, "interfaces[0].name"},
    {"prefixes@", "interfaces[0].prefixes"},
    {"exclude@", "interfaces[0].exclude"},
    {"proxy_arp", "interfaces[0].proxy_arp"},
    {"proxy_nd", "interfaces[0].proxy_nd"},
    {"snoop", "interfaces[0].snoop"},
    {"max_hosts", "interfaces[0].max_hosts"},
    {"unresolved", "interfaces[0].unresolved"},
}};
constexpr std::array<FieldName, 3> kNeighborFields{{
    {kKey, "interfaces[0].name"},
    {kKey, "interfaces[0].hosts[0].address"},
    {"neigh", "interfaces[0].hosts[0].mac"},
}};
constexpr std::array<FieldName, 5> kSegmentFields{{
    {kKey, "evpn.segments[0].port"},
    {"esi", "evpn.segments[0].esi"},
    {"system_mac", "evpn.segments[0].system_mac"},
    {kKey, "evpn.segments[0].id"},
    {"df_pref", "evpn.segments[0].df.preference"},
}};

constexpr std::size_t kInterfacesMax = 1024;  // keys.hpp has them for lists as they are written.
constexpr std::size_t kHostsOfInterfaceMax = 4096;
constexpr std::size_t kSegmentsMax = 1024;

std::span<const FieldName> fields_of(std::string_view table) {
    if (table == kGlobal) {
        return kGlobalFields;
    }
    if (table == kInterface) {
        return kInterfaceFields;
    }
    if (table == kNeighbor) {
        return kNeighborFields;
    }
    return table == kSegment ? std::span<const FieldName>(kSegmentFields)
                             : std::span<const FieldName>();
}

// Words ------------------------------------------------------------------------------------------

void cut_all(std::string& text, std::string_view what) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what)) {
        text.erase(at, what.size());
    }
}

// "interfaces[3]" becomes the name of that interface.
template <class T>
void name_elements(std::string& text,
                   std::string_view list,
                   const std::vector<T>& elements,
                   std::string T::*name) {
    for (std::size_t at = text.find(list); at != std::string::npos; at = text.find(list, at + 1)) {
        std::size_t index = 0;
        const char* const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + at + list.size(), end, index);
        if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == ']' &&
            index < elements.size()) {
            const auto length = static_cast<std::size_t>(parsed.ptr - (text.data() + at)) + 1;
            text.replace(at, length, elements[index].*name);
        }
    }
}

// A row has no lines, and whoever reads of it knows interfaces and segments by their names.
std::string in_words_of_rows(std::string text, const Config& config) {
    cut_all(text, ", first in line 1");
    cut_all(text, ", in line 1");
    name_elements(text, "interfaces[", config.interfaces, &InterfaceConfig::name);
    name_elements(text, "evpn.segments[", config.evpn.segments, &EvpnSegmentConfig::port);
    return text;
}

// The tables of fields are about the first element of a list.
std::string as_first_element(std::string_view path) {
    std::size_t begin = path.find('[');
    begin = begin == std::string_view::npos ? path.size() : begin;
    const std::size_t end = std::min(path.find(']', begin), path.size());
    return begin == path.size() ? std::string(path)
                                : fmt::format("{}[0{}", path.substr(0, begin), path.substr(end));
}

bool is_part_of(std::string_view path, std::string_view whole) {
    return path.starts_with(whole) &&
           (path.size() == whole.size() || path[whole.size()] == '[' || path[whole.size()] == '.');
}

std::string reason_of(const Fault& fault, std::string_view table, const Config& config) {
    std::string_view name = fault.path;
    const std::string path = as_first_element(fault.path);
    for (const FieldName& each : fields_of(table)) {
        if (is_part_of(path, each.path)) {
            name = each.field;
        }
    }
    return in_words_of_rows(name.empty() ? fault.text : fmt::format("{}: {}", name, fault.text),
                            config);
}

std::string reasons_of(std::vector<Fault> faults, std::string_view table, const Config& config) {
    constexpr std::size_t kShown = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(faults.size(), kShown); ++i) {
        text += (i == 0 ? "" : "; ") + reason_of(faults[i], table, config);
    }
    return faults.size() > kShown ? fmt::format("{}; and {} more", text, faults.size() - kShown)
                                  : text;
}

// A row as a document -----------------------------------------------------------------------------

class RowDocument {
public:
    RowDocument() { document_.nodes.push_back({.kind = NodeKind::Map}); }

    void put(std::string_view path, std::string_view text) { set_scalar(node_at(path), text); }
    void put_list(std::string_view path, std::string_view text) {
        const std::uint32_t list = node_at(path);
        document_.nodes[list].kind = NodeKind::List;
        while (!text.empty()) {
            const std::size_t comma = text.find(',');
            const std::uint32_t element = add();
            set_scalar(element, text.substr(0, comma));
            document_.nodes[list].items.push_back(element);
            if (comma != std::string_view::npos && comma + 1 == text.size()) {
                document_.nodes[list].items.push_back(set_scalar(add(), ""));
            }
            text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        }
    }
    [[nodiscard]] const Document& document() const { return document_; }

private:
    std::uint32_t add() {
        document_.nodes.emplace_back();
        return static_cast<std::uint32_t>(document_.nodes.size() - 1);
    }
    std::uint32_t set_scalar(std::uint32_t node, std::string_view text) {
        document_.nodes[node].kind = NodeKind::Scalar;
        document_.nodes[node].text = text;
        document_.nodes[node].plain = true;
        return node;
    }

    // "evpn.segments[0].df": lists have one element.
    std::uint32_t node_at(std::string_view path) {
        std::uint32_t at = document_.root;
        while (!path.empty()) {
            const std::size_t end = std::min(path.find_first_of(".["), path.size());
            at = value_of(at, path.substr(0, end));
            path.remove_prefix(end);
            if (path.starts_with('[')) {
                at = element_of(at);
                path.remove_prefix(3);
            }
            path.remove_prefix(path.empty() ? 0 : 1);
        }
        return at;
    }
    std::uint32_t value_of(std::uint32_t map, std::string_view name) {
        document_.nodes[map].kind = NodeKind::Map;
        const std::vector<std::uint32_t>& items = document_.nodes[map].items;
        for (std::size_t i = 0; i < items.size(); i += 2) {
            if (document_.at(items[i]).text == name) {
                return items[i + 1];
            }
        }
        const std::uint32_t key = set_scalar(add(), name);
        const std::uint32_t value = add();
        document_.nodes[map].items.insert(document_.nodes[map].items.end(), {key, value});
        return value;
    }
    std::uint32_t element_of(std::uint32_t list) {
        document_.nodes[list].kind = NodeKind::List;
        if (document_.nodes[list].items.empty()) {
            const std::uint32_t element = add();
            document_.nodes[list].items.push_back(element);
        }
        return document_.nodes[list].items.front();
    }

    Document document_;
};

Result<Decoded> decode_row(const RowDocument& row, std::string_view table) {
    FaultList faults("CONFIG_DB");
    Decoded decoded = decode(row.document(), faults);
    if (!faults.empty()) {
        return fail(Errc::Invalid, reasons_of(faults.take(), table, decoded.config));
    }
    return decoded;
}

/// Fields that are none of ours are refused: a slip of the finger must not go unseen.
Result<RowDocument> document_of_ours(std::string_view table, const DbFields& fields) {
    RowDocument row;
    std::vector<std::string_view> names;
    for (const FieldName& each : fields_of(table)) {
        if (each.field != kKey) {
            names.push_back(each.field);
        }
    }
    for (const auto& [name, text] : fields) {
        const auto known =
            std::ranges::find(fields_of(table), std::string_view(name), &FieldName::field);
        if (known == fields_of(table).end() || known->field == kKey) {
            return fail(
                Errc::Invalid,
                fmt::format("{} is no field of {}{}", quoted(name), table, hint(name, names)));
        }
        if (name.ends_with('@')) {
            row.put_list(known->path, text);
        } else {
            row.put(known->path, text);
        }
    }
    return row;
}

/// What `from` has by its document goes over `onto`, the rest stays.
template <class T>
void lay_over(const T& from, T& onto, const Places& written, const std::string& path) {
    Keys<T>::each([&](std::string_view name, auto member, auto rule) {
        const std::string key = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
        if constexpr (std::is_same_v<decltype(rule), Part>) {
            lay_over(from.*member, onto.*member, written, key);
        } else if (written.contains(key)) {
            onto.*member = from.*member;
        }
    });
}

// What rows do ------------------------------------------------------------------------------------

DbFields only(const DbFields& fields, std::span<const std::string_view> names) {
    DbFields some;
    for (const std::string_view name : names) {
        if (const auto found = fields.find(name); found != fields.end()) {
            some.insert(*found);
        }
    }
    return some;
}

std::string text_of(const DbFields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
}

InterfaceConfig* exact_entry(Config& config, std::string_view name) {
    const auto found = std::ranges::find(config.interfaces, name, &InterfaceConfig::name);
    return found == config.interfaces.end() ? nullptr : &*found;
}

Problem full(const Config& config) {
    return config.interfaces.size() < kInterfacesMax
               ? std::nullopt
               : Problem(fmt::format("there are {} interfaces already", kInterfacesMax));
}

/// An entry for this interface alone, taken out of the glob that it is served by; nullptr: it is
/// not served, or there are too many.
InterfaceConfig* own_entry(Config& config, const std::string& name) {
    if (InterfaceConfig* entry = exact_entry(config, name)) {
        return entry;
    }
    const InterfaceConfig* served_by = interface_for(config, name);
    if (served_by == nullptr || full(config)) {
        return nullptr;
    }
    InterfaceConfig entry = *served_by;
    entry.name = name;
    config.interfaces.push_back(std::move(entry));
    return &config.interfaces.back();
}

/// The rules between keys as far as they concern one entry: cheap, however many there are.
Problem problem_of_entry(const InterfaceConfig& entry,
                         std::vector<StaticHost> hosts,
                         const Config& config,
                         std::string_view table) {
    Config alone;
    alone.uplinks = config.uplinks;
    alone.interfaces.push_back({.name = entry.name,
                                .prefixes = entry.prefixes,
                                .exclude = entry.exclude,
                                .hosts = std::move(hosts)});
    return first_fault(alone, table);
}

Result<JudgedRow> judge_global(const std::string& key, const DbFields& fields) {
    if (key != "global") {
        return fail(Errc::Invalid, "key: is no row of planed, which has PLANED|global alone");
    }
    const auto row = document_of_ours(kGlobal, fields);
    const auto decoded = row ? decode_row(*row, kGlobal) : tl::unexpected(row.error());
    if (!decoded) {
        return tl::unexpected(decoded.error());
    }
    const auto shared = std::make_shared<const Decoded>(*decoded);
    return JudgedRow{.fields = fields, .apply = [shared](DbEffect& effect) -> Problem {
                         lay_over(shared->config, effect.config, shared->written, "");
                         return std::nullopt;
                     }};
}

Result<JudgedRow> judge_interface(const std::string& key, const DbFields& fields) {
    auto row = document_of_ours(kInterface, fields);
    if (!row) {
        return tl::unexpected(row.error());
    }
    row->put("interfaces[0].name", key);
    const auto decoded = decode_row(*row, kInterface);
    if (!decoded) {
        return tl::unexpected(decoded.error());
    }
    const auto shared = std::make_shared<const Decoded>(*decoded);
    const auto apply = [shared](DbEffect& effect) -> Problem {
        const InterfaceConfig& from = shared->config.interfaces.front();
        InterfaceConfig* there = exact_entry(effect.config, from.name);
        Problem problem = there == nullptr ? full(effect.config) : std::nullopt;
        InterfaceConfig entry = there == nullptr ? InterfaceConfig{} : *there;
        lay_over(from, entry, shared->written, "interfaces[0]");
        problem = problem ? problem : problem_of_entry(entry, {}, effect.config, kInterface);
        if (problem) {
            return problem;
        }
        if (there == nullptr) {
            effect.config.interfaces.push_back(std::move(entry));
        } else {
            *there = std::move(entry);
        }
        return std::nullopt;
    };
    return JudgedRow{.fields = fields, .apply = apply};
}

/// intfmgrd sets the kernel's proxy_arp of such an interface, on or off.
Result<JudgedRow> judge_vlan_interface(const std::string& key, const DbFields& fields) {
    const std::string word = text_of(fields, "proxy_arp");
    if (!word.empty() && word != "enabled" && word != "disabled") {
        return fail(Errc::Invalid,
                    fmt::format("proxy_arp: must be enabled or disabled, not {}", quoted(word)));
    }
    constexpr std::array<std::string_view, 1> kNames{"proxy_arp"};
    const auto apply = [key, said = !word.empty()](DbEffect& effect) -> Problem {
        InterfaceConfig* entry = said ? own_entry(effect.config, key) : nullptr;
        if (entry != nullptr && entry->proxy_arp != ProxyArp::Off) {
            entry->proxy_arp = ProxyArp::Off;  // Then planed writes nothing there.
            effect.left_to_sonic.push_back(key);
        }
        return std::nullopt;
    };
    return JudgedRow{.fields = only(fields, kNames), .apply = apply};
}

Problem family_problem(const std::string& family, const IpAddress& address) {
    const std::string_view right = address.is_v4() ? "IPv4" : "IPv6";
    if (family.empty() || family == right) {
        return std::nullopt;
    }
    return fmt::format("family: {} is {}, not {}", address.to_string(), right, quoted(family));
}

Problem add_host(DbEffect& effect, const std::string& interface, const StaticHost& host) {
    const InterfaceConfig* served_by = interface_for(effect.config, interface);
    if (served_by == nullptr) {
        return std::nullopt;  // A neighbour, but none of ours.
    }
    const auto same = std::ranges::find(served_by->hosts, host.address, &StaticHost::address);
    const auto at = static_cast<std::size_t>(same - served_by->hosts.begin());
    const bool fresh = same == served_by->hosts.end();
    if (fresh && served_by->hosts.size() >= kHostsOfInterfaceMax) {
        return fmt::format("{} has {} static hosts already", interface, kHostsOfInterfaceMax);
    }
    if (Problem problem = problem_of_entry(*served_by, {host}, effect.config, kNeighbor)) {
        return problem;
    }
    InterfaceConfig* entry = own_entry(effect.config, interface);
    if (entry == nullptr) {
        return full(effect.config);
    }
    if (fresh) {
        entry->hosts.push_back(host);
    } else {
        entry->hosts[at].mac = host.mac;
    }
    return std::nullopt;
}

Result<JudgedRow> judge_neighbor(const std::string& key, const DbFields& fields) {
    const std::size_t bar = key.find('|');
    if (bar == std::string::npos) {
        return fail(Errc::Invalid, "key: must be an interface and an address");
    }
    const std::string interface = key.substr(0, bar);
    const std::string address = key.substr(bar + 1);
    RowDocument row;
    row.put("interfaces[0].name", interface);
    row.put("interfaces[0].hosts[0].address", address);
    // nbrmgrd resolves an entry without a MAC, or with one of zeros.
    const std::string mac = text_of(fields, "neigh");
    if (!mac.empty() && mac != MacAddress().to_string()) {
        row.put("interfaces[0].hosts[0].mac", mac);
    }
    const auto decoded = decode_row(row, kNeighbor);
    if (!decoded) {
        return tl::unexpected(decoded.error());
    }
    const StaticHost host = decoded->config.interfaces.front().hosts.front();
    if (const Problem problem = family_problem(text_of(fields, "family"), host.address)) {
        return fail(Errc::Invalid, *problem);
    }
    constexpr std::array<std::string_view, 2> kNames{"neigh", "family"};
    return JudgedRow{.fields = only(fields, kNames), .apply = [interface, host](DbEffect& effect) {
                         return add_host(effect, interface, host);
                     }};
}

Result<JudgedRow> judge_multihoming(const DbFields& fields) {
    const std::string seconds = text_of(fields, "startup_delay");
    Duration delay{};
    if (!seconds.empty()) {
        const bool digits =
            std::ranges::all_of(seconds, [](char c) { return c >= '0' && c <= '9'; });
        RowDocument row;
        row.put("evpn.startup_delay", seconds + "s");
        const auto decoded = digits ? decode_row(row, kMultihoming) : fail(Errc::Invalid, "");
        if (!decoded) {
            return fail(Errc::Invalid,
                        fmt::format("startup_delay: must be a whole number of seconds up to 3600, "
                                    "not {}",
                                    quoted(seconds)));
        }
        delay = decoded->config.evpn.startup_delay;
    }
    constexpr std::array<std::string_view, 1> kNames{"startup_delay"};
    const auto apply = [delay, said = !seconds.empty()](DbEffect& effect) -> Problem {
        if (said) {
            effect.config.evpn.startup_delay = delay;
        }
        return std::nullopt;
    };
    return JudgedRow{.fields = only(fields, kNames), .apply = apply};
}

/// The number in a port's name, which SONiC takes for the segment's: "PortChannel0012" is 12.
std::string number_in(std::string_view port) {
    std::string digits;
    const std::size_t first = port.find_first_of("0123456789");
    for (const char c : port.substr(std::min(first, port.size()))) {
        if (c != '_' && (c < '0' || c > '9')) {
            break;
        }
        digits += c == '_' ? "" : std::string(1, c);
    }
    const std::size_t significant = digits.find_first_not_of('0');
    return significant == std::string::npos ? "0" : digits.substr(significant);
}

/// As SONiC's bgpcfgd gives it to FRR: type 3 is made of the system MAC of the port channel, which
/// is in another table, and of the number in its name.
Result<RowDocument> document_of_segment(const std::string& key,
                                        const DbFields& fields,
                                        const DbRows& rows) {
    const std::string type = text_of(fields, "type");
    RowDocument row;
    row.put("evpn.segments[0].port", key);
    if (type == "TYPE_0_OPERATOR_CONFIGURED") {
        row.put("evpn.segments[0].esi", text_of(fields, "esi"));
    } else if (type == "TYPE_3_MAC_BASED") {
        const auto channels = rows.find(kPortChannel);
        const auto channel =
            channels == rows.end() ? DbTable::const_iterator() : channels->second.find(key);
        const std::string mac = channels == rows.end() || channel == channels->second.end()
                                    ? std::string()
                                    : text_of(channel->second, "system_mac");
        if (mac.empty()) {
            return fail(Errc::Invalid,
                        fmt::format("type: {} needs a system_mac in PORTCHANNEL|{}", type, key));
        }
        row.put("evpn.segments[0].system_mac", mac);
        row.put("evpn.segments[0].id", number_in(key));
    } else {
        return fail(Errc::Invalid,
                    fmt::format("type: must be TYPE_0_OPERATOR_CONFIGURED or TYPE_3_MAC_BASED, "
                                "not {}",
                                quoted(type)));
    }
    if (const std::string preference = text_of(fields, "df_pref"); !preference.empty()) {
        row.put("evpn.segments[0].df.preference", preference);
    }
    return row;
}

Problem add_segment(DbEffect& effect, const EvpnSegmentConfig& from, const Places& written) {
    auto& segments = effect.config.evpn.segments;
    auto same = std::ranges::find(segments, from.port, &EvpnSegmentConfig::port);
    if (same == segments.end()) {
        if (segments.size() >= kSegmentsMax) {
            return fmt::format("there are {} segments already", kSegmentsMax);
        }
        segments.emplace_back();
        same = std::prev(segments.end());
    }
    same->port = from.port;
    same->esi = from.esi;
    same->system_mac = from.system_mac;
    same->id = from.id;
    lay_over(from.df, same->df, written, "evpn.segments[0].df");
    return std::nullopt;
}

Result<JudgedRow> judge_segment(const std::string& key,
                                const DbFields& fields,
                                const DbRows& rows) {
    const auto row = document_of_segment(key, fields, rows);
    const auto decoded = row ? decode_row(*row, kSegment) : tl::unexpected(row.error());
    if (!decoded) {
        return tl::unexpected(decoded.error());
    }
    const EvpnSegmentConfig& segment = decoded->config.evpn.segments.front();
    if (segment.esi && segment.esi->type() != 0) {
        return fail(Errc::Invalid,
                    fmt::format("esi: {} is not of type 0, which begins with 00",
                                segment.esi->to_string()));
    }
    const auto shared = std::make_shared<const Decoded>(*decoded);
    constexpr std::array<std::string_view, 3> kNames{"esi", "type", "df_pref"};
    return JudgedRow{.fields = only(fields, kNames), .apply = [shared](DbEffect& effect) {
                         return add_segment(
                             effect, shared->config.evpn.segments.front(), shared->written);
                     }};
}

Result<JudgedRow> judge_logger(const DbFields& fields) {
    struct Word {
        std::string_view sonic;
        std::string_view ours;
    };
    static constexpr std::array<Word, 8> kWords{{{"EMERG", "error"},
                                                 {"ALERT", "error"},
                                                 {"CRIT", "error"},
                                                 {"ERROR", "error"},
                                                 {"WARN", "warn"},
                                                 {"NOTICE", "info"},
                                                 {"INFO", "info"},
                                                 {"DEBUG", "debug"}}};
    const std::string level = text_of(fields, "LOGLEVEL");
    const auto word = std::ranges::find(kWords, level, &Word::sonic);
    if (word == kWords.end() && !level.empty()) {
        return fail(Errc::Invalid,
                    fmt::format("LOGLEVEL: must be one of EMERG, ALERT, CRIT, ERROR, WARN, NOTICE, "
                                "INFO and DEBUG, not {}",
                                quoted(level)));
    }
    constexpr std::array<std::string_view, 1> kNames{"LOGLEVEL"};
    return JudgedRow{.fields = only(fields, kNames),
                     .apply = [ours = level.empty() ? std::string() : std::string(word->ours)](
                                  DbEffect& effect) -> Problem {
                         effect.log_level = ours;
                         return std::nullopt;
                     }};
}

/// Nothing by itself: a segment looks its system_mac up.
JudgedRow port_channel(const DbFields& fields) {
    constexpr std::array<std::string_view, 1> kNames{"system_mac"};
    return {.fields = only(fields, kNames),
            .apply = [](DbEffect&) -> Problem { return std::nullopt; }};
}

}  // namespace

Result<JudgedRow> judge_row(std::string_view table,
                            const std::string& key,
                            const DbFields& fields,
                            const DbRows& rows) {
    if (table == kGlobal) {
        return judge_global(key, fields);
    }
    if (table == kInterface) {
        return judge_interface(key, fields);
    }
    if (table == kVlanInterface) {
        return judge_vlan_interface(key, fields);
    }
    if (table == kNeighbor) {
        return judge_neighbor(key, fields);
    }
    if (table == kMultihoming) {
        return judge_multihoming(fields);
    }
    if (table == kSegment) {
        return judge_segment(key, fields, rows);
    }
    return table == kLogger ? judge_logger(fields) : port_channel(fields);
}

Problem first_fault(const Config& config, std::string_view table) {
    FaultList faults("CONFIG_DB");
    FaultList warnings("CONFIG_DB");
    validate(config, {}, faults, warnings);
    if (faults.empty()) {
        return std::nullopt;
    }
    return reason_of(faults.take().front(), table, config);
}

}  // namespace planed::config
