// SPDX-License-Identifier: Apache-2.0
#include "io/kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <fmt/core.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "core/kernel_settings.hpp"
#include "io/sysctl.hpp"
#include "netlink/decode.hpp"
#include "netlink/error_text.hpp"
#include "netlink/neighbor_codec.hpp"
#include "netlink/requests.hpp"
#include "netlink/socket_diag.hpp"
#include "netlink/table_codec.hpp"

namespace planed::io {
namespace {

// A dump's datagram may be this long (NLMSG_GOODSIZE grows to 32 KiB with the reader's buffer).
constexpr std::size_t kBufferSize = std::size_t{64} * 1024;

bool ends_dump(const netlink::Message& message) {
    return message.type == NLMSG_DONE || message.type == NLMSG_ERROR;
}

// The proc file below /proc/sys for a setting.
std::string sysctl_path(const ApplySetting& apply) {
    std::string name = setting_name(apply.setting, apply.name);
    // Interface names may contain dots: the three separators around the name are known.
    const std::size_t family_end = name.find('.');
    const std::size_t kind_end = name.find('.', family_end + 1);
    const std::size_t interface_end = name.rfind('.');
    for (const std::size_t at : {family_end, kind_end, interface_end}) {
        name[at] = '/';
    }
    return "/proc/sys/net/" + name;
}

// proxy_delay is in hundredths of a second there and in milliseconds everywhere else (USER_HZ is
// 100 on every architecture that Linux leaves run on).
constexpr std::uint32_t kMillisecondsPerTick = 10;

std::optional<std::uint32_t> read_setting(const ApplySetting& apply) {
    const auto value = read_sysctl(sysctl_path(apply));
    const bool is_delay =
        apply.setting == Setting::ProxyDelay4 || apply.setting == Setting::ProxyDelay6;
    if (value && is_delay) {
        return *value * kMillisecondsPerTick;
    }
    return value;
}

Error wrong_setting(const std::string& name,
                    const ApplySetting& apply,
                    std::optional<std::uint32_t> found) {
    return {.code = Errc::Refused,
            .text = fmt::format("net.{} is {} and must be {}: until it is, the kernel answers no "
                                "neighbour solicitation for hosts of other leaves",
                                name,
                                found ? fmt::format("{}", *found) : "not there",
                                apply.value)};
}

}  // namespace

Kernel::Kernel(boost::asio::io_context& loop, std::function<void()> ready)
    : ready_(std::move(ready)),
      buffer_(kBufferSize),
      links_(loop),
      addresses_(loop),
      neighbors_(loop),
      dump_socket_(loop),
      request_socket_(loop),
      read_socket_(loop),
      table_socket_(loop),
      peer_socket_(loop) {}

Result<void> Kernel::open() {
    struct Plan {
        Source& source;
        int protocol;
        std::vector<unsigned> groups;
    };
    const std::vector<Plan> plans{
        {links_, NETLINK_ROUTE, {RTNLGRP_LINK}},
        {addresses_, NETLINK_ROUTE, {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR}},
        {neighbors_, NETLINK_ROUTE, {RTNLGRP_NEIGH}},
        {dump_socket_, NETLINK_ROUTE, {}},
        {request_socket_, NETLINK_ROUTE, {}},
        {read_socket_, NETLINK_ROUTE, {}},
        {table_socket_, NETLINK_ROUTE, {}},
        {peer_socket_, NETLINK_SOCK_DIAG, {}},
    };
    for (const Plan& plan : plans) {
        if (auto opened = open(plan.source, plan.protocol, plan.groups); !opened) {
            return opened;
        }
    }
    return {};
}

Result<void> Kernel::open(Source& source, int protocol, const std::vector<unsigned>& groups) {
    auto socket = NetlinkSocket::open({.protocol = protocol, .groups = groups});
    if (!socket) {
        return tl::unexpected(socket.error());
    }
    source.socket.emplace(std::move(*socket));
    // Asio closes what it is given: it gets a descriptor of its own.
    const int copy = ::fcntl(source.socket->fd(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return fail_errno(errno, "cannot watch a netlink socket");
    }
    source.watch.assign(copy);
    watch(source);
    return {};
}

void Kernel::watch(Source& source) {
    source.watch.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [this, &source](const boost::system::error_code& error) {
                                if (error == boost::asio::error::operation_aborted) {
                                    return;
                                }
                                watch(source);
                                ready_();
                            });
}

// Reading -----------------------------------------------------------------------------------------

void Kernel::read(TimePoint now, const Sink& sink) {
    more_ = false;
    while (!inputs_.empty()) {
        const Input input = std::move(inputs_.front());
        inputs_.pop_front();
        sink(input);
    }
    read_events(links_, {DumpKind::Links}, [&](const Input& input) {
        note_link_event(input);
        sink(input);
    });
    read_link_reads(sink);
    read_events(addresses_, {DumpKind::Addresses}, sink);
    read_events(neighbors_, {DumpKind::Fdb, DumpKind::Neighbors}, sink);
    read_answers(sink);
    read_dump(now, sink);
    read_tables(sink);
    read_peers(sink);
    ask_tables(now);
    ask_peers(now);
}

// Calls on_message for every message of up to `datagrams` datagrams. False if some were lost or one
// was unreadable: what the socket was to tell is incomplete.
template <class OnMessage>
bool Kernel::drain(Source& source, int datagrams, OnMessage on_message) {
    bool whole = true;
    while (datagrams-- > 0) {
        const auto received = source.socket->receive(buffer_);
        if (received.kind == NetlinkSocket::Kind::Nothing) {
            return whole;
        }
        if (received.kind == NetlinkSocket::Kind::Foreign) {
            continue;
        }
        if (received.kind != NetlinkSocket::Kind::Datagram) {
            whole = false;
            continue;
        }
        netlink::MessageReader reader(received.bytes);
        while (true) {
            const auto message = reader.next();
            if (!message) {
                whole = false;
                break;
            }
            if (!*message) {
                break;
            }
            on_message(**message);
        }
    }
    more_ = true;
    return whole;
}

void Kernel::read_events(Source& source, const std::vector<DumpKind>& kinds, const Sink& sink) {
    bool readable = true;
    const bool others_have_more = std::exchange(more_, false);
    const bool whole = drain(source, kDatagramsPerTurn, [&](const netlink::Message& message) {
        const auto input = netlink::decode(message, planed::Source::Event);
        readable = readable && input.has_value();
        if (input && *input) {
            sink(**input);
        }
    });
    for (const DumpKind kind : kinds) {
        if (!whole || !readable) {
            sink(EventsLost{.kind = kind});
        }
        if (more_) {
            sink(EventsWaiting{.kind = kind});
        }
    }
    more_ = more_ || others_have_more;
}

void Kernel::note_link_event(const Input& input) {
    if (reads_open_.empty()) {
        return;
    }
    if (const auto* seen = std::get_if<LinkSeen>(&input)) {
        links_in_events_.insert(seen->link.index);
    } else if (const auto* gone = std::get_if<LinkGone>(&input)) {
        links_in_events_.insert(gone->link);
    }
}

void Kernel::read_link_reads(const Sink& sink) {
    const bool whole = drain(read_socket_, kDatagramsPerTurn, [&](const netlink::Message& message) {
        if (!reads_open_.contains(message.sequence)) {
            return;
        }
        if (message.type == NLMSG_ERROR || message.type == NLMSG_DONE) {
            const auto of = reads_of_.find(message.sequence);
            const auto answer = netlink::decode_answer(message);
            if (of != reads_of_.end() && answer && answer->error &&
                answer->error->system_errno == ENODEV && !links_in_events_.contains(of->second)) {
                sink(LinkGone{.link = of->second});
            }
            reads_open_.erase(message.sequence);
            return;
        }
        const auto input = netlink::decode(message, planed::Source::Read);
        if (!input || !*input) {
            return;
        }
        const auto* seen = std::get_if<LinkSeen>(&**input);
        if (seen != nullptr && !links_in_events_.contains(seen->link.index)) {
            sink(*seen);
        }
        if (reads_of_.contains(message.sequence)) {
            reads_open_.erase(message.sequence);  // A single link has no end mark.
        }
    });
    if (!whole) {
        reads_open_.clear();
    }
}

void Kernel::read_answers(const Sink& sink) {
    const bool whole =
        drain(request_socket_, kDatagramsPerTurn, [&](const netlink::Message& message) {
            const auto found = requests_.find(message.sequence);
            if (found == requests_.end()) {
                return;
            }
            const Request request = std::move(found->second);
            requests_.erase(found);
            if (message.type == RTM_NEWNEIGH) {
                sink(answer_to(request, netlink::decode_silence(message)));
                return;
            }
            const auto answer = netlink::decode_answer(message);
            sink(answer_to(request, answer ? answer->error : answer.error()));
        });
    if (!whole) {
        // Answers were lost: nobody may wait for them for ever.
        for (const auto& [sequence, request] : std::exchange(requests_, {})) {
            sink(answer_to(request, Error{.code = Errc::Lost, .text = "answer lost"}));
        }
    }
}

Input Kernel::answer_to(const Request& request, Result<Duration> silence) {
    if (!silence) {
        return answer_to(request, silence.error());
    }
    return ForwardingRead{.request = request.id, .silent = *silence, .error = {}};
}

Input Kernel::answer_to(const Request& request, std::optional<Error> error) {
    if (error) {
        error->text = fmt::format("{}: {}", request.what, error->text);
    }
    if (!request.reads_forwarding) {
        return KernelAnswered{
            .request = request.id, .error = std::move(error), .found = request.found};
    }
    const bool absent = error && error->system_errno == ENOENT;
    return ForwardingRead{
        .request = request.id, .silent = {}, .error = absent ? std::nullopt : std::move(error)};
}

// One datagram a turn: a dump of a full table must not hold up what happens meanwhile.
void Kernel::read_dump(TimePoint now, const Sink& sink) {
    const bool whole = drain(dump_socket_, 1, [&](const netlink::Message& message) {
        if (!dump_) {
            return;
        }
        dump_deadline_ = now + kDumpDeadline;
        if (auto input = dump_->receive(message)) {
            sink(*input);
        }
    });
    if (!dump_) {
        return;
    }
    if (!whole) {
        spoil_dump(Error{.code = Errc::Lost, .text = "a datagram of the dump was lost"}, sink);
    } else if (now >= dump_deadline_) {
        spoil_dump(Error{.code = Errc::Lost, .text = "the dump did not go on"}, sink);
    }
    if (dump_->finished()) {
        dump_.reset();
        start_next_dump(now);
    }
}

void Kernel::spoil_dump(Error why, const Sink& sink) {
    if (auto input = dump_->abandon(std::move(why))) {
        sink(*input);
    }
}

void Kernel::read_tables(const Sink& sink) {
    (void)drain(table_socket_, kDatagramsPerTurn, [&](const netlink::Message& message) {
        const auto seen = netlink::decode_neighbor_table(message);
        if (seen && *seen) {
            sink(**seen);
        }
    });
}

void Kernel::read_peers(const Sink& sink) {
    const bool whole = drain(peer_socket_, kDatagramsPerTurn, [&](const netlink::Message& message) {
        if (ends_dump(message)) {
            if (--peer_dumps_open_ > 0) {
                (void)peer_socket_.socket->send(netlink::dump_tcp_sockets(Family::V6, ++sequence_));
            }
            return;
        }
        const auto peer = netlink::decode_bgp_peer(message);
        if (peer && *peer) {
            peers_.insert(**peer);
        }
    });
    if (!peers_running_ || (whole && peer_dumps_open_ > 0)) {
        return;
    }
    peers_running_ = false;
    std::vector<IpAddress> peers(peers_.begin(), peers_.end());
    peers_.clear();
    if (whole && peers_told_ != peers) {
        peers_told_ = peers;
        sink(BgpPeersSeen{.peers = std::move(peers)});
    }
}

// Asking ------------------------------------------------------------------------------------------

bool Kernel::carry_out(const Output& output, TimePoint now) {
    if (const auto* dump = std::get_if<StartDump>(&output)) {
        dumps_wanted_.push_back(dump->kind);
        if (!dump_) {
            start_next_dump(now);
        }
    } else if (const auto* reads = std::get_if<ReadLinks>(&output)) {
        start_link_reads(*reads, now);
    } else if (const auto* write = std::get_if<WriteNeighbor>(&output)) {
        ++sequence_;
        request({.id = write->request,
                 .what = fmt::format("neighbour {}", write->key.address.to_string()),
                 .found = {}},
                netlink::write_neighbor_request(*write, sequence_));
    } else if (const auto* remove = std::get_if<DeleteNeighbor>(&output)) {
        ++sequence_;
        request({.id = remove->request,
                 .what = fmt::format("neighbour {}", remove->key.address.to_string()),
                 .found = {}},
                netlink::delete_neighbor_request(*remove, sequence_));
    } else if (const auto* read = std::get_if<ReadForwarding>(&output)) {
        ++sequence_;
        request({.id = read->request,
                 .what = fmt::format("forwarding entry {}", read->key.mac.to_string()),
                 .found = {},
                 .reads_forwarding = true},
                netlink::read_forwarding_request(*read, sequence_));
    } else if (const auto* steer = std::get_if<WriteForwarding>(&output)) {
        ++sequence_;
        request({.id = steer->request,
                 .what = fmt::format("forwarding entry {}", steer->key.mac.to_string()),
                 .found = {}},
                netlink::write_forwarding_request(*steer, sequence_));
    } else if (const auto* proxy = std::get_if<SendProxy>(&output)) {
        ++sequence_;
        request({.id = proxy->request,
                 .what = fmt::format("proxied neighbour {}", proxy->key.address.to_string()),
                 .found = {}},
                netlink::proxy_request(*proxy, sequence_));
    } else if (const auto* setting = std::get_if<ApplySetting>(&output)) {
        apply(*setting);
    } else if (const auto* set = std::get_if<SetLinkUp>(&output)) {
        ++sequence_;
        request(
            {.id = set->request, .what = fmt::format("link {}", number(set->link)), .found = {}},
            netlink::link_up_request(*set, sequence_));
    } else {
        return false;
    }
    return true;
}

void Kernel::start_next_dump(TimePoint now) {
    if (dumps_wanted_.empty()) {
        return;
    }
    const DumpKind kind = dumps_wanted_.front();
    dumps_wanted_.pop_front();
    dump_.emplace(kind, ++sequence_);
    dump_deadline_ = now + kDumpDeadline;
    const std::vector<std::uint8_t> bytes = dump_->request();
    inputs_.emplace_back(DumpStarted{.kind = kind});
    if (const auto sent = dump_socket_.socket->send(bytes); !sent) {
        (void)dump_->abandon(sent.error());
        inputs_.emplace_back(DumpFinished{.kind = kind, .complete = false});
        dump_.reset();
    }
    more_ = true;
}

void Kernel::start_link_reads(const ReadLinks& reads, TimePoint now) {
    if (!reads_open_.empty() && now < reads_deadline_) {
        return;  // The last round is not over; another one is asked for in a moment.
    }
    reads_deadline_ = now + kReadsDeadline;
    reads_open_.clear();
    links_in_events_.clear();
    reads_of_.clear();
    for (const IfIndex link : reads.links) {
        reads_open_.insert(++sequence_);
        reads_of_[sequence_] = link;
        (void)read_socket_.socket->send(netlink::read_link_request(link, sequence_));
    }
    for (const IfIndex master : reads.masters) {
        reads_open_.insert(++sequence_);
        (void)read_socket_.socket->send(netlink::read_ports_request(master, sequence_));
    }
}

void Kernel::ask_tables(TimePoint now) {
    if (now >= next_tables_) {
        next_tables_ = now + kTablesInterval;
        (void)table_socket_.socket->send(netlink::dump_neighbor_tables(++sequence_));
    }
}

void Kernel::ask_peers(TimePoint now) {
    if (!peers_wanted_ || now < next_peers_) {
        return;
    }
    next_peers_ = now + kPeersInterval;
    peers_running_ = true;
    peers_.clear();
    peer_dumps_open_ = 2;  // IPv4, then IPv6: a socket runs one dump at a time.
    (void)peer_socket_.socket->send(netlink::dump_tcp_sockets(Family::V4, ++sequence_));
}

// What is as wanted already is not written: at rest nothing changes and nobody is notified.
void Kernel::apply(const ApplySetting& apply) {
    const std::optional<std::uint32_t> found = read_setting(apply);
    if (found == apply.value) {
        inputs_.emplace_back(KernelAnswered{.request = apply.request, .error = {}, .found = found});
        more_ = true;
        return;
    }
    const std::string what = setting_name(apply.setting, apply.name);
    if (is_only_checked(apply.setting)) {
        inputs_.emplace_back(KernelAnswered{
            .request = apply.request, .error = wrong_setting(what, apply, found), .found = found});
        more_ = true;
        return;
    }
    if (auto bytes = netlink::setting_request(apply, ++sequence_)) {
        request({.id = apply.request, .what = what, .found = found}, std::move(*bytes));
        return;
    }
    KernelAnswered answered{.request = apply.request, .error = {}, .found = found};
    if (const auto written = write_sysctl(sysctl_path(apply), apply.value); !written) {
        answered.error = written.error();
    }
    inputs_.emplace_back(std::move(answered));
    more_ = true;
}

// `bytes` carry the current sequence_.
void Kernel::request(Request request, std::vector<std::uint8_t> bytes) {
    requests_[sequence_] = std::move(request);
    to_send_.push_back({.sequence = sequence_, .bytes = std::move(bytes)});
}

void Kernel::flush() {
    while (!to_send_.empty()) {
        const Waiting& waiting = to_send_.front();
        if (const auto sent = request_socket_.socket->send(waiting.bytes); !sent) {
            const auto found = requests_.find(waiting.sequence);
            if (found != requests_.end()) {
                inputs_.push_back(answer_to(found->second, sent.error()));
                requests_.erase(found);
                more_ = true;
            }
        }
        to_send_.pop_front();
    }
}

std::optional<TimePoint> Kernel::wake_at() const {
    TimePoint at = next_tables_;
    if (peers_wanted_) {
        at = std::min(at, next_peers_);
    }
    if (dump_) {
        at = std::min(at, dump_deadline_);
    }
    return at;
}

}  // namespace planed::io
