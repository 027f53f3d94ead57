// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/core.h>

#include "app/api_door.hpp"
#include "app/auditor.hpp"
#include "app/bridges.hpp"
#include "app/evpn_speaker.hpp"
#include "app/evpn_sync.hpp"
#include "app/live_config.hpp"
#include "app/plugins.hpp"
#include "app/recorder.hpp"
#include "app/service.hpp"
#include "app/state_mirror.hpp"
#include "config/checks.hpp"
#include "config/diff.hpp"
#include "config/not_acted_on.hpp"
#include "config/print.hpp"
#include "core/engine.hpp"
#include "io/background_writer.hpp"
#include "io/clock.hpp"
#include "io/kernel.hpp"
#include "io/snooper.hpp"
#include "io/state_file.hpp"
#include "io/thread_meter.hpp"
#include "io/zapi_client.hpp"
#include "statedb/schema.hpp"
#include "telemetry/log_line.hpp"
#include "zapi/dialect.hpp"

namespace planed {
namespace {

std::string host_name() {
    char name[256]{};
    (void)::gethostname(name, sizeof name - 1);
    return name;
}

std::string name_of(const NodeConfig& node) {
    return node.name.empty() ? host_name() : node.name;
}

std::string log_context(const NodeConfig& node) {
    std::string context = fmt::format("node={}", name_of(node));
    if (!node.plane.empty()) {
        context += fmt::format(" plane={}", node.plane);
    }
    return context;
}

io::ZapiClientOptions zapi_options(const FrrConfig& frr) {
    io::ZapiClientOptions options;
    options.drain_deadline =
        800ms;  // SIGTERM ends the daemon within a second, whatever zebra does.
    options.path = frr.socket;
    options.route_type = zapi_route_type(frr.route_type);
    options.stale_seconds = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(frr.stale_time).count());
    if (frr.release != "auto") {
        options.release = frr.release;
    }
    return options;
}

class App {
public:
    App(const AppOptions& options, const config::Loaded& loaded)
        : options_(options),
          file_config_(std::make_shared<const Config>(loaded.config)),
          config_(file_config_),
          context_(log_context(config_->node)),
          state_(config_->state_dir, state_writer_),
          kernel_(loop_, [this] { turn(); }),
          snooper_(loop_, [this] { turn(); }),
          engine_(config_),
          plugins_(engine_, plugins_options()),
          zapi_(loop_, zapi_options(config_->frr), zapi_callbacks()),
          evpn_(loop_, [this](const Note& note) { log(note); }),
          evpn_sync_(engine_, evpn_, evpn_hooks()),
          mirror_(loop_, engine_, mirror_options()),
          api_({.host_name = host_name(), .version = options_.version}, api_hooks()),
          auditor_(engine_, auditor_hooks()),
          live_config_(loop_, config_->state_dir, state_writer_, live_config_hooks()),
          service_(loop_, engine_),
          timer_(loop_),
          patience_(loop_),
          signals_(loop_) {
        engine_.set_level(options_.level);
    }

    int run(const config::Loaded& loaded) {
        for (const std::string& path : config::not_acted_on(loaded.config, loaded.written)) {
            log({.level = Level::Warn,
                 .id = "config.not_acted_on",
                 .text = fmt::format(
                     "key={} text=\"accepted, but this release does not act on it\"", path)});
        }
        const int code = start();
        if (code == 0) {
            loop_.run();
            api_.close();
        }
        plugins_.close();  // While they can still say something.
        return code != 0 ? code : exit_code_;
    }

private:
    // Start and stop ------------------------------------------------------------------------------

    int start() {
        // A judge that is missing must not be missed: hosts that it would deny would be announced.
        const std::vector<std::string> wrong = plugins_.open(config_->plugins);
        for (const std::string& text : wrong) {
            log({.level = Level::Error,
                 .id = "plugin.refused",
                 .text = fmt::format("text=\"{}\"", text)});
        }
        if (!wrong.empty()) {
            return 1;
        }
        if (const auto recording = start_recording(); !recording) {
            log({.level = Level::Error,
                 .id = "record.refused",
                 .text = fmt::format("text=\"{}\"", recording.error().text)});
            return 1;
        }
        std::string problem;
        const io::StateContents state = state_.load(problem);
        if (!problem.empty()) {
            log({.level = Level::Error,
                 .id = "state.damaged",
                 .text = fmt::format("text=\"{}\"", problem)});
        }
        if (const auto opened = kernel_.open(); !opened) {
            log({.level = Level::Error,
                 .id = "netlink.open",
                 .text = fmt::format("text=\"{}\"", opened.error().text)});
            return 1;
        }
        if (kernel_.receive_buffer() < io::NetlinkSocket::kReceiveBuffer) {
            log({.level = Level::Warn,
                 .id = "netlink.buffer",
                 .text = fmt::format("bytes={} wanted={} text=\"notifications will be lost sooner, "
                                     "needs CAP_NET_ADMIN or a larger net.core.rmem_max\"",
                                     kernel_.receive_buffer(),
                                     io::NetlinkSocket::kReceiveBuffer)});
        }
        for (const Input& input : io::to_inputs(state)) {
            engine_.handle(input, io::now());
        }
        begin_with(live_config_.over(*file_config_));
        signals_.add(SIGTERM);
        signals_.add(SIGINT);
        signals_.add(SIGHUP);
        wait_for_signal();
        // hiredis writes by write(2): a Redis that goes away is to be an error, not the end.
        (void)std::signal(SIGPIPE, SIG_IGN);
        start_zebra_once_configured();
        mirror_.configure(config_->redis);
        engine_.handle(ApiSeen{.trouble = api_.open(config_->api, config_->metrics)}, io::now());
        warn_of_open_metrics();
        evpn_sync_.configure(config_->evpn);
        service_.start();
        boost::asio::post(loop_, [this] { turn(); });
        return 0;
    }

    // Before the engine hears anything.
    Result<void> start_recording() {
        if (options_.record.empty()) {
            return {};
        }
        auto recorder = Recorder::open(options_.record,
                                       {.version = options_.version,
                                        .node = name_of(config_->node),
                                        .started = statedb::timestamp(io::now(), io::wall_offset()),
                                        .level = options_.level,
                                        .config = config_},
                                       [this](const Note& note) { log(note); });
        if (!recorder) {
            return tl::unexpected(recorder.error());
        }
        recorder_ = std::move(*recorder);
        engine_.set_witness(recorder_.get());
        return {};
    }

    // With the first word zebra drops what an earlier planed left and this one does not want: not
    // before it is known which interfaces there are. Yet hosts of planed.yaml's must not wait for a
    // Redis that may come tomorrow.
    void start_zebra_once_configured() {
        constexpr Duration kPatience = 2s;
        if (live_config_.is_known()) {
            start_zebra();
            return;
        }
        patience_.expires_after(kPatience);
        patience_.async_wait([this](const boost::system::error_code& error) {
            if (!error) {
                start_zebra();
            }
        });
    }
    void start_zebra() {
        patience_.cancel();
        if (!std::exchange(zebra_started_, true)) {
            zapi_.start();
        }
    }

    void wait_for_signal() {
        signals_.async_wait([this](const boost::system::error_code& error, int number) {
            if (error) {
                return;
            }
            if (number == SIGHUP) {
                service_.reloading();
                (void)reload();  // It has logged all that it has to say.
            } else {
                log({.level = Level::Info, .id = "stop", .text = fmt::format("signal={}", number)});
                service_.stopping();
                engine_.handle(StopRequested{}, io::now());
            }
            wait_for_signal();
            turn();
        });
    }

    // All or nothing: a wrong file changes nothing, a right one is applied as far as it can be
    // live.
    api::Reloaded reload() {
        api::Reloaded reloaded;
        const config::Loaded loaded = config::load_file(options_.config_path);
        for (const config::Fault& fault : loaded.faults) {
            reloaded.faults.push_back(config::to_string(fault));
            log({.level = Level::Error,
                 .id = "config.fault",
                 .text = fmt::format("text=\"{}\"", reloaded.faults.back())});
        }
        if (!loaded.ok()) {
            service_.refused(loaded.faults.size());
            log({.level = Level::Error,
                 .id = "config.refused",
                 .text = fmt::format("faults={} text=\"the running configuration stays\"",
                                     loaded.faults.size())});
            return reloaded;
        }
        const config::Changes changes = config::diff(*file_config_, loaded.config);
        reloaded.changed = changes.keys;
        reloaded.needs_restart = changes.needs_restart;
        for (const std::string& key : changes.needs_restart) {
            log({.level = Level::Warn,
                 .id = "config.needs_restart",
                 .text = fmt::format("key={} text=\"applied at the next start\"", key)});
        }
        set_file_config(
            std::make_shared<const Config>(config::live_part(*file_config_, loaded.config)));
        use(live_config_.over(*file_config_));
        mirror_.configure(config_->redis);
        engine_.handle(ApiSeen{.trouble = api_.configure(config_->metrics)}, io::now());
        if (std::find(changes.parts.begin(), changes.parts.end(), "metrics") !=
            changes.parts.end()) {
            warn_of_open_metrics();
        }
        log({.level = Level::Info,
             .id = "config.reloaded",
             .text = fmt::format("changed={}", changes.keys.size())});
        return reloaded;
    }

    // The file's is the loop's to read; whoever else reads it, and the loop that writes it, locks.
    void set_file_config(std::shared_ptr<const Config> config) {
        const std::lock_guard lock(config_mutex_);
        file_config_ = std::move(config);
    }

    void begin_with(Config config) {
        config_ = std::make_shared<const Config>(std::move(config));
        context_ = log_context(config_->node);
        engine_.handle(ConfigChanged{.config = config_}, io::now());
    }
    void use(Config config) {
        begin_with(std::move(config));
        evpn_sync_.configure(config_->evpn);
    }

    LiveConfigHooks live_config_hooks() {
        return {
            .apply =
                [this](Config config) {
                    use(std::move(config));
                    request_turn();
                },
            .known = [this] { start_zebra(); },
            .trouble =
                [this](const std::string& what, const std::string& text) {
                    engine_.handle(TroubleSeen{.what = what, .text = text}, io::now());
                    request_turn();
                },
            .refused =
                [this](const std::vector<config::RefusedRow>& refused) {
                    std::vector<statedb::ConfigRow> rows;
                    for (const config::RefusedRow& row : refused) {
                        rows.push_back({.table = row.table, .key = row.key, .reason = row.reason});
                    }
                    mirror_.show(std::move(rows));
                },
            .level =
                [this, at_start = options_.level](std::optional<Level> level) {
                    options_.level = level.value_or(at_start);
                    engine_.set_level(options_.level);
                },
            .log = [this](const Note& note) { log(note); }};
    }

    void warn_of_open_metrics() {
        const std::string& address = config_->metrics.listen;
        if (!address.empty() && !config::is_loopback(address)) {
            log({.level = Level::Warn,
                 .id = "metrics.exposed",
                 .text = fmt::format("listen={} text=\"whoever reaches it may read the metrics\"",
                                     address)});
        }
    }

    void finish(const Finish& finish) {
        exit_code_ = 0;
        const auto one_less = [this] {
            if (--open_ == 0) {
                timer_.cancel();
                signals_.cancel();
                loop_.stop();
            }
        };
        start_zebra();  // Else it would not hear that all is to be withdrawn.
        zapi_.close(finish.withdraw, one_less);
        if (finish.withdraw) {
            evpn_.close(one_less);
        } else {
            // Without a goodbye peers keep what they have of us for a while, as zebra does.
            boost::asio::post(loop_, one_less);
        }
    }

    // The turn ------------------------------------------------------------------------------------

    void turn() {
        PLANED_ASSERT(!in_turn_);
        in_turn_ = true;
        const TimePoint now = io::now();
        inputs_.clear();
        const auto take = [this](const Input& input) { inputs_.push_back(input); };
        kernel_.read(now, take);
        snooper_.read(now, take);
        if (plugins_.has_judges()) {
            plugins_.handle(inputs_, now);
        } else {
            engine_.handle(inputs_, now);
        }
        engine_.settle(now);
        std::uint64_t decided = 0;
        while (const auto output = engine_.poll()) {
            decided += std::holds_alternative<Say>(*output) ? 0U : 1U;
            carry_out(*output, now);
        }
        if (recorder_ != nullptr) {
            recorder_->turn(decided, now);
        }
        zapi_.flush();
        kernel_.flush();
        const Changes changes = keeps_changes() ? engine_.take_changes() : Changes{};
        evpn_sync_.turn(changes, now);
        mirror_.turn(changes, now);
        const bool plugins_go_on = plugins_.turn(changes, now);
        auditor_.turn(now);
        const bool api_goes_on = api_.turn(changes, now);
        service_.turn();
        state_.tick(now);
        say_state_problem();
        in_turn_ = false;
        if (kernel_.has_more() || snooper_.has_more() || api_goes_on || plugins_go_on) {
            request_turn();
        }
        arm_timer();
        ++turns_;
        longest_turn_ = std::max(longest_turn_, io::now() - now);
    }

    void carry_out(const Output& output, TimePoint now) {
        if (zapi_bridge_.carry_out(output, zapi_.session(), now)) {
            return;
        }
        if (kernel_.carry_out(output, now) || snooper_.carry_out(output, now)) {
            return;
        }
        if (const auto* say = std::get_if<Say>(&output)) {
            log(say->note);
        } else if (const auto* port = std::get_if<RememberPort>(&output)) {
            state_.remember(*port);
        } else if (const auto* shut = std::get_if<RememberShut>(&output)) {
            state_.remember(*shut);
        } else if (const auto* drain = std::get_if<RememberDrain>(&output)) {
            state_.remember(*drain);
        } else if (const auto* done = std::get_if<Finish>(&output)) {
            finish(*done);
        }
    }

    void request_turn() {
        if (!std::exchange(turn_requested_, true)) {
            boost::asio::post(loop_, [this] {
                turn_requested_ = false;
                turn();
            });
        }
    }

    void arm_timer() {
        std::optional<TimePoint> at = engine_.wake_at();
        for (const auto& other : {kernel_.wake_at(),
                                  snooper_.wake_at(),
                                  state_.wake_at(),
                                  mirror_.wake_at(),
                                  auditor_.wake_at(),
                                  evpn_sync_.wake_at(),
                                  api_.wake_at()}) {
            if (other) {
                at = at ? std::min(*at, *other) : *other;
            }
        }
        if (at == armed_at_) {
            return;
        }
        armed_at_ = at;
        if (!at) {
            timer_.cancel();
            return;
        }
        timer_.expires_at(*at);
        timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) {
                armed_at_.reset();
                turn();
            }
        });
    }

    // zebra ---------------------------------------------------------------------------------------

    io::ZapiCallbacks zapi_callbacks() {
        return {
            .on_event =
                [this](const zapi::Event& event) {
                    if (const auto note = note_of(event)) {
                        log(*note);
                    }
                    if (const auto input = to_input(event)) {
                        if (const auto* up = std::get_if<ZapiUp>(&*input)) {
                            zebra_family_ = up->family;
                            kernel_.watch_bgp_peers(up->resolves_over_ours);
                        }
                        engine_.handle(*input, io::now());
                        request_turn();
                    }
                },
            .on_down =
                [this](const Error& why) {
                    zapi_bridge_.forget();
                    engine_.handle(ZapiLost{.why = why}, io::now());
                    request_turn();
                },
        };
    }

    StateMirrorOptions mirror_options() {
        return {.version = options_.version,
                .host_name = host_name(),
                .request_turn = [this] { request_turn(); },
                .log = [this](const Note& note) { log(note); },
                .keep_changes = [this](bool keep) { keep_changes(mirror_reads_changes_, keep); },
                .evpn_rows = [this] { return evpn_rows(); }};
    }

    statedb::EvpnRows evpn_rows() const {
        statedb::EvpnRows rows;
        for (const evpn::SegmentView& segment : evpn_sync_.multihoming().segments()) {
            const auto forwarder = evpn::forwarder_of(segment);
            rows.segments.push_back({.esi = segment.esi.octets(),
                                     .port = segment.port,
                                     .up = segment.up,
                                     .announced = segment.announced,
                                     .role = std::string(evpn::role_of(segment)),
                                     .forwarder = forwarder ? forwarder->to_string() : "",
                                     .local_hosts = segment.local,
                                     .synced_hosts = segment.synced});
        }
        for (const bgp::PeerView& peer : evpn_.peers()) {
            rows.peers.push_back({.address = peer.address,
                                  .remote_as = number(peer.remote_as),
                                  .description = peer.description,
                                  .state = std::string(bgp::state_of(peer)),
                                  .since = peer.since,
                                  .routes = peer.routes});
        }
        return rows;
    }

    EvpnSyncHooks evpn_hooks() {
        return {.now = [] { return io::now(); },
                .request_turn = [this] { request_turn(); },
                .keep_changes = [this](bool keep) { keep_changes(evpn_reads_changes_, keep); },
                .changed =
                    [this] {
                        mirror_.evpn_changed();
                        api_.evpn_changed();
                    },
                .log = [this](const Note& note) { log(note); }};
    }

    // Plug-ins ------------------------------------------------------------------------------------

    PluginsOptions plugins_options() {
        return {.host = {.version = options_.version,
                         .meter = [] { return io::read_thread_meter(); },
                         .log = [this](const Note& note) { log(note); }},
                .wall = [] { return io::wall_offset(); },
                .keep_changes = [this](bool keep) { keep_changes(plugins_read_changes_, keep); }};
    }

    // Readers of the engine's changes -------------------------------------------------------------

    [[nodiscard]] bool keeps_changes() const {
        return mirror_reads_changes_ || api_reads_changes_ || evpn_reads_changes_ ||
               plugins_read_changes_;
    }
    void keep_changes(bool& reader, bool keep) {
        const bool before = keeps_changes();
        reader = keep;
        if (keeps_changes() != before) {
            engine_.keep_changes(keep);
        }
    }

    // The API -------------------------------------------------------------------------------------

    api::Hooks api_hooks() {
        return {
            .post = [this](std::function<void()> job) { boost::asio::post(loop_, std::move(job)); },
            .wall = [] { return io::wall_offset(); },
            .check_config = [this](std::string_view text,
                                   const std::string& name) { return check_config(text, name); },
            .now = [] { return io::now(); },
            .request_turn = [this] { request_turn(); },
            .keep_changes = [this](bool keep) { keep_changes(api_reads_changes_, keep); },
            .view = [this] { return EngineView(engine_); },
            .reload =
                [this] {
                    api::Reloaded reloaded = reload();
                    request_turn();
                    return reloaded;
                },
            .command = [this](const Command& command) { return carry_out(command); },
            .set_level =
                [this](Level level) {
                    engine_.set_level(level);
                    return std::exchange(options_.level, level);
                },
            .show_config = [this] { return config::to_yaml(*config_); },
            .zebra_release =
                [this] {
                    const auto family = zapi::family_named(zebra_family_);
                    return family ? std::string(zapi::releases_of(*family)) : std::string();
                },
            .plugins = [this] { return plugins_.views(); },
            .counters = [this] { return counters(); },
            .evpn_segments = [this] { return evpn_sync_.multihoming().segments(); },
            .evpn_peers = [this] { return evpn_.peers(); },
            .evpn_routes =
                [this](
                    bgp::RouteCursor& cursor, std::size_t max, std::vector<bgp::RouteRow>& rows) {
                    return evpn_.read_routes(cursor, max, rows);
                },
            .audit = [this](TimePoint until,
                            Auditor::Ready ready) { return auditor_.ask(until, std::move(ready)); },
            .log = [this](const Note& note) { log(note); },
        };
    }

    AuditorHooks auditor_hooks() {
        return {.request_turn = [this] { request_turn(); },
                .begin_rows = [this] { mirror_.begin_audit(); },
                .end_rows = [this] { mirror_.end_audit(); },
                .rows_are_read = [this] { return mirror_.audit_is_done(); },
                .add_rows = [this](AuditReport& report) { mirror_.add_to(report); }};
    }

    Result<std::size_t> carry_out(const Command& command) {
        auto concerned = engine_.concerned_by(command);
        if (concerned) {
            std::visit([this](const auto& what) { engine_.handle(what, io::now()); }, command);
            request_turn();
        }
        return concerned;
    }

    // In a thread of the API.
    api::Checked check_config(std::string_view text, const std::string& name) {
        const config::Loaded loaded = config::load_text(text, name);
        api::Checked checked;
        for (const config::Fault& fault : loaded.faults) {
            checked.faults.push_back(config::to_string(fault));
        }
        for (const config::Fault& warning : loaded.warnings) {
            checked.warnings.push_back(config::to_string(warning));
        }
        if (loaded.ok()) {
            const config::Changes changes = config::diff(*shared_file_config(), loaded.config);
            checked.changed = changes.keys;
            checked.needs_restart = changes.needs_restart;
        }
        return checked;
    }
    std::shared_ptr<const Config> shared_file_config() {
        const std::lock_guard lock(config_mutex_);
        return file_config_;
    }

    std::vector<std::pair<std::string, std::uint64_t>> counters() {
        using std::chrono::duration_cast;
        using std::chrono::microseconds;
        const HealthView health = EngineView(engine_).health();
        const Engine::Learning& learning = engine_.learning();
        const zapi::Session* session = zapi_.session();
        AuditCounters audited = engine_.audits().counters();
        mirror_.add_to(audited);
        EvpnSpeaker::Counters all = evpn_.counters();
        all.emplace_back("audit_reads", audited.reads);
        all.emplace_back("audits", audited.audits);
        for (std::size_t i = 0; i < kAuditTables; ++i) {
            all.emplace_back(fmt::format("audit_differences_{}", word(static_cast<AuditTable>(i))),
                             audited.differences[i]);
        }
        all.emplace_back("evpn_hosts_synced", engine_.synced_count());
        std::uint64_t plugin_calls = 0;
        std::uint64_t plugin_denials = 0;
        std::uint64_t plugin_strikes = 0;
        std::uint64_t plugins_fenced = 0;
        for (const plugin::View& view : plugins_.views()) {
            plugin_calls += view.totals.calls;
            plugin_denials += view.totals.denials;
            plugin_strikes += view.totals.strikes;
            plugins_fenced += view.fenced.empty() ? 0U : 1U;
        }
        const EvpnSpeaker::Counters others{
            {"claims_refused", learning.claims_refused},
            {"facts_refused", health.refused},
            {"frames_heard", learning.heard},
            {"frames_ignored", learning.ignored},
            {"hosts_damped", health.hosts_damped},
            {"hosts_delayed", health.hosts_delayed},
            {"hosts_flapped", health.hosts_flapped},
            {"hosts_frozen", learning.frozen},
            {"hosts_kept_mute", learning.mute},
            {"hosts_over_limit", learning.over_limit},
            {"hosts_refreshed", learning.refreshed},
            {"hosts_written", learning.written},
            {"neighbors", health.neighbors},
            {"netlink_overruns", health.overruns},
            {"netlink_resyncs", health.resyncs},
            {"plane_routes", health.plane_routes},
            {"plugin_calls", plugin_calls},
            {"plugin_changes_queued", plugins_.waiting()},
            {"plugin_denials", plugin_denials},
            {"plugin_strikes", plugin_strikes},
            {"plugins_fenced", plugins_fenced},
            {"probes", learning.asked},
            {"probes_queued", health.probes_queued},
            {"proxies", health.proxies},
            {"proxies_queued", health.proxies_queued},
            {"redis_rows", mirror_.rows()},
            {"redis_rows_queued", mirror_.rows_queued()},
            {"redis_unanswered", mirror_.unanswered()},
            {"routes_guarded", health.routes_guarded},
            {"routes_in_flight", health.routes_in_flight},
            {"routes_kept", health.routes_kept},
            {"routes_queued", health.routes_queued},
            {"routes_returned", health.routes_returned},
            {"turn_longest_us",
             static_cast<std::uint64_t>(duration_cast<microseconds>(longest_turn_).count())},
            {"turns", turns_},
            {"zapi_queued", session == nullptr ? 0 : session->backlog()},
        };
        all.insert(all.end(), others.begin(), others.end());
        return all;
    }

    // Words ---------------------------------------------------------------------------------------

    void log(const Note& note) {
        if (note.level > options_.level) {
            return;
        }
        const auto decision = rate_limit_.ask(note.id, io::now());
        if (decision.pass) {
            log_writer_.line(log_line(note, context_, decision.left_out));
        }
    }

    void say_state_problem() {
        std::string problem = state_.problem();
        problem = problem.empty() ? live_config_.problem() : problem;
        if (problem == state_problem_) {
            return;
        }
        state_problem_ = std::move(problem);
        if (state_problem_.empty()) {
            log({.level = Level::Info, .id = "state.written", .text = ""});
        } else {
            log({.level = Level::Error,
                 .id = "state.unwritable",
                 .text = fmt::format("text=\"{}, will try again with the next change\"",
                                     state_problem_)});
        }
    }

    AppOptions options_;
    std::shared_ptr<const Config> file_config_;  // planed.yaml's.
    std::mutex config_mutex_;
    std::shared_ptr<const Config> config_;  // What is in effect.
    std::string context_;
    boost::asio::io_context loop_{1};
    // Lines nobody reads must not hold up the end; the state must reach the disk.
    io::BackgroundWriter log_writer_{200ms};
    io::BackgroundWriter state_writer_{10s};
    io::StateFile state_;
    io::Kernel kernel_;
    io::Snooper snooper_;
    std::unique_ptr<Recorder> recorder_;  // Only where one is asked for.
    Engine engine_;
    Plugins plugins_;
    io::ZapiClient zapi_;
    ZapiBridge zapi_bridge_;
    EvpnSpeaker evpn_;
    EvpnSync evpn_sync_;
    StateMirror mirror_;
    ApiDoor api_;
    Auditor auditor_;
    LiveConfig live_config_;
    Service service_;
    boost::asio::steady_timer timer_;
    boost::asio::steady_timer patience_;
    boost::asio::signal_set signals_;
    RateLimit rate_limit_;
    std::optional<TimePoint> armed_at_;
    std::vector<Input> inputs_;  // Of this turn.
    std::string state_problem_;
    bool in_turn_ = false;
    bool zebra_started_ = false;
    bool turn_requested_ = false;
    bool mirror_reads_changes_ = false;
    bool api_reads_changes_ = false;
    bool evpn_reads_changes_ = false;
    bool plugins_read_changes_ = false;
    std::string zebra_family_;  // "A".."D", of the session that was last ready.
    std::uint64_t turns_ = 0;
    Duration longest_turn_{};
    int open_ = 2;  // Conversations that are to end before we do: zebra's, and those with peers.
    int exit_code_ = 1;
};

}  // namespace

int run_app(const AppOptions& options, const config::Loaded& loaded) {
    const std::string& directory = loaded.config.state_dir;
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
        fmt::print(stderr, "planed: cannot create state_dir {}: {}\n", directory, error.message());
        return 1;
    }
    const auto lock = io::LockFile::take(directory);
    if (!lock) {
        fmt::print(stderr, "planed: {}\n", lock.error().text);
        return 1;
    }
    App app(options, loaded);
    return app.run(loaded);
}

}  // namespace planed
