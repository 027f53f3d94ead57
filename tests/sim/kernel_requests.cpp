// SPDX-License-Identifier: Apache-2.0
// SimKernel: what planed asks for, and the answers.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/kernel.hpp"

namespace planed::sim {
namespace {

constexpr std::size_t kRowsPerChunk = 8;
constexpr std::uint32_t kBefore = 0;  // Every setting's value before anybody sets it.

bool is_ours(const SimNeighbor& entry) {
    return entry.ext_learned && entry.protocol == kNeighborProtocol;
}

Error no_such_device() {
    return {.code = Errc::Refused, .text = "no such device", .system_errno = 19};
}

template <class Map, class Key>
auto after(const Map& map, const std::optional<Key>& last) {
    return last ? map.upper_bound(*last) : map.begin();
}

}  // namespace

void SimKernel::open_sockets() {
    ++sockets_;
    for (EventSocket* socket : {&link_events, &neighbor_events, &frames, &answers}) {
        socket->open();
    }
}

void SimKernel::close_sockets() {
    ++sockets_;
    for (EventSocket* socket : {&link_events, &neighbor_events, &frames, &answers}) {
        socket->close();
    }
    listening_.clear();
}

void SimKernel::answer(Input input) {
    answers.push(std::move(input));
}

void SimKernel::answer(std::uint64_t request,
                       std::optional<Error> error,
                       std::optional<std::uint32_t> found) {
    answer(KernelAnswered{.request = request, .error = std::move(error), .found = found});
}

void SimKernel::later(std::function<void()> what) {
    const std::uint64_t asked_on = sockets_;
    const Duration delay = random_.between(0us, faults_.request_delay_max);
    clock_.after(delay, [this, asked_on, what = std::move(what)] {
        // A request that was sent is carried out even if who sent it is dead; but then nobody
        // hears the answer, and those on new sockets must not.
        if (asked_on == sockets_) {
            what();
        }
    });
}

// Dumps -------------------------------------------------------------------------------------------

void SimKernel::start_dump(DumpKind kind) {
    Dump dump{.kind = kind, .socket = sockets_};
    if (random_.percent(faults_.dump_fails_percent)) {
        dump.rows_left = 1 + random_.below(kRowsPerChunk);
    }
    dump.interrupted = random_.percent(faults_.dump_interrupted_percent);
    dump_chunk(dump);
}

/// Rows show the table at the moment of their chunk; between two chunks anything may happen.
void SimKernel::dump_chunk(Dump dump) {
    if (dump.socket != sockets_) {
        return;
    }
    for (std::size_t i = 0; i < kRowsPerChunk; ++i) {
        const bool broken = dump.rows_left == 1;
        if (broken || !dump_row(dump)) {
            answer(DumpFinished{.kind = dump.kind, .complete = !broken && !dump.interrupted});
            return;
        }
        dump.rows_left -= dump.rows_left > 0 ? 1U : 0U;
    }
    const Duration pause = faults_.slow_dumps ? random_.between(100us, 20ms) : 10us;
    const std::uint64_t structure = structure_;
    clock_.after(pause, [this, dump, structure]() mutable {
        const bool consistent = dump.kind != DumpKind::Links && dump.kind != DumpKind::Addresses;
        dump.interrupted = dump.interrupted || (!consistent && structure != structure_);
        dump_chunk(dump);
    });
}

bool SimKernel::dump_row(Dump& dump) {
    switch (dump.kind) {
        case DumpKind::Links: {
            const auto at = after(devices_, dump.link);
            if (at == devices_.end()) {
                return false;
            }
            dump.link = at->first;
            answer(LinkSeen{.link = at->second.link, .source = Source::Dump});
            return true;
        }
        case DumpKind::Addresses: {
            const auto at = after(addresses_, dump.address);
            if (at == addresses_.end()) {
                return false;
            }
            dump.address = *at;
            answer(AddressSeen{.link = at->first, .address = at->second, .source = Source::Dump});
            return true;
        }
        case DumpKind::Neighbors: {
            const auto at = after(neighbors_, dump.neighbor);
            if (at == neighbors_.end()) {
                return false;
            }
            dump.neighbor = at->first;
            const SimNeighbor& entry = at->second;
            const bool no_mac = entry.state == Nud::Incomplete || entry.state == Nud::Failed;
            answer(NeighborSeen{.key = at->first,
                                .neighbor = {.mac = no_mac ? MacAddress{} : entry.mac,
                                             .state = entry.state,
                                             .ext_learned = entry.ext_learned,
                                             .protocol = entry.protocol},
                                .source = Source::Dump});
            return true;
        }
        case DumpKind::Fdb: {
            const auto at = after(fdb_, dump.forwarding);
            if (at == fdb_.end()) {
                return false;
            }
            dump.forwarding = at->first;
            answer(FdbSeen{.key = at->first, .entry = at->second.entry, .source = Source::Dump});
            return true;
        }
        case DumpKind::Proxies: {
            const auto at = after(proxies_, dump.proxy);
            if (at == proxies_.end()) {
                return false;
            }
            dump.proxy = at->first;
            answer(ProxySeen{.key = at->first, .protocol = at->second});
            return true;
        }
    }
    return false;
}

// Reads and writes --------------------------------------------------------------------------------

void SimKernel::read_links(const ReadLinks& request) {
    later([this, request] {
        std::set<IfIndex> wanted(request.links.begin(), request.links.end());
        for (const IfIndex master : request.masters) {
            for (const IfIndex port : ports_of(master)) {
                wanted.insert(port);
            }
        }
        for (const IfIndex index : wanted) {
            const Link* link = find(index);
            if (link == nullptr) {
                answer(LinkGone{.link = index});
            } else {
                answer(LinkSeen{.link = *link, .source = Source::Read});
            }
        }
    });
}

void SimKernel::write(const Listen& request) {
    listening_.clear();
    for (const Listen::Place& place : request.places) {
        listening_.insert(place.link);
    }
}

void SimKernel::write(const WriteNeighbor& request) {
    later([this, request] {
        if (find(request.key.link) == nullptr) {
            answer(request.request, no_such_device());
            return;
        }
        if (request.only_new && neighbors_.contains(request.key)) {
            answer(request.request,
                   Error{.code = Errc::Refused, .text = "there is one", .system_errno = EEXIST});
            return;
        }
        const auto [at, is_new] = neighbors_.try_emplace(request.key);
        SimNeighbor& entry = at->second;
        if (entry.state == Nud::Permanent && !is_ours(entry)) {
            complaints.push_back("writes a permanent neighbour");
        }
        const bool changed = is_new || entry.mac != request.mac || entry.state != request.state ||
                             entry.ext_learned != request.ext_learned;
        entry.used = is_new ? clock_.now() : entry.used;
        entry.mac = request.mac;
        entry.ext_learned = request.ext_learned;
        entry.protocol = request.ext_learned ? kNeighborProtocol : entry.protocol;
        enter(request.key, entry, request.state);
        if (changed) {
            notify(request.key, entry);
        }
        answer(request.request, std::nullopt);
    });
}

void SimKernel::read(const ReadForwarding& request) {
    later([this, request] {
        ForwardingRead read{.request = request.request};
        if (const auto found = fdb_.find(request.key); found != fdb_.end()) {
            read.silent = (clock_.now() - found->second.heard) / 10ms * 10ms;
        }
        answer(read);
    });
}

// fdb_add_entry() and fdb_delete_by_addr_and_port() (net/bridge/br_fdb.c).
void SimKernel::write(const WriteForwarding& request) {
    later([this, request] {
        const Link* port = find(request.port);
        if (port == nullptr || port->master != request.key.bridge) {
            answer(request.request, no_such_device());
            return;
        }
        const auto found = fdb_.find(request.key);
        if (request.put) {
            Fdb& held = fdb_[request.key];
            const FdbEntry entry{.port = request.port, .ext_learned = true};
            const bool changed = found == fdb_.end() || held.entry != entry;
            held = {.entry = entry, .heard = clock_.now()};
            if (changed) {
                neighbor_events.push(FdbSeen{.key = request.key, .entry = entry});
            }
        } else if (found == fdb_.end() || found->second.entry.port != request.port) {
            answer(request.request,
                   Error{.code = Errc::Refused, .text = "no such entry", .system_errno = ENOENT});
            return;
        } else {
            fdb_.erase(found);
            neighbor_events.push(FdbGone{.key = request.key, .port = request.port});
        }
        answer(request.request, std::nullopt);
    });
}

void SimKernel::write(const DeleteNeighbor& request) {
    // What it may delete of others' is what the kernel has given up (and may be trying again, of
    // which it says nothing); that may change on the way.
    const auto asked = neighbors_.find(request.key);
    const bool dead_v6 =
        asked != neighbors_.end() && !request.key.address.is_v4() &&
        (asked->second.state == Nud::Failed || asked->second.state == Nud::Incomplete);
    later([this, request, dead_v6] {
        const auto found = neighbors_.find(request.key);
        if (found == neighbors_.end()) {
            answer(request.request,
                   Error{.code = Errc::Refused, .text = "no such entry", .system_errno = 2});
            return;
        }
        SimNeighbor& entry = found->second;
        if (!is_ours(entry) && !dead_v6) {
            complaints.push_back("deletes a neighbour that it did not write");
        }
        // neigh_delete(): fails the entry first, and says so if it was valid.
        const bool was_valid = entry.state != Nud::Failed && entry.state != Nud::Incomplete;
        enter(request.key, entry, Nud::Failed);
        if (was_valid) {
            notify(request.key, entry);
        }
        remove(request.key);
        answer(request.request, std::nullopt);
    });
}

void SimKernel::write(const SendProxy& request) {
    const Duration delay = random_.between(0us, faults_.request_delay_max);
    proxy_written_ = std::max(proxy_written_, clock_.now() + delay);
    clock_.at(proxy_written_, [this, asked_on = sockets_, request] {
        if (asked_on == sockets_) {
            carry_out(request);
        }
    });
}

// pneigh_lookup() and pneigh_delete() (net/core/neighbour.c): neither asks whose entry it is.
void SimKernel::carry_out(const SendProxy& request) {
    const auto found = proxies_.find(request.key);
    if (find(request.key.link) == nullptr) {
        answer(request.request, no_such_device());
        return;
    }
    if (found != proxies_.end() && found->second != kNeighborProtocol) {
        complaints.push_back("touches an entry of another's proxied neighbours");
    }
    if (!request.put && found == proxies_.end()) {
        answer(request.request,
               Error{.code = Errc::Refused, .text = "no such entry", .system_errno = ENOENT});
        return;
    }
    if (request.put) {
        proxies_[request.key] = kNeighborProtocol;
    } else {
        proxies_.erase(found);
    }
    answer(request.request, std::nullopt);
}

void SimKernel::write(const ApplySetting& request) {
    later([this, request] {
        const Link* link = find(request.link);
        if (link == nullptr) {
            answer(request.request, no_such_device());
            return;
        }
        if (is_only_checked(request.setting)) {
            answer(request.request, std::nullopt, request.value);
            return;
        }
        const std::uint32_t found = setting(request.link, request.setting);
        settings_[{request.link, request.setting}] = request.value;
        answer(request.request, std::nullopt, found);
    });
}

void SimKernel::write(const SetLinkUp& request) {
    later([this, request] {
        const Link* link = find(request.link);
        if (link != nullptr) {
            set_admin(link->name, request.up);
        }
        answer(request.request, link == nullptr ? std::optional(no_such_device()) : std::nullopt);
    });
}

std::uint32_t SimKernel::set_or(IfIndex link, Setting setting, std::uint32_t preset) const {
    const auto found = settings_.find({link, setting});
    return found == settings_.end() ? preset : found->second;
}

std::uint32_t SimKernel::setting(IfIndex link, Setting setting) const {
    const auto found = settings_.find({link, setting});
    return found == settings_.end() ? kBefore : found->second;
}

}  // namespace planed::sim
