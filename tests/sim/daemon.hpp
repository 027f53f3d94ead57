// SPDX-License-Identifier: Apache-2.0
// planed in a simulated world: the real engine, the real session with zebra and the real bridges
// between them, in a shell that does with simulated sockets what io/ and app/ do with real ones.
// It can be killed at any moment; only the state file survives.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "app/bridges.hpp"
#include "app/evpn_sync.hpp"
#include "config/config.hpp"
#include "core/engine.hpp"
#include "sim/aux_link.hpp"
#include "sim/clock.hpp"
#include "sim/faults.hpp"
#include "sim/kernel.hpp"
#include "sim/random.hpp"
#include "sim/speaker.hpp"
#include "sim/trace.hpp"
#include "sim/zebra.hpp"
#include "zapi/session.hpp"

namespace planed::sim {

struct StateFile {
    std::map<std::tuple<std::string, VlanId, MacAddress>, std::string> ports;
    std::set<std::string> shut;
};

class SimDaemon {
public:
    SimDaemon(SimClock& clock,
              Random& random,
              Trace& trace,
              Faults& faults,
              SimKernel& kernel,
              SimZebra& zebra);

    std::shared_ptr<const Config> config;
    StateFile state_file;

    /// One end of a management link, for EVPN. Before start().
    void join(AuxLink& link, std::size_t side);

    void start();
    void kill();  // -9: nothing is written any more, sockets close.
    void stop();  // SIGTERM: `on_exit` decides.
    void reload(std::shared_ptr<const Config> changed);
    void audit();  // An operator asks; see Checker::audited().

    [[nodiscard]] bool is_running() const { return engine_ != nullptr; }
    [[nodiscard]] const Engine* engine() const { return engine_.get(); }
    [[nodiscard]] const zapi::Session* session() const { return session_.get(); }
    /// Only with EVPN.
    [[nodiscard]] const EvpnSync* evpn() const { return sync_.get(); }
    [[nodiscard]] const bgp::Session* bgp() const {
        return speaker_ == nullptr ? nullptr : speaker_->session();
    }
    [[nodiscard]] std::uint64_t turns() const { return turns_; }
    /// Nothing waits to be handed to anybody.
    [[nodiscard]] bool is_idle() const;

    std::function<void(const Input&)> on_input = [](const Input&) {};
    std::function<void(const Output&)> on_output = [](const Output&) {};
    /// Of the engines that start() makes; see Engine::set_witness().
    Witness* witness = nullptr;
    std::function<void()> on_start = [] {};
    std::function<void()> on_turn = [] {};  // All outputs have been taken.
    std::vector<std::string> complaints;

private:
    void wake();
    void turn();
    void read_events(EventSocket& socket, DumpKind first, DumpKind second);
    void read_answers();
    void read_frames();
    void read_zebra();
    void take_events();
    void begin_evpn();
    void turn_evpn();
    void keep_connected();
    void lose_session(Error why);
    void write_zebra();
    void handle(const Input& input);
    void carry_out(const Output& output);
    void remember(const RememberPort& remember);
    void remember(const RememberShut& remember);
    void start_dumps();
    void arm();
    void end();

    SimClock& clock_;
    Random& random_;
    Trace& trace_;
    Faults& faults_;
    SimKernel& kernel_;
    SimZebra& zebra_;

    std::unique_ptr<Engine> engine_;
    std::unique_ptr<zapi::Session> session_;
    ZapiBridge bridge_;
    AuxLink* link_ = nullptr;
    std::size_t side_ = 0;
    std::unique_ptr<SimSpeaker> speaker_;
    std::unique_ptr<EvpnSync> sync_;
    std::set<DumpKind> dumps_asked_;
    TimePoint reconnect_at_{};
    Duration backoff_{};
    bool stopping_ = false;

    std::uint64_t life_ = 0;
    std::uint64_t alarm_ = 0;  // The timer that counts.
    bool awake_ = false;
    std::uint64_t turns_ = 0;
    std::size_t idle_turns_ = 0;  // In a row, without an input or output and without time passing.
    bool did_something_ = false;
    bool was_told_ = false;  // By a peer, since the last turn.
    TimePoint last_turn_{};
};

}  // namespace planed::sim
