// SPDX-License-Identifier: Apache-2.0
#include "sim/daemon.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/describe.hpp"

namespace planed::sim {
namespace {

constexpr std::size_t kMessagesPerSource = 64;  // In a turn.
constexpr Duration kWakeDelay = 10us;
constexpr Duration kBackoffFirst = 100ms;
constexpr Duration kBackoffMost = 30s;
constexpr std::size_t kIdleTurnsMax = 100;
constexpr Duration kSpinStep = 1ms;

zapi::WireFamily family_of(Release release) {
    return is_family_a(release) ? zapi::WireFamily::A : zapi::WireFamily::D;
}

}  // namespace

SimDaemon::SimDaemon(SimClock& clock,
                     Random& random,
                     Trace& trace,
                     Faults& faults,
                     SimKernel& kernel,
                     SimZebra& zebra)
    : clock_(clock),
      random_(random),
      trace_(trace),
      faults_(faults),
      kernel_(kernel),
      zebra_(zebra) {
    for (EventSocket* socket :
         {&kernel_.link_events, &kernel_.neighbor_events, &kernel_.frames, &kernel_.answers}) {
        socket->readable = [this] { wake(); };
    }
    zebra_.readable = [this] { wake(); };
}

// Life --------------------------------------------------------------------------------------------

void SimDaemon::join(AuxLink& link, std::size_t side) {
    link_ = &link;
    side_ = side;
}

void SimDaemon::start() {
    trace_.add([] { return "planed: started"; });
    ++life_;
    on_start();
    engine_ = std::make_unique<Engine>(config);
    engine_->set_witness(witness);
    kernel_.open_sockets();
    reconnect_at_ = clock_.now();
    backoff_ = kBackoffFirst;
    stopping_ = false;
    handle(ConfigChanged{.config = config});
    for (const auto& [key, port] : state_file.ports) {
        const auto& [bridge, vlan, mac] = key;
        handle(PortRemembered{.bridge = bridge, .vlan = vlan, .mac = mac, .port = port});
    }
    for (const std::string& port : state_file.shut) {
        handle(ShutRemembered{.port = port});
    }
    if (link_ != nullptr && config->evpn.is_on()) {
        begin_evpn();
    }
    wake();
}

void SimDaemon::begin_evpn() {
    speaker_ = std::make_unique<SimSpeaker>(clock_, *link_, side_, random_.below(1'000'000));
    speaker_->on_event = [this] { was_told_ = true; };
    sync_ = std::make_unique<EvpnSync>(
        *engine_,
        *speaker_,
        EvpnSyncHooks{.now = [this] { return clock_.now(); },
                      .request_turn = [this] { wake(); },
                      .keep_changes = [this](bool keep) { engine_->keep_changes(keep); },
                      .changed = [] {},
                      .log =
                          [this](const Note& note) {
                              trace_.add(
                                  [&] { return fmt::format("  evpn: {} {}", note.id, note.text); });
                          }});
    sync_->configure(config->evpn);
}

void SimDaemon::turn_evpn() {
    if (sync_ != nullptr) {
        sync_->turn(engine_->take_changes(), clock_.now());
    }
}

void SimDaemon::kill() {
    trace_.add([] { return "planed: killed"; });
    end();
}

void SimDaemon::end() {
    ++life_;
    awake_ = false;
    sync_.reset();
    speaker_.reset();
    engine_.reset();
    session_.reset();
    bridge_.forget();
    dumps_asked_.clear();
    kernel_.close_sockets();
    zebra_.close();
}

void SimDaemon::stop() {
    handle(StopRequested{});
    wake();
}

void SimDaemon::reload(std::shared_ptr<const Config> changed) {
    config = std::move(changed);
    handle(ConfigChanged{.config = config});
    if (sync_ != nullptr) {
        sync_->configure(config->evpn);
    }
    wake();
}

void SimDaemon::audit() {
    handle(AuditRequested{});
    wake();
}

bool SimDaemon::is_idle() const {
    return !awake_ && (session_ == nullptr || session_->idle());
}

// The turn ----------------------------------------------------------------------------------------

void SimDaemon::wake() {
    if (awake_ || engine_ == nullptr) {
        return;
    }
    awake_ = true;
    clock_.after(kWakeDelay + random_.between(0us, faults_.turn_delay_max), [this, life = life_] {
        if (life == life_) {
            awake_ = false;
            turn();
        }
    });
}

void SimDaemon::turn() {
    ++turns_;
    did_something_ = std::exchange(was_told_, false);
    read_events(kernel_.link_events, DumpKind::Links, DumpKind::Addresses);
    read_events(kernel_.neighbor_events, DumpKind::Neighbors, DumpKind::Fdb);
    read_answers();
    read_frames();
    read_zebra();
    keep_connected();
    engine_->settle(clock_.now());
    while (engine_ != nullptr) {
        const auto output = engine_->poll();
        if (!output) {
            break;
        }
        did_something_ = true;
        carry_out(*output);
    }
    on_turn();
    write_zebra();
    turn_evpn();
    if (stopping_ && (session_ == nullptr || session_->idle())) {
        trace_.add([] { return "planed: ended"; });
        end();
        return;
    }
    start_dumps();
    arm();
}

void SimDaemon::read_events(EventSocket& socket, DumpKind first, DumpKind second) {
    if (socket.take_overrun()) {
        handle(EventsLost{.kind = first});
        handle(EventsLost{.kind = second});
    }
    for (std::size_t i = 0; i < kMessagesPerSource; ++i) {
        const auto event = socket.receive();
        if (!event) {
            return;
        }
        handle(*event);
    }
    handle(EventsWaiting{.kind = first});
    handle(EventsWaiting{.kind = second});
}

void SimDaemon::read_frames() {
    (void)kernel_.frames.take_overrun();  // Nobody says what a full packet socket drops.
    for (std::size_t i = 0; i < kMessagesPerSource; ++i) {
        const auto frame = kernel_.frames.receive();
        if (!frame) {
            return;
        }
        handle(*frame);
    }
}

void SimDaemon::read_answers() {
    for (std::size_t i = 0; i < kMessagesPerSource; ++i) {
        const auto answer = kernel_.answers.receive();
        if (!answer) {
            return;
        }
        handle(*answer);
    }
}

// A dump that follows an overrun must not begin before the queue is empty: what is queued is older
// than what was lost, and until then the kernel drops more without saying so again.
void SimDaemon::start_dumps() {
    for (auto at = dumps_asked_.begin(); at != dumps_asked_.end();) {
        const bool of_links = *at == DumpKind::Links || *at == DumpKind::Addresses;
        EventSocket& events = of_links ? kernel_.link_events : kernel_.neighbor_events;
        if (events.is_readable()) {
            ++at;
            continue;
        }
        const DumpKind kind = *at;
        at = dumps_asked_.erase(at);
        handle(DumpStarted{.kind = kind});
        kernel_.start_dump(kind);
    }
}

void SimDaemon::arm() {
    if (kernel_.link_events.is_readable() || kernel_.neighbor_events.is_readable() ||
        kernel_.frames.is_readable() || kernel_.answers.is_readable()) {
        wake();
    }
    std::optional<TimePoint> at = engine_->wake_at();
    const auto sooner = [&at](std::optional<TimePoint> candidate) {
        if (candidate) {
            at = at ? std::min(*at, *candidate) : *candidate;
        }
    };
    if (session_ == nullptr) {
        sooner(reconnect_at_);
    } else {
        sooner(session_->wake_at());
    }
    if (sync_ != nullptr) {
        sooner(sync_->wake_at());
    }
    const bool spinning = !did_something_ && clock_.now() < last_turn_ + kSpinStep;
    idle_turns_ = spinning ? idle_turns_ + 1 : 0;
    last_turn_ = clock_.now();
    if (idle_turns_ == kIdleTurnsMax) {
        complaints.push_back("spins: a hundred turns in a row with nothing to do");
    }
    const std::uint64_t alarm = ++alarm_;
    if (at) {
        clock_.at(*at, [this, alarm, life = life_] {
            if (alarm == alarm_ && life == life_) {
                wake();
            }
        });
    }
}

void SimDaemon::handle(const Input& input) {
    did_something_ = true;
    if (const auto* link = std::get_if<LinkSeen>(&input);
        link == nullptr || link->source != Source::Read) {
        trace_.add([&] { return "  -> " + describe(input); });  // Reads come by the hundred.
    }
    on_input(input);
    engine_->handle(input, clock_.now());
}

// zebra -------------------------------------------------------------------------------------------

void SimDaemon::read_zebra() {
    if (session_ == nullptr) {
        return;
    }
    const ByteString bytes = zebra_.read();
    if (!bytes.empty()) {
        const auto received = session_->receive(bytes, clock_.now());
        take_events();
        if (!received) {
            complaints.push_back("session: " + received.error().text);
            lose_session(received.error());
            return;
        }
    }
    if (!zebra_.is_open()) {
        lose_session({.code = Errc::Lost, .text = "zebra closed the connection"});
        return;
    }
    const auto ticked = session_->tick(clock_.now());
    take_events();
    if (!ticked) {
        lose_session(ticked.error());
    }
}

void SimDaemon::take_events() {
    while (const auto event = session_->poll_event()) {
        if (std::holds_alternative<zapi::Ready>(*event)) {
            backoff_ = kBackoffFirst;
        }
        if (const auto input = to_input(*event)) {
            handle(*input);
        }
    }
}

void SimDaemon::keep_connected() {
    if (session_ != nullptr || stopping_ || reconnect_at_ > clock_.now()) {
        return;
    }
    if (zebra_.is_half_closed() || !zebra_.connect()) {
        reconnect_at_ = clock_.now() + backoff_ + random_.between(0us, backoff_ / 4);
        backoff_ = std::min(backoff_ * 2, kBackoffMost);
        return;
    }
    session_ = std::make_unique<zapi::Session>(zapi::SessionOptions{
        .family = family_of(zebra_.release),
        .stale_seconds = static_cast<std::uint32_t>(config->frr.stale_time / 1s)});
    session_->connected(clock_.now());
    did_something_ = true;
}

void SimDaemon::lose_session(Error why) {
    trace_.add([&] { return "planed: lost zebra: " + why.text; });
    zebra_.close();
    session_.reset();
    bridge_.forget();
    reconnect_at_ = clock_.now() + backoff_;
    backoff_ = std::min(backoff_ * 2, kBackoffMost);
    handle(ZapiLost{.why = std::move(why)});
}

void SimDaemon::write_zebra() {
    while (session_ != nullptr && zebra_.is_open()) {
        const auto bytes = session_->pending();
        if (bytes.empty()) {
            return;
        }
        const std::size_t taken = zebra_.write(bytes);
        session_->written(taken);
        take_events();
        if (taken == 0) {
            return;
        }
        did_something_ = true;
    }
}

// Outputs -----------------------------------------------------------------------------------------

void SimDaemon::carry_out(const Output& output) {
    trace_.add([&] { return "  <- " + describe(output); });
    on_output(output);
    if (bridge_.carry_out(output, session_.get(), clock_.now())) {
        return;
    }
    if (const auto* dump = std::get_if<StartDump>(&output)) {
        dumps_asked_.insert(dump->kind);
    } else if (const auto* read = std::get_if<ReadLinks>(&output)) {
        kernel_.read_links(*read);
    } else if (const auto* listen = std::get_if<Listen>(&output)) {
        kernel_.write(*listen);
    } else if (const auto* write = std::get_if<WriteNeighbor>(&output)) {
        kernel_.write(*write);
    } else if (const auto* removal = std::get_if<DeleteNeighbor>(&output)) {
        kernel_.write(*removal);
    } else if (const auto* question = std::get_if<ReadForwarding>(&output)) {
        kernel_.read(*question);
    } else if (const auto* forwarding = std::get_if<WriteForwarding>(&output)) {
        kernel_.write(*forwarding);
    } else if (const auto* proxy = std::get_if<SendProxy>(&output)) {
        kernel_.write(*proxy);
    } else if (const auto* setting = std::get_if<ApplySetting>(&output)) {
        kernel_.write(*setting);
    } else if (const auto* link = std::get_if<SetLinkUp>(&output)) {
        kernel_.write(*link);
    } else if (const auto* port = std::get_if<RememberPort>(&output)) {
        remember(*port);
    } else if (const auto* shut = std::get_if<RememberShut>(&output)) {
        remember(*shut);
    } else if (const auto* finish = std::get_if<Finish>(&output)) {
        stopping_ = true;
        if (finish->withdraw && session_ != nullptr) {
            session_->disable_restart();
        }
        if (finish->withdraw && speaker_ != nullptr) {
            speaker_->stop();
        }
    }
}

void SimDaemon::remember(const RememberPort& remember) {
    const auto key = std::tuple(remember.bridge, remember.vlan, remember.mac);
    if (remember.port) {
        state_file.ports[key] = *remember.port;
    } else {
        state_file.ports.erase(key);
    }
}

void SimDaemon::remember(const RememberShut& remember) {
    if (remember.shut) {
        state_file.shut.insert(remember.port);
    } else {
        state_file.shut.erase(remember.port);
    }
}

}  // namespace planed::sim
