// SPDX-License-Identifier: Apache-2.0
#include "sim/checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/match.hpp"
#include "core/limits.hpp"
#include "sim/describe.hpp"

namespace planed::sim {
namespace {

// A healthy host is one that has been steady for so long, and was heard within this time.
constexpr Duration kSteady = 3s;
constexpr Duration kSpokeWithin = 30s;
// linkwatch is up to a second late, planed reads the links every 10 ms meanwhile, zebra is slow.
constexpr Duration kCutBound = 1500ms;
// With no memory of the port the kernel asks first: three unicast tries, three broadcast ones.
constexpr Duration kProbeBound = 12s;
// zebra's share: the DELETE, an answer that got lost, a read-back.
constexpr Duration kZebraBound = 10s;
// The shield's share: who is silent is asked, and goes a few at a time.
constexpr Duration kShieldBound = 30s;
constexpr Duration kCheckEvery = 20ms;

bool is_valid(Nud state) {
    return state != Nud::None && state != Nud::Incomplete && state != Nud::Failed;
}

}  // namespace

Checker::Checker(
    SimClock& clock, SimKernel& kernel, SimZebra& zebra, SimDaemon& planed, SimHosts& hosts)
    : clock_(clock), kernel_(kernel), zebra_(zebra), planed_(planed), hosts_(hosts) {
    planed_.on_input = [this](const Input& input) { on_input(input); };
    planed_.on_output = [this](const Output& output) { on_output(output); };
    zebra_.on_left = [this](const RouteKey& key, Left why) { on_left(key, why); };
}

void Checker::fail(std::string what) {
    violations_.push_back(std::move(what));
}

// What planed hears -------------------------------------------------------------------------------

void Checker::on_input(const Input& input) {
    const TimePoint now = clock_.now();
    if (const auto* seen = std::get_if<LinkSeen>(&input)) {
        note_flaps(seen->link);
    }
    if (const auto* lost = std::get_if<EventsLost>(&input)) {
        losses_[lost->kind] = {.began = now};
    } else if (const auto* finished = std::get_if<DumpFinished>(&input)) {
        if (finished->complete && finished->kind != DumpKind::Proxies) {
            dumped_.insert(finished->kind);
            const auto loss = losses_.find(finished->kind);
            if (loss != losses_.end() && !loss->second.ended) {
                loss->second.ended = now;
            }
        }
        if (dumped_.size() == kFactDumps && !facts_whole_at_) {
            facts_whole_at_ = now;
            note_unseen_ports();
        }
    } else if (const auto* seen = std::get_if<NeighborSeen>(&input)) {
        if (seen->source == Source::Event) {
            evidence_[seen->key.address] = now;
        }
        collected_.erase(seen->key);
    } else if (const auto* gone = std::get_if<NeighborGone>(&input)) {
        evidence_[gone->key.address] = now;
        if (gone->last.state == Nud::Stale) {
            collected_.insert(gone->key);
        }
    } else if (const auto* answered = std::get_if<RouteAnswered>(&input)) {
        unanswered_.erase(answered->key);
    } else if (const auto* row = std::get_if<RouteSeen>(&input)) {
        unanswered_.erase(row->key);
    } else if (std::holds_alternative<ReadBackFinished>(input)) {
        unanswered_.clear();
    } else if (std::holds_alternative<ZapiUp>(input)) {
        unanswered_.clear();
        session_up_at_ = now;
    } else if (std::holds_alternative<ZapiLost>(input)) {
        session_up_at_.reset();
    } else if (std::holds_alternative<ConfigChanged>(input)) {
        dumped_.clear();
        losses_.clear();
        facts_whole_at_.reset();
        session_up_at_.reset();
        unanswered_.clear();
        relearned_.clear();
        collected_.clear();
    }
    const bool link = std::holds_alternative<LinkSeen>(input) ||
                      std::holds_alternative<LinkGone>(input) ||
                      std::holds_alternative<AddressGone>(input);
    if (link) {
        link_evidence_ = now;
    }
}

// A flap while planed was dead: it puts the same routes again, which newer zebras take for no news
// at all, so the kernel's table is not repaired. A known gap, until planed reads that table itself.
void Checker::note_flaps(const Link& link) {
    std::uint32_t& downs = downs_[link.index];
    const bool first = relearned_.insert(link.index).second;
    if (first && downs != link.carrier_down_count && zebra_.release == Release::Master) {
        flapped_unseen_.insert(link.index);
    }
    downs = link.carrier_down_count;
}

// What planed does --------------------------------------------------------------------------------

void Checker::on_output(const Output& output) {
    const bool reads = std::holds_alternative<StartDump>(output) ||
                       std::holds_alternative<StartReadBack>(output) ||
                       std::holds_alternative<ApplySetting>(output) ||
                       std::holds_alternative<WriteNeighbor>(output) ||
                       std::holds_alternative<ReadForwarding>(output) ||
                       std::holds_alternative<ReadLinks>(output);
    // An alarm ends when its cause was not seen for a while.
    const auto* say = std::get_if<Say>(&output);
    const bool ends = say != nullptr && say->note.id == "degraded.end";
    if (silent_ && !reads && !ends) {
        fail("not silent at rest: " + describe(output));
    }
    if (const auto* send = std::get_if<SendRoute>(&output)) {
        on_send(*send);
    } else if (const auto* write = std::get_if<WriteNeighbor>(&output)) {
        on_write(write->key.link);
    } else if (const auto* removal = std::get_if<DeleteNeighbor>(&output)) {
        on_write(removal->key.link);
    } else if (const auto* proxy = std::get_if<SendProxy>(&output); proxy && proxy->put) {
        on_write(proxy->key.link);
    } else if (const auto* setting = std::get_if<ApplySetting>(&output)) {
        const bool undone = ever_set_.contains(setting->link);
        if (!undone) {
            on_write(setting->link);
        }
        ever_set_.insert(setting->link);
    }
}

void Checker::on_write(IfIndex link) {
    if (!is_served(link)) {
        fail(fmt::format("touches interface {}, which is not its own", number(link)));
    }
}

void Checker::on_send(const SendRoute& send) {
    const std::string prefix = send.key.prefix.to_string();
    if (send.put && !unanswered_.insert(send.key).second) {
        fail("a second ADD while an operation is in flight: " + prefix);
    }
    if (send.put && !is_served(send.put->out)) {
        fail("a route over an interface that is not served: " + prefix);
    }
    if (send.put) {
        return;
    }
    unanswered_.insert(send.key);
    if (may_not_leave(send.key)) {
        fail("withdraws a healthy host: " + prefix);
    }
    const TimePoint now = clock_.now();
    const auto heard = evidence_.find(send.key.prefix.address());
    const bool positive =
        (heard != evidence_.end() && heard->second + 1s >= now) || link_evidence_ + 1s >= now;
    const auto loss = losses_.find(DumpKind::Neighbors);
    const bool lost = loss != losses_.end() && !loss->second.ended;
    if (lost && !positive && zebra_.is_selected(send.key) && is_wanted(send.key)) {
        fail("withdraws on absence between a loss and the end of the dump: " + prefix);
    }
}

void Checker::on_left(const RouteKey& key, Left why) {
    const bool ours = why == Left::Purged || why == Left::Closed;
    if (ours && may_not_leave(key)) {
        fail(fmt::format("zebra drops the route of a healthy host: {}", key.prefix.to_string()));
    }
}

// Truth -------------------------------------------------------------------------------------------

bool Checker::may_not_leave(const RouteKey& key) const {
    const IpAddress& address = key.prefix.address();
    // Where the kernel lacks the route nothing is lost by putting it anew.
    if (contested_.contains(address) || !kernel_.fib().contains(key) ||
        excused_until_ > clock_.now()) {
        return false;
    }
    const auto hosts = hosts_.with(address);
    return std::any_of(hosts.begin(), hosts.end(), [&](const SimHost* host) {
        return is_healthy(*host, address);
    });
}

bool Checker::is_loss_pending() const {
    return std::any_of(losses_.begin(), losses_.end(), [](const auto& entry) {
        return !entry.second.ended.has_value();
    });
}

// What happened shortly before a loss may be learned only when the tables have been read again.
bool Checker::is_healthy(const SimHost& host, const IpAddress& address) const {
    TimePoint reference = clock_.now();
    for (const auto& [kind, loss] : losses_) {
        if (!loss.ended || *loss.ended + kSteady > clock_.now()) {
            reference = std::min(reference, loss.began);
        }
    }
    if (facts_whole_at_) {
        const bool fresh = *facts_whole_at_ + kSteady > clock_.now();
        reference = fresh ? std::min(reference, *facts_whole_at_) : reference;
    }
    const TimePoint steady = hosts_.steady_since(host);
    const NeighborKey key{.link = hosts_.interface_of(host), .address = address};
    const SimNeighbor* entry = kernel_.neighbor(key);
    // What the garbage collector took while planed looked on is known all the same.
    const bool known = entry == nullptr ? collected_.contains(key)
                                        : is_valid(entry->state) && entry->mac == host.mac;
    return hosts_.is_reachable(host) && steady + kSteady <= reference && host.heard >= steady &&
           host.heard <= reference && host.heard + kSpokeWithin >= clock_.now() &&
           host.heard_on == host.port && known;
}

TimePoint Checker::facts_since() const {
    TimePoint since = facts_whole_at_.value_or(clock_.now());
    for (const auto& [kind, loss] : losses_) {
        since = std::max(since, loss.ended.value_or(clock_.now()));
    }
    return std::max(since, excused_until_);
}

// Since when does the cable, the port or the interface of this host not carry anything? Its own
// death is another matter.
std::optional<TimePoint> Checker::down_since(const SimHost& host) const {
    const Link* port = kernel_.find(host.port);
    if (port == nullptr) {
        return kernel_.deleted_at(host.port);
    }
    std::optional<TimePoint> since;
    for (const IfIndex link : {port->index, hosts_.interface_of(host)}) {
        if (kernel_.find(link) != nullptr && !kernel_.is_up(link)) {
            const TimePoint down = kernel_.up_since(link);
            since = since ? std::min(*since, down) : down;
        }
    }
    return since;
}

// Since when is everybody cut off who ever spoke from this address? Nullopt: somebody is not, or it
// is a matter of probing.
std::optional<TimePoint> Checker::cut_since(const IpAddress& address) const {
    std::optional<TimePoint> since;
    for (const SimHost* host : hosts_.with(address)) {
        const auto down = down_since(*host);
        if (!down || host->heard_on != host->port) {
            return std::nullopt;
        }
        since = since ? std::max(*since, *down) : *down;
    }
    return since;
}

// A host behind a dead port when planed reads the tables is in no forwarding table: unless the
// state file has its port, or it speaks, planed cannot know what a cable takes away.
void Checker::note_unseen_ports() {
    unseen_ports_.clear();
    for (const auto& [name, host] : hosts_.all()) {
        if (down_since(host)) {
            unseen_ports_.insert(name);
        }
    }
}

bool Checker::is_wanted(const RouteKey& key) const {
    return planed_.engine() != nullptr && planed_.engine()->routes().desired(key).has_value();
}

bool Checker::is_served(IfIndex link) const {
    const Link* found = kernel_.find(link);
    if (found == nullptr) {
        return true;  // It was, a moment ago.
    }
    const auto& served = planed_.config->interfaces;
    return std::any_of(served.begin(), served.end(), [&](const InterfaceConfig& interface) {
        return config::glob_matches(interface.name, found->name);
    });
}

// Every step --------------------------------------------------------------------------------------

void Checker::after_step() {
    const TimePoint now = clock_.now();
    if (checked_ + kCheckEvery > now) {
        return;
    }
    checked_ = now;
    collect_complaints();
    check_limits();
    check_dead(now);
}

void Checker::collect_complaints() {
    for (auto* complaints : {&kernel_.complaints, &zebra_.complaints, &planed_.complaints}) {
        for (std::string& complaint : *complaints) {
            fail("complaint: " + complaint);
        }
        complaints->clear();
    }
}

void Checker::check_limits() {
    if (!planed_.is_running()) {
        return;
    }
    const zapi::Session* session = planed_.session();
    // One operation for each key, and a read-back's worth of control messages.
    constexpr std::size_t kControlMost = 64;
    const std::size_t keys = planed_.engine()->routes().size();
    if (session != nullptr &&
        session->backlog() > 2 * keys + hosts_.all().size() * 4 + kControlMost) {
        fail(fmt::format("{} operations wait for zebra, with {} keys", session->backlog(), keys));
    }
    if (planed_.engine()->neighbors().size() > limits::kNeighborsMax) {
        fail("more neighbours than limits.hpp allows");
    }
}

// Where routes may stay after a loss. A host that had fallen silent before its cable was pulled has
// no MAC any more, so its port says nothing: it may have to be asked, and to wait for others.
Duration Checker::kept_for() const {
    const RoutesConfig& routes = planed_.config->routes;
    const bool follows_at_once = routes == RoutesConfig{};
    return follows_at_once
               ? Duration{}
               : routes.withdraw_delay.silent + routes.withdraw_delay.port_down + kShieldBound;
}

void Checker::check_dead(TimePoint now) {
    if (!planed_.is_running() || !facts_whole_at_ || is_loss_pending()) {
        return;
    }
    const TimePoint facts = facts_since();
    for (const auto& [name, host] : hosts_.all()) {
        for (const IpAddress& address : host.addresses) {
            const auto cut = contested_.contains(address) ? std::nullopt : cut_since(address);
            if (!cut) {
                continue;
            }
            const RouteKey key{.prefix = host_prefix(address)};
            const bool unseen = unseen_ports_.contains(name) && host.heard < *facts_whole_at_;
            const bool watched = facts + kCutBound < *cut && !unseen;
            const TimePoint due =
                std::max(*cut, facts) + (watched ? kCutBound : kProbeBound) + kept_for();
            if (now > due && is_wanted(key)) {
                fail(fmt::format(
                    "still wants {}, cut off {} ms ago", address.to_string(), (now - *cut) / 1ms));
            }
            const bool session_settled = session_up_at_ && *session_up_at_ + kZebraBound < now;
            const bool zebra_due =
                now > due + kZebraBound && session_settled && !zebra_.is_stalled();
            if (zebra_due && zebra_.is_selected(key)) {
                fail(fmt::format("zebra still has {}, cut off {} ms ago",
                                 address.to_string(),
                                 (now - *cut) / 1ms));
            }
        }
    }
}

void Checker::excuse(Duration length) {
    excused_until_ = std::max(excused_until_, clock_.now() + length);
}

// At rest -----------------------------------------------------------------------------------------

/// The kernel answers for exactly those hosts of the plane that live elsewhere.
void Checker::check_proxies() {
    std::set<NeighborKey> wanted;
    for (const RouteKey& key : zebra_.plane()) {
        const IpAddress& address = key.prefix.address();
        const auto hosts = hosts_.with(address);
        for (const auto& [link, own] : kernel_.addresses()) {
            const bool here = std::any_of(hosts.begin(), hosts.end(), [&](const SimHost* host) {
                return hosts_.is_reachable(*host) && hosts_.interface_of(*host) == link;
            });
            if (!address.is_v4() && own.contains(address) && is_served(link) && !here) {
                wanted.insert({.link = link, .address = address});
            }
        }
    }
    for (const auto& [key, protocol] : kernel_.proxies()) {
        if (protocol == kNeighborProtocol && !wanted.contains(key)) {
            fail("at rest the kernel answers for " + key.address.to_string());
        }
    }
    for (const NeighborKey& key : wanted) {
        if (!kernel_.proxies().contains(key)) {
            fail("at rest the kernel does not answer for " + key.address.to_string());
        }
    }
}

void Checker::expect_silence() {
    silent_ = true;
    audits_at_rest_ = planed_.engine()->audits().counters();
}

void Checker::audited() {
    const Audits& audits = planed_.engine()->audits();
    if (!planed_.engine()->audit_is_done()) {
        fail("an audit at rest does not end");
    }
    for (const Difference& difference : audits.report().differences) {
        fail(fmt::format("an audit at rest finds {} {}: wanted {}, found {}",
                         entry_word(difference.table),
                         difference.object,
                         difference.wanted,
                         difference.found));
    }
    for (const AuditedTable& table : audits.report().tables) {
        if (!table.trouble.empty()) {
            fail(fmt::format(
                "an audit at rest cannot read {}: {}", word(table.table), table.trouble));
        }
    }
    if (audits.counters().differences != audits_at_rest_.differences) {
        fail("an audit at rest has counted a difference");
    }
}

void Checker::at_rest() {
    collect_complaints();
    check_proxies();
    const auto selected = zebra_.selected();
    for (const auto& [key, route] : selected) {
        const std::string prefix = key.prefix.to_string();
        if (route.tag != kTag) {
            fail("at rest zebra has a route that planed did not put: " + prefix);
        }
        if (!is_wanted(key)) {
            fail("at rest zebra has an unwanted route: " + prefix);
        }
        const auto installed = kernel_.fib().find(key);
        const bool in_kernel = installed != kernel_.fib().end() && installed->second == route.out;
        if (!in_kernel && !flapped_unseen_.contains(route.out)) {
            fail("at rest zebra has a route that the kernel lacks: " + prefix);
        }
    }
    for (const auto& [key, out] : kernel_.fib()) {
        if (!selected.contains(key)) {
            fail("at rest the kernel has a route that zebra lacks: " + key.prefix.to_string());
        }
    }
    for (const auto& [name, host] : hosts_.all()) {
        for (const IpAddress& address : host.addresses) {
            const auto hosts = hosts_.with(address);
            const bool reachable = std::any_of(hosts.begin(), hosts.end(), [&](const SimHost* one) {
                return hosts_.is_reachable(*one) && is_served(hosts_.interface_of(*one));
            });
            const RouteKey key{.prefix = host_prefix(address)};
            const bool has_route = selected.contains(key) || zebra_.better().contains(key);
            if (reachable && !has_route) {
                fail("at rest a living host has no route: " + address.to_string());
            }
            if (!reachable && selected.contains(key)) {
                fail("at rest a dead host has a route: " + address.to_string());
            }
        }
    }
}

}  // namespace planed::sim
