// SPDX-License-Identifier: Apache-2.0
#include "bgp/session.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "net/assert.hpp"
#include "net/byte_writer.hpp"
#include "net/ids.hpp"

namespace planed::bgp {
namespace {

/// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
std::uint64_t next_random(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
}

Duration doubled(Duration span, Duration most) {
    return std::min(2 * span, most);
}

ProtocolError open_refused(std::uint8_t subcode, Bytes data, std::string text) {
    return {
        .notification = {.code = Notification::kOpen, .subcode = subcode, .data = std::move(data)},
        .error = {.code = Errc::Refused, .text = "OPEN: " + std::move(text)}};
}

/// The capability that is missing, as the peer would have had to send it (RFC 5492 5).
Bytes multiprotocol_evpn() {
    return {1, 4, 0, static_cast<std::uint8_t>(kAfiL2vpn), 0, kSafiEvpn};
}
Bytes four_octet_as(AsNumber as) {
    Bytes data{65, 4};
    ByteWriter(data).u32(number(as));
    return data;
}

bool is_collision(const std::optional<Notification>& notification) {
    return notification && notification->code == Notification::kCease &&
           notification->subcode == Notification::kCollision;
}

bool is_hard_reset(const Notification& notification) {
    return notification.code == Notification::kCease &&
           notification.subcode == Notification::kHardReset;
}

bool is_too_many_routes(const std::optional<Notification>& notification) {
    return notification && notification->code == Notification::kCease &&
           notification->subcode == Notification::kMaxPrefixes;
}

/// Whether we say it, or nothing at all.
bool says_notification(Down::Reason reason) {
    switch (reason) {
        case Down::Reason::HoldExpired:
        case Down::Reason::Refused:
        case Down::Reason::Stopped: return true;
        case Down::Reason::Lost:
        case Down::Reason::Notified:
        case Down::Reason::Replaced: return false;
    }
    return false;
}

bool is_without_a_word(Down::Reason reason) {
    return reason == Down::Reason::Lost || reason == Down::Reason::HoldExpired ||
           reason == Down::Reason::Replaced;
}

bool keeps_state(const Open& open) {
    const auto& restart = open.capabilities.graceful_restart;
    return restart && std::ranges::any_of(restart->kept, [](const GracefulRestart::Kept& kept) {
               return kept.family == AddressFamily{};
           });
}

bool announces_notifications(const Open& open) {
    const auto& restart = open.capabilities.graceful_restart;
    return restart && restart->notifications;
}

}  // namespace

std::string_view name_of(State state) {
    switch (state) {
        case State::Idle: return "idle";
        case State::Connect: return "connect";
        case State::Active: return "active";
        case State::OpenSent: return "open_sent";
        case State::OpenConfirm: return "open_confirm";
        case State::Established: return "established";
    }
    return "?";
}

Session::Session(const SessionOptions& options)
    : options_(options),
      retry_(options.connect_retry),
      random_(options.seed),
      has_restarted_(options.restarting) {
    PLANED_ASSERT(options.hold_seconds == 0 || options.hold_seconds >= 3);
    PLANED_ASSERT(options.id != RouterId::None);
    PLANED_ASSERT(options.restart_seconds <= GracefulRestart::kSecondsMax);
}

// --- Connections come. ---

void Session::start(TimePoint now) {
    if (std::exchange(enabled_, true)) {
        return;
    }
    retry_ = options_.connect_retry;
    idle_ = kIdleFirst;
    connect(now);
}

void Session::connect(TimePoint now) {
    if (options_.passive) {
        return;
    }
    attempt_ = ConnectionId{++last_id_};
    events_.emplace_back(ConnectionWanted{.id = attempt_});
    retry_later(now);
}

void Session::retry_later(TimePoint now) {
    if (!options_.passive) {
        retry_at_ = now + jittered(retry_);
        retry_ = doubled(retry_, std::max(kRetryMax, options_.connect_retry));
    }
}

void Session::abandon_attempt() {
    retry_at_.reset();
    if (attempt_ != ConnectionId::None) {
        events_.emplace_back(ConnectionUnwanted{.id = attempt_});
        attempt_ = ConnectionId::None;
    }
}

void Session::connected(ConnectionId id, TimePoint now) {
    if (id != attempt_ || id == ConnectionId::None) {
        return;  // Given up meanwhile.
    }
    attempt_ = ConnectionId::None;
    retry_at_.reset();
    add_link(id, true, now);
}

void Session::connect_failed(ConnectionId id, TimePoint now) {
    if (id != attempt_ || id == ConnectionId::None) {
        return;
    }
    attempt_ = ConnectionId::None;
    if (!retry_at_) {
        retry_later(now);
    }
}

std::optional<ConnectionId> Session::accepted(TimePoint now) {
    if (!enabled_ || idle_until_) {
        return std::nullopt;
    }
    // The peer would not connect again if it still had an earlier one.
    const auto older = std::ranges::find_if(
        links_, [](const auto& link) { return !link->ours && link->state != State::Established; });
    const ConnectionId replaced = older != links_.end() ? (*older)->id : ConnectionId::None;
    const ConnectionId id{++last_id_};
    add_link(id, false, now);
    if (replaced != ConnectionId::None) {
        yield(replaced, now);
    }
    return id;
}

void Session::add_link(ConnectionId id, bool ours, TimePoint now) {
    auto link = std::make_unique<Link>();
    link->id = id;
    link->ours = ours;
    link->hold_at = now + kOpenHold;
    encode_open(our_open(), link->outbox);
    ++traffic_.messages_sent;
    links_.push_back(std::move(link));
}

Open Session::our_open() const {
    Open open{.as = options_.local_as,
              .hold_seconds = options_.hold_seconds,
              .id = options_.id,
              .capabilities = {.families = {AddressFamily{}},
                               .route_refresh = true,
                               .extended_message = true,
                               .four_octet_as = options_.local_as}};
    // Without a family it says no more than that we know End-of-RIB (RFC 4724 3): FRR sends none to
    // a peer without it.
    open.capabilities.graceful_restart = GracefulRestart{};
    if (options_.restart_seconds > 0) {
        open.capabilities.graceful_restart =
            GracefulRestart{.restarting = has_restarted_,
                            .notifications = true,
                            .seconds = options_.restart_seconds,
                            .kept = {{.family = {}, .forwarding = options_.state_kept}}};
    }
    return open;
}

Session::Link* Session::find(ConnectionId id) {
    const auto found =
        std::ranges::find_if(links_, [id](const auto& link) { return link->id == id; });
    return found == links_.end() ? nullptr : found->get();
}

const Session::Link* Session::find_established() const {
    const auto found = std::ranges::find_if(
        links_, [](const auto& link) { return link->state == State::Established; });
    return found == links_.end() ? nullptr : found->get();
}

PeerKind Session::peer_kind() const {
    return options_.local_as == options_.peer_as ? PeerKind::Internal : PeerKind::External;
}

// --- Messages. ---

void Session::receive(ConnectionId id, std::span<const std::uint8_t> bytes, TimePoint now) {
    if (Link* const link = find(id)) {
        link->framer.feed(bytes);
    }
    while (Link* const link = find(id)) {
        const auto frame = link->framer.next();
        if (!frame) {
            refuse(id, frame.error(), now);
            return;
        }
        if (!*frame) {
            return;
        }
        ++traffic_.messages_received;
        handle(*link, **frame, now);
    }
}

void Session::handle(Link& link, const Frame& frame, TimePoint now) {
    if (frame.header.type == MessageType::Notification) {
        handle_notification(link.id, frame, now);
        return;
    }
    switch (link.state) {
        case State::OpenSent: handle_in_open_sent(link, frame, now); return;
        case State::OpenConfirm: handle_in_open_confirm(link, frame, now); return;
        case State::Established: handle_in_established(link, frame, now); return;
        case State::Idle:
        case State::Connect:
        case State::Active: PLANED_ASSERT(false); return;  // No link is in these.
    }
}

void Session::handle_in_open_sent(Link& link, const Frame& frame, TimePoint now) {
    if (frame.header.type == MessageType::Open) {
        handle_open(link.id, frame, now);
    } else {
        refuse_message(link, frame, now);
    }
}

void Session::handle_in_open_confirm(Link& link, const Frame& frame, TimePoint now) {
    if (frame.header.type == MessageType::Keepalive) {
        establish(link.id, now);
    } else {
        refuse_message(link, frame, now);
    }
}

void Session::handle_in_established(Link& link, const Frame& frame, TimePoint now) {
    restart_hold(link, now);
    switch (frame.header.type) {
        case MessageType::Update: handle_update(link.id, frame, now); return;
        case MessageType::RouteRefresh: handle_refresh(link.id, frame, now); return;
        case MessageType::Keepalive: return;
        case MessageType::Open:
        case MessageType::Notification: refuse_message(link, frame, now); return;
    }
}

void Session::refuse_message(const Link& link, const Frame& frame, TimePoint now) {
    const std::uint8_t subcode = link.state == State::OpenSent      ? Notification::kInOpenSent
                                 : link.state == State::OpenConfirm ? Notification::kInOpenConfirm
                                                                    : Notification::kInEstablished;
    refuse(link.id,
           {.notification = {.code = Notification::kStateMachine,
                             .subcode = subcode,
                             .data = {static_cast<std::uint8_t>(frame.header.type)}},
            .error = {.code = Errc::Refused,
                      .text = fmt::format(
                          "{} in state {}", name_of(frame.header.type), name_of(link.state))}},
           now);
}

void Session::handle_notification(ConnectionId id, const Frame& frame, TimePoint now) {
    const auto notification = decode_notification(frame.body);
    if (!notification) {
        end_link(id, {.reason = Down::Reason::Notified, .text = notification.error().text}, now);
        return;
    }
    const Notification inner = without_hard_reset(*notification);
    const auto text = shutdown_text(inner);
    end_link(id,
             {.reason = Down::Reason::Notified,
              .text = text ? fmt::format("{}: \"{}\"", to_string(inner), *text) : to_string(inner),
              .notification = *notification},
             now);
}

// --- OPEN. ---

void Session::handle_open(ConnectionId id, const Frame& frame, TimePoint now) {
    const auto peer = decode_open(frame.body);
    if (!peer) {
        refuse(id, peer.error(), now);
        return;
    }
    if (const auto error = objection(*peer)) {
        refuse(id, *error, now);
        return;
    }
    if (resolve_collisions(id, *peer, now)) {
        Link* const link = find(id);
        PLANED_ASSERT(link != nullptr);
        confirm(*link, *peer, now);
    }
}

std::optional<ProtocolError> Session::objection(const Open& peer) const {
    if (peer.as != options_.peer_as) {
        return open_refused(
            Notification::kBadPeerAs,
            {},
            fmt::format("AS {} instead of {}", number(peer.as), number(options_.peer_as)));
    }
    // Mirrored planes like to reuse loopbacks.
    if (peer.id == options_.id && peer_kind() == PeerKind::Internal) {
        return open_refused(Notification::kBadIdentifier,
                            {},
                            fmt::format("identifier {} is ours too", to_string(peer.id)));
    }
    if (!peer.capabilities.has(AddressFamily{})) {
        return open_refused(
            Notification::kUnsupportedCapability, multiprotocol_evpn(), "without L2VPN EVPN");
    }
    if (!peer.capabilities.four_octet_as) {
        return open_refused(Notification::kUnsupportedCapability,
                            four_octet_as(options_.local_as),
                            "without four-octet AS numbers");
    }
    return std::nullopt;
}

/// The higher identifier's connection stays (RFC 4271 6.8), or the higher AS's where identifiers
/// are equal (RFC 6286 2.3).
bool Session::keeps_own_connection(const Open& peer) const {
    return options_.id != peer.id ? options_.id > peer.id : options_.local_as > peer.as;
}

bool Session::resolve_collisions(ConnectionId id, const Open& peer, TimePoint now) {
    std::vector<ConnectionId> others;
    for (const auto& link : links_) {
        const bool collides =
            link->state == State::OpenConfirm || link->state == State::Established;
        if (link->id != id && collides) {
            others.push_back(link->id);
        }
    }
    for (const ConnectionId other_id : others) {
        const Link* const own = find(id);
        const Link* const other = find(other_id);
        if (own == nullptr || other == nullptr) {
            return false;
        }
        const bool stays = own->ours == keeps_own_connection(peer);
        if (other->state == State::Established) {
            // One that restarts and keeps its state has lost the old one without a word (RFC 4724
            // 5).
            if (!keeps_state(other->peer)) {
                yield(id, now);
                return false;
            }
            end_link(other_id,
                     {.reason = Down::Reason::Replaced, .text = "the peer has connected again"},
                     now);
        } else if (stays) {
            yield(other_id, now);
        } else {
            yield(id, now);
            return false;
        }
    }
    return true;
}

void Session::yield(ConnectionId id, TimePoint now) {
    end_link(id,
             {.reason = Down::Reason::Refused,
              .text = "another connection stays",
              .notification =
                  Notification{.code = Notification::kCease, .subcode = Notification::kCollision}},
             now);
}

void Session::confirm(Link& link, const Open& peer, TimePoint now) {
    link.peer = peer;
    link.state = State::OpenConfirm;
    link.hold_seconds = std::min(options_.hold_seconds, peer.hold_seconds);
    if (peer.capabilities.extended_message) {
        link.longest = kExtendedMessageMax;
        link.framer.allow_extended();
    }
    send_keepalive(link);
    restart_hold(link, now);
    plan_keepalive(link, now);
}

void Session::restart_hold(Link& link, TimePoint now) {
    link.hold_at.reset();
    if (link.hold_seconds != 0) {
        link.hold_at = now + std::chrono::seconds(link.hold_seconds);
    }
}

void Session::plan_keepalive(Link& link, TimePoint now) {
    constexpr int kPerHold = 3;
    if (link.hold_seconds != 0) {
        link.keepalive_at =
            now + jittered(Duration(std::chrono::seconds(link.hold_seconds)) / kPerHold);
    }
}

void Session::send_keepalive(Link& link) {
    encode_keepalive(link.outbox);
    ++traffic_.messages_sent;
}

void Session::establish(ConnectionId id, TimePoint now) {
    std::vector<ConnectionId> others;
    for (const auto& link : links_) {
        if (link->id != id) {
            others.push_back(link->id);
        }
    }
    for (const ConnectionId other : others) {
        yield(other, now);
    }
    abandon_attempt();
    Link* const link = find(id);
    PLANED_ASSERT(link != nullptr);
    link->state = State::Established;
    restart_hold(*link, now);
    retry_ = options_.connect_retry;
    established_at_ = now;
    has_restarted_ = false;
    near_max_said_ = false;
    if (!heard_.empty()) {
        stale_until_ = now + kEndOfRibBound;
    }
    advertisements_.begin();
    events_.emplace_back(
        Established{.id = id, .peer = link->peer, .hold_seconds = link->hold_seconds});
}

// --- Connections go. ---

void Session::refuse(ConnectionId id, const ProtocolError& error, TimePoint now) {
    end_link(id,
             {.reason = Down::Reason::Refused,
              .text = error.error.text,
              .notification = error.notification},
             now);
}

void Session::lost(ConnectionId id, TimePoint now) {
    if (find(id) != nullptr) {
        end_link(id, {.reason = Down::Reason::Lost, .text = "the connection was lost"}, now);
    }
}

void Session::end_link(ConnectionId id, const End& end, TimePoint now) {
    const auto found =
        std::ranges::find_if(links_, [id](const auto& link) { return link->id == id; });
    PLANED_ASSERT(found != links_.end());
    const std::unique_ptr<Link> link = std::move(*found);
    links_.erase(found);
    if (end.reason != Down::Reason::Lost) {
        Bytes last_words;
        if (says_notification(end.reason) && end.notification) {
            // Behind what has been begun: a message that ends in the middle hides the next one.
            last_words.assign(
                link->outbox.begin() + static_cast<std::ptrdiff_t>(link->outbox_begin),
                link->outbox.end());
            encode_notification(
                is_final(*link, end) ? hard_reset(*end.notification) : *end.notification,
                last_words);
            ++traffic_.messages_sent;
        }
        events_.emplace_back(ConnectionUnwanted{.id = id, .last_words = std::move(last_words)});
    }
    if (link->state == State::Established) {
        end_session(*link, end, now);
    } else if (!is_collision(end.notification)) {
        events_.emplace_back(Down{.reason = end.reason, .text = end.text});
    }
    plan_next(end, now);
}

void Session::end_session(const Link& link, const End& end, TimePoint now) {
    const Duration kept = time_kept(link, end);
    advertisements_.end();
    if (now - established_at_ >= kIdleMax) {
        idle_ = kIdleFirst;
    }
    events_.emplace_back(Down{.reason = end.reason,
                              .text = end.text,
                              .was_established = true,
                              .routes_kept = kept > Duration::zero()});
    if (kept == Duration::zero()) {
        forget_all();
        return;
    }
    sweep();  // What had been stale already does not stay twice (RFC 4724 4.2).
    ++epoch_;
    if (!heard_.empty()) {
        stale_until_ = now + kept;
    }
}

/// Where a NOTIFICATION would not end our routes at the peer, this one is to (RFC 8538 4).
bool Session::is_final(const Link& link, const End& end) const {
    const bool meant = end.reason == Down::Reason::Stopped || is_too_many_routes(end.notification);
    return meant && options_.restart_seconds > 0 && announces_notifications(link.peer);
}

/// A NOTIFICATION ends the peer's routes, unless both sides have said that it does not (RFC 8538).
Duration Session::time_kept(const Link& link, const End& end) const {
    const bool both_survive_it =
        options_.restart_seconds > 0 && announces_notifications(link.peer) && end.notification &&
        !is_hard_reset(*end.notification) && !is_too_many_routes(end.notification);
    if (end.reason == Down::Reason::Stopped ||
        (!is_without_a_word(end.reason) && !both_survive_it)) {
        return Duration::zero();
    }
    const auto& restart = link.peer.capabilities.graceful_restart;
    const Duration announced = std::chrono::seconds(restart ? restart->seconds : 0);
    return std::max(options_.keep, announced);
}

void Session::plan_next(const End& end, TimePoint now) {
    if (!enabled_ || !links_.empty() || attempt_ != ConnectionId::None) {
        return;
    }
    if (is_without_a_word(end.reason) || is_collision(end.notification)) {
        retry_later(now);
        return;
    }
    const bool pauses = is_too_many_routes(end.notification) && end.reason == Down::Reason::Refused;
    idle_until_ = now + (pauses ? kPrefixPause : jittered(idle_));
    idle_ = doubled(idle_, kIdleMax);
    retry_at_.reset();
}

void Session::stop(std::string_view text, TimePoint now) {
    if (!std::exchange(enabled_, false)) {
        return;
    }
    abandon_attempt();
    idle_until_.reset();
    while (!links_.empty()) {
        end_link(links_.front()->id,
                 {.reason = Down::Reason::Stopped,
                  .text = "stopped",
                  .notification = shutdown_notice(Notification::kAdminShutdown, text)},
                 now);
    }
    forget_all();
}

// --- Time. ---

/// Three quarters of it to all of it (RFC 4271 10).
Duration Session::jittered(Duration span) {
    constexpr std::uint64_t kSteps = 1000;
    const auto part = static_cast<std::int64_t>(next_random(random_) % (kSteps / 4 + 1));
    return span - span * part / static_cast<std::int64_t>(kSteps);
}

void Session::tick(TimePoint now) {
    std::vector<ConnectionId> ids;
    for (const auto& link : links_) {
        ids.push_back(link->id);
    }
    for (const ConnectionId id : ids) {
        tick_link(id, now);
    }
    if (idle_until_ && now >= *idle_until_) {
        idle_until_.reset();
        connect(now);
    }
    if (retry_at_ && now >= *retry_at_) {
        abandon_attempt();
        if (links_.empty()) {
            connect(now);
        }
    }
    if (stale_until_ && now >= *stale_until_) {
        sweep();
    }
}

void Session::tick_link(ConnectionId id, TimePoint now) {
    Link* const link = find(id);
    if (link == nullptr) {
        return;
    }
    if (link->hold_at && now >= *link->hold_at) {
        end_link(id,
                 {.reason = Down::Reason::HoldExpired,
                  .text = fmt::format("nothing heard in state {}", name_of(link->state)),
                  .notification = Notification{.code = Notification::kHoldExpired}},
                 now);
        return;
    }
    if (link->keepalive_at && now >= *link->keepalive_at) {
        send_keepalive(*link);
        plan_keepalive(*link, now);
    }
    if (link->outbox_begin == link->outbox.size()) {
        link->stalled_at.reset();
    } else if (!link->stalled_at) {
        link->stalled_at = now;
    }
    const Duration send_hold =
        std::max(kSendHoldLeast, Duration(2 * std::chrono::seconds(link->hold_seconds)));
    if (link->stalled_at && now - *link->stalled_at >= send_hold) {
        end_link(id,
                 {.reason = Down::Reason::HoldExpired,
                  .text = "the peer does not read",
                  .notification = Notification{.code = Notification::kSendHoldExpired}},
                 now);
    }
}

std::optional<TimePoint> Session::wake_at() const {
    std::optional<TimePoint> result;
    const auto at = [&result](const std::optional<TimePoint>& time) {
        if (time) {
            result = result ? std::min(*result, *time) : *time;
        }
    };
    at(retry_at_);
    at(idle_until_);
    at(stale_until_);
    for (const auto& link : links_) {
        at(link->hold_at);
        at(link->keepalive_at);
    }
    return result;
}

std::optional<Event> Session::poll_event() {
    if (events_.empty()) {
        return std::nullopt;
    }
    std::optional<Event> event = std::move(events_.front());
    events_.pop_front();
    return event;
}

State Session::state() const {
    if (!links_.empty()) {
        return (*std::ranges::max_element(links_, {}, [](const auto& link) { return link->state; }))
            ->state;
    }
    if (!enabled_ || idle_until_) {
        return State::Idle;
    }
    return attempt_ != ConnectionId::None ? State::Connect : State::Active;
}

// --- Bytes. ---

std::span<const std::uint8_t> Session::pending(ConnectionId id) {
    Link* const link = find(id);
    if (link == nullptr) {
        return {};
    }
    Bytes& outbox = link->outbox;
    if (link->state == State::Established &&
        outbox.size() - link->outbox_begin < kWriteBuffer / 2) {
        outbox.erase(outbox.begin(),
                     outbox.begin() + static_cast<std::ptrdiff_t>(link->outbox_begin));
        link->outbox_begin = 0;
        while (outbox.size() < kWriteBuffer && advertisements_.write_next(link->longest, outbox)) {
            ++traffic_.messages_sent;
            ++traffic_.updates_sent;
        }
    }
    return std::span<const std::uint8_t>(outbox).subspan(link->outbox_begin);
}

void Session::written(ConnectionId id, std::size_t count) {
    Link* const link = find(id);
    if (link == nullptr) {
        return;
    }
    PLANED_ASSERT(count <= link->outbox.size() - link->outbox_begin);
    link->outbox_begin += count;
    if (count != 0) {
        link->stalled_at.reset();
    }
    if (link->outbox_begin == link->outbox.size()) {
        link->outbox.clear();
        link->outbox_begin = 0;
    }
}

}  // namespace planed::bgp
