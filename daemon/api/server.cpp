// SPDX-License-Identifier: Apache-2.0
#include "api/server.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include <fmt/core.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server_posix.h>

#include "api/calls.hpp"
#include "api/desk.hpp"
#include "api/metrics.hpp"
#include "api/segment_watch.hpp"
#include "api/stream.hpp"
#include "api/table_stream.hpp"
#include "api/translate.hpp"
#include "api/translate_evpn.hpp"
#include "api/worker.hpp"
#include "planed/v1/planed.grpc.pb.h"
#include "telemetry/log_line.hpp"

namespace planed::api {
namespace {

constexpr int kRequestMax = 2 << 20;  // Bytes: a configuration file is 1 MiB at most.
constexpr int kStreamsPerConnection = 64;
constexpr std::size_t kMemory = std::size_t{64} << 20U;  // gRPC's own buffers.
constexpr std::size_t kWatchersMax = 256;
// Each may hold on to a snapshot of its own: some 20 MB with 64,000 hosts.
constexpr std::size_t kTablesMax = 16;
constexpr unsigned kCertificateSeconds = 10;  // Between two looks at the files.

// An audit is answered so long before the client stops waiting.
constexpr Duration kAnswerBefore = 400ms;
constexpr Duration kAuditMax = 30s;

/// How long an audit may take.
Duration audit_time(const grpc::CallbackServerContext& context) {
    const gpr_timespec deadline = context.raw_deadline();
    const gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
    const std::chrono::milliseconds wait(gpr_time_to_millis(left));  // Saturates.
    return std::clamp<Duration>(wait - std::min<Duration>(kAnswerBefore, wait / 4), 0ms, kAuditMax);
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += text.empty() ? line : "\n" + line;
    }
    return text;
}

void add_all(const std::vector<std::string>& from,
             google::protobuf::RepeatedPtrField<std::string>& to) {
    for (const std::string& text : from) {
        *to.Add() = text;
    }
}

/// NOT_FOUND for an interface or a VRF that is not served; empty names are always there.
grpc::Status find_named(const Snapshot& snapshot,
                        const std::string& interface,
                        const std::string& vrf) {
    bool has_interface = interface.empty();
    bool has_vrf = vrf.empty();
    for (const InterfaceCount& known : snapshot.interfaces) {
        has_interface = has_interface || known.interface.name == interface;
        has_vrf = has_vrf || known.interface.vrf == vrf;
    }
    if (has_interface && has_vrf) {
        return grpc::Status::OK;
    }
    return {grpc::StatusCode::NOT_FOUND,
            fmt::format("no served interface {} {}: planectl interfaces lists them",
                        has_interface ? "in VRF" : "is called",
                        has_interface ? vrf : interface)};
}

struct Kinds {
    bool hosts = false;
    bool routes = false;
    bool ports = false;
    bool segments = false;
};

std::optional<Kinds> kinds_of(const v1::WatchRequest& request) {
    Kinds kinds;
    for (const std::string& kind : request.kinds()) {
        if (kind != "hosts" && kind != "routes" && kind != "ports" && kind != "segments") {
            return std::nullopt;
        }
        kinds.hosts = kinds.hosts || kind == "hosts";
        kinds.routes = kinds.routes || kind == "routes";
        kinds.ports = kinds.ports || kind == "ports";
        kinds.segments = kinds.segments || kind == "segments";
    }
    return request.kinds().empty() ? Kinds{true, true, true, true} : kinds;
}

class Watcher final : public Stream<v1::WatchResponse> {
public:
    Watcher(grpc::CallbackServerContext& context,
            Kinds kinds,
            const WatchLog& log,
            std::function<WallOffset()> wall)
        : Stream(context), kinds_(kinds), log_(log), wall_(std::move(wall)) {}

    /// In the loop: what happens from now on is told. pump() after this.
    void begin(TimePoint now) {
        const std::lock_guard lock(mutex_);
        from_ = log_.end();
        marker_ = "sync";
        marked_at_ = now;
    }
    bool is_too_old() override { return false; }

protected:
    Next next(v1::WatchResponse& response) override {
        const std::lock_guard lock(mutex_);
        if (from_ == 0) {
            return Next::Wait;
        }
        const WallOffset wall = wall_();
        if (!marker_.empty()) {
            mark(response, wall);
        }
        const WatchLog::Batch batch = log_.read(from_, kRowsPerMessage);
        from_ = batch.next;
        if (batch.lost) {
            marker_ = "resync";
            mark(response, wall);
        }
        for (const auto& item : batch.items) {
            marked_at_ = item->at;
            if (wants(*item)) {
                fill(*response.add_events(), *item, wall);
            }
        }
        if (response.events_size() > 0) {
            return Next::Message;
        }
        return batch.items.empty() ? Next::Wait : next_again(response);
    }

private:
    // Everything in the batch was of other kinds: there may be more behind it.
    Next next_again(v1::WatchResponse& /*response*/) {
        this->pump();  // Busy now: it only notes that it is to look again.
        return Next::Wait;
    }
    void mark(v1::WatchResponse& response, WallOffset wall) {
        WatchItem item{.at = marked_at_};
        v1::WatchEvent& event = *response.add_events();
        fill(event, item, wall);
        event.clear_object();
        event.set_kind(marker_);
        marker_.clear();
    }
    [[nodiscard]] bool wants(const WatchItem& item) const {
        const std::string_view kind = kind_of(item);
        return (kind == "host" && kinds_.hosts) || (kind == "route" && kinds_.routes) ||
               (kind == "port" && kinds_.ports) || (kind == "segment" && kinds_.segments);
    }

    const Kinds kinds_;
    const WatchLog& log_;
    std::function<WallOffset()> wall_;
    std::mutex mutex_;
    std::uint64_t from_ = 0;  // 0: not begun yet.
    std::string marker_;
    TimePoint marked_at_{};
};

}  // namespace

// The service -------------------------------------------------------------------------------------

class Server::Impl final : public v1::PlanedService::CallbackService {
public:
    Impl(ServerOptions options, Hooks hooks)
        : options_(std::move(options)),
          hooks_(std::move(hooks)),
          worker_([this] { end_old_tables(); }) {}
    ~Impl() override { stop(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    Impl(Impl&&) = delete;
    Impl& operator=(Impl&&) = delete;

    // Connections ---------------------------------------------------------------------------------

    void adopt(int connection, const Peer& peer) {
        {
            const std::lock_guard lock(peers_mutex_);
            peers_[fmt::format("fd:{}", connection)] = peer;
        }
        const std::lock_guard lock(servers_mutex_);
        if (!local_ && !stopped_) {
            grpc::ServerBuilder builder;
            local_ = build(builder);
        }
        if (local_) {
            grpc::AddInsecureChannelFromFd(local_.get(), connection);
        }
    }

    Result<void> listen(const std::string& address, const TlsFiles& files) {
        if (files.client_ca.empty()) {
            return fail(Errc::Invalid,
                        fmt::format("{} needs api.tls.client_ca: only clients with a certificate "
                                    "are let in",
                                    address));
        }
        for (const std::string& file : {files.certificate, files.key, files.client_ca}) {
            if (!std::ifstream(file).good()) {
                return fail(Errc::System, fmt::format("cannot read {}", file));
            }
        }
        namespace tls = grpc::experimental;
        const auto provider = std::make_shared<tls::FileWatcherCertificateProvider>(
            files.key, files.certificate, files.client_ca, kCertificateSeconds);
        tls::TlsServerCredentialsOptions options(provider);
        options.watch_root_certs();
        options.watch_identity_key_cert_pairs();
        options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
        grpc::ServerBuilder builder;
        int port = 0;
        builder.AddListeningPort(address, tls::TlsServerCredentials(options), &port);
        auto server = build(builder);
        if (!server || port == 0) {
            return fail(Errc::System, fmt::format("cannot listen on {}", address));
        }
        const std::lock_guard lock(servers_mutex_);
        remote_.push_back(std::move(server));
        return {};
    }

    void stop() {
        if (stopped_.exchange(true)) {
            return;
        }
        calls_.stop();
        tables_.stop();
        watchers_.stop();
        const std::lock_guard lock(servers_mutex_);
        const gpr_timespec deadline = gpr_inf_past(GPR_CLOCK_REALTIME);  // At once.
        for (const auto& server : remote_) {
            server->Shutdown(deadline);
        }
        if (local_) {
            local_->Shutdown(deadline);
        }
    }

    // The loop ------------------------------------------------------------------------------------

    bool turn(const Changes& changes, TimePoint now) {
        tell(changes, now);
        return desk_.turn(hooks_.view(), now);
    }
    void evpn_changed() { segments_.touch(); }
    [[nodiscard]] std::optional<TimePoint> wake_at() const {
        const auto desk = desk_.wake_at();
        const auto segments = segments_.wake_at();
        return desk && segments ? std::min(*desk, *segments) : (desk ? desk : segments);
    }

    void metrics(MetricsReady ready) {
        hooks_.post([this, ready = std::move(ready)] {
            const bool asked = desk_.ask({}, [this, ready](const auto& snapshot) {
                worker_.post([ready,
                              snapshot,
                              words = node_words(),
                              counters = counters(),
                              now = hooks_.now()] {
                    ready(to_open_metrics(*snapshot, words, counters, now));
                });
            });
            if (!asked) {
                worker_.post([ready] { ready(std::nullopt); });
            }
            hooks_.request_turn();
        });
    }

private:
    // The two clocks are read a moment apart: the same time would be shown a little different each
    // time. From any thread.
    WallOffset wall() {
        constexpr WallOffset kClockStep{100'000};  // More than that: somebody has set the clock.
        const WallOffset now = hooks_.wall();
        const WallOffset before{wall_.load()};
        if (std::chrono::abs(now - before) <= kClockStep) {
            return before;
        }
        wall_ = now.count();
        return now;
    }

    std::unique_ptr<grpc::Server> build(grpc::ServerBuilder& builder) {
        static const bool kQuiet = [] {
            // Once more than it is taken back: gRPC's own end joins threads that sleep in
            // epoll_wait for up to ten seconds (backup pollers of connections that were just
            // closed).
            grpc_init();
            gpr_set_log_function([](gpr_log_func_args* /*line*/) {});  // Not one of our lines.
            grpc::EnableDefaultHealthCheckService(true);
            grpc::reflection::InitProtoReflectionServerBuilderPlugin();
            return true;
        }();
        (void)kQuiet;
        grpc::ResourceQuota quota("api");
        quota.Resize(kMemory);
        builder.SetResourceQuota(quota);
        builder.SetMaxReceiveMessageSize(kRequestMax);
        builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
        builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
        builder.RegisterService(this);
        return builder.BuildAndStart();
    }

    void tell(const Changes& changes, TimePoint now) {
        if (watchers_.size() == 0) {
            if (std::exchange(keeps_changes_, false)) {
                hooks_.keep_changes(false);
                segments_.end();
            }
            return;
        }
        SegmentWatch::Items segments = segments_.turn(hooks_.evpn_segments, now);
        if (changes == Changes{} && segments.empty()) {
            return;
        }
        if (auto items = items_of(changes, hooks_.view(), now)) {
            std::ranges::move(segments, std::back_inserter(*items));
            log_.push(std::move(*items));
        } else {
            log_.lose();
        }
        wake_watchers();
    }

    // However often this is asked for, they are woken once.
    void wake_watchers() {
        if (!waking_.exchange(true)) {
            worker_.post([this] {
                waking_ = false;
                for (const auto& watcher : watchers_.all()) {
                    watcher->pump();
                }
            });
        }
    }

    void end_old_tables() {
        for (const auto& table : tables_.all()) {
            if (table->is_too_old()) {
                table->end({grpc::StatusCode::DEADLINE_EXCEEDED, "the table was not read in time"});
            }
        }
    }

    // Calls ---------------------------------------------------------------------------------------

    /// `work` in the loop; it returns what is to be done to finish the call, in the worker.
    using Finish = std::function<grpc::Status()>;
    grpc::ServerUnaryReactor* in_loop(grpc::CallbackServerContext* context,
                                      std::function<Finish()> work) {
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        if (const auto id = calls_.open(*reactor)) {
            hooks_.post([this, id = *id, work = std::move(work)] { answer(id, work()); });
        }
        return reactor;
    }
    void answer(std::uint64_t id, Finish finish) {
        worker_.post([this, id, finish = std::move(finish)] {
            if (grpc::ServerUnaryReactor* reactor = calls_.take(id)) {
                reactor->Finish(finish());
            }
        });
    }

    [[nodiscard]] NodeWords node_words() const {
        return {.host_name = options_.host_name,
                .version = options_.version,
                .zebra_release = hooks_.zebra_release(),
                .plugins = hooks_.plugins()};
    }

    /// `fill` from a snapshot without rows.
    grpc::ServerUnaryReactor* from_totals(
        grpc::CallbackServerContext* context,
        std::function<void(const Snapshot&, const NodeWords&)> fill_in) {
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        const auto id = calls_.open(*reactor);
        if (!id) {
            return reactor;
        }
        hooks_.post([this, id = *id, fill_in = std::move(fill_in)] {
            const bool asked = desk_.ask({}, [this, id, fill_in](const auto& snapshot) {
                answer(id, [snapshot, words = node_words(), fill_in] {
                    fill_in(*snapshot, words);
                    return grpc::Status::OK;
                });
            });
            if (!asked) {
                answer(id, [] { return exhausted("readers"); });
            }
            hooks_.request_turn();
        });
        return reactor;
    }

    /// In the loop.
    [[nodiscard]] api::Counters counters() const {
        auto counters = hooks_.counters();
        counters.emplace_back("api_watchers", watchers_.size());
        counters.emplace_back("api_tables", tables_.size());
        std::sort(counters.begin(), counters.end());
        return counters;
    }

    /// Nullptr: the stream has been ended already.
    template <class Table>
    std::shared_ptr<Table> begin(const std::shared_ptr<Table>& stream) {
        stream->live(stream, [this](const auto& self) { tables_.remove(self); });
        if (const grpc::Status status = tables_.add(stream); !status.ok()) {
            stream->end(status);
            return nullptr;
        }
        return stream;
    }

    template <class Request, class Response>
    grpc::ServerWriteReactor<Response>* table(
        grpc::CallbackServerContext* context,
        const Request& request,
        SnapshotParts parts,
        typename TableStream<Request, Response, Snapshot>::Check check,
        typename TableStream<Request, Response, Snapshot>::AddRow add) {
        auto stream = std::make_shared<TableStream<Request, Response, Snapshot>>(
            *context, request, std::move(check), std::move(add));
        if (!begin(stream)) {
            return stream.get();
        }
        hooks_.post([this, stream, parts] {
            const bool asked = desk_.ask(parts, [this, stream](const auto& snapshot) {
                stream->set(snapshot);
                worker_.post([stream] { stream->pump(); });
            });
            if (!asked) {
                worker_.post([stream] { stream->end(exhausted("readers")); });
            }
            hooks_.request_turn();
        });
        return stream.get();
    }

    /// In the loop.
    void log_command(std::string_view call, const std::string& who) {
        hooks_.log({.level = Level::Info,
                    .id = "api.command",
                    .text = fmt::format("call={} {}", call, who)});
    }

    std::string who(const grpc::CallbackServerContext& context) {
        const std::lock_guard lock(peers_mutex_);
        if (const auto found = peers_.find(context.peer()); found != peers_.end()) {
            const Peer& peer = found->second;
            return fmt::format("pid={} uid={} gid={}", peer.pid, peer.uid, peer.gid);
        }
        std::string name;
        for (const grpc::string_ref& part : context.auth_context()->GetPeerIdentity()) {
            name.append(part.data(), part.size());
        }
        return fmt::format("peer=\"{}\" certificate=\"{}\"", context.peer(), name);
    }

    // Reads ---------------------------------------------------------------------------------------

    grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context,
                                     const v1::StatusRequest* /*request*/,
                                     v1::StatusResponse* response) override {
        return from_totals(context,
                           [this, response](const Snapshot& snapshot, const NodeWords& words) {
                               fill(*response, snapshot, words, wall());
                           });
    }

    grpc::ServerUnaryReactor* Interfaces(grpc::CallbackServerContext* context,
                                         const v1::InterfacesRequest* /*request*/,
                                         v1::InterfacesResponse* response) override {
        return from_totals(context,
                           [response](const Snapshot& snapshot, const NodeWords& /*words*/) {
                               fill(*response, snapshot);
                           });
    }

    grpc::ServerWriteReactor<v1::HostsResponse>* Hosts(grpc::CallbackServerContext* context,
                                                       const v1::HostsRequest* request) override {
        return table<v1::HostsRequest, v1::HostsResponse>(
            context,
            *request,
            {.hosts = true},
            [](const v1::HostsRequest& wanted, const Snapshot& snapshot) {
                return find_named(snapshot, wanted.interface(), wanted.vrf());
            },
            [this](v1::HostsResponse& response,
                   const v1::HostsRequest& wanted,
                   const Snapshot& snapshot,
                   std::size_t index) {
                if (index >= snapshot.hosts.size()) {
                    return Row::End;
                }
                const HostView& host = snapshot.hosts[index];
                if (!matches(wanted, host)) {
                    return Row::Skipped;
                }
                fill(*response.add_hosts(), host, wall());
                return Row::Added;
            });
    }

    grpc::ServerWriteReactor<v1::RoutesResponse>* Routes(
        grpc::CallbackServerContext* context, const v1::RoutesRequest* request) override {
        return table<v1::RoutesRequest, v1::RoutesResponse>(
            context,
            *request,
            {.routes = true},
            [](const v1::RoutesRequest& wanted, const Snapshot& snapshot) {
                return find_named(snapshot, "", wanted.vrf());
            },
            [this](v1::RoutesResponse& response,
                   const v1::RoutesRequest& wanted,
                   const Snapshot& snapshot,
                   std::size_t index) {
                if (index >= snapshot.routes.size()) {
                    return Row::End;
                }
                const RouteView& route = snapshot.routes[index];
                if (!matches(wanted, route)) {
                    return Row::Skipped;
                }
                fill(*response.add_routes(), route, wall());
                return Row::Added;
            });
    }

    grpc::ServerWriteReactor<v1::ProxiesResponse>* Proxies(
        grpc::CallbackServerContext* context, const v1::ProxiesRequest* request) override {
        return table<v1::ProxiesRequest, v1::ProxiesResponse>(
            context,
            *request,
            {.proxies = true},
            [](const v1::ProxiesRequest& wanted, const Snapshot& snapshot) {
                return find_named(snapshot, wanted.interface(), "");
            },
            [](v1::ProxiesResponse& response,
               const v1::ProxiesRequest& wanted,
               const Snapshot& snapshot,
               std::size_t index) {
                if (index >= snapshot.proxies.size()) {
                    return Row::End;
                }
                if (!matches(wanted, snapshot.proxies[index])) {
                    return Row::Skipped;
                }
                fill(*response.add_proxies(), snapshot.proxies[index]);
                return Row::Added;
            });
    }

    grpc::ServerUnaryReactor* Segments(grpc::CallbackServerContext* context,
                                       const v1::SegmentsRequest* /*request*/,
                                       v1::SegmentsResponse* response) override {
        return in_loop(context, [this, response]() -> Finish {
            return [response, segments = hooks_.evpn_segments()] {
                for (const evpn::SegmentView& segment : segments) {
                    fill(*response->add_segments(), segment);
                }
                return grpc::Status::OK;
            };
        });
    }

    grpc::ServerUnaryReactor* Peers(grpc::CallbackServerContext* context,
                                    const v1::PeersRequest* /*request*/,
                                    v1::PeersResponse* response) override {
        return in_loop(context, [this, response]() -> Finish {
            return [this, response, peers = hooks_.evpn_peers()] {
                for (const bgp::PeerView& peer : peers) {
                    fill(*response->add_peers(), peer, wall());
                }
                return grpc::Status::OK;
            };
        });
    }

    using EvpnTable =
        TableStream<v1::EvpnRoutesRequest, v1::EvpnRoutesResponse, std::vector<bgp::RouteRow>>;

    grpc::ServerWriteReactor<v1::EvpnRoutesResponse>* EvpnRoutes(
        grpc::CallbackServerContext* context, const v1::EvpnRoutesRequest* request) override {
        using Rows = std::vector<bgp::RouteRow>;
        auto stream =
            std::make_shared<EvpnTable>(*context,
                                        *request,
                                        EvpnTable::Check{},
                                        [this](v1::EvpnRoutesResponse& response,
                                               const v1::EvpnRoutesRequest& wanted,
                                               const Rows& rows,
                                               std::size_t index) {
                                            if (index >= rows.size()) {
                                                return Row::End;
                                            }
                                            if (!matches(wanted, rows[index])) {
                                                return Row::Skipped;
                                            }
                                            fill(*response.add_routes(), rows[index], wall());
                                            return Row::Added;
                                        });
        if (begin(stream)) {
            hooks_.post([this, stream] { read_evpn_routes(stream, std::make_shared<Reading>()); });
        }
        return stream.get();
    }

    struct Reading {
        bgp::RouteCursor cursor{};
        std::vector<bgp::RouteRow> rows{};
    };
    /// In the loop, a slice at a time; others have their turn in between.
    void read_evpn_routes(const std::shared_ptr<EvpnTable>& stream,
                          const std::shared_ptr<Reading>& reading) {
        if (hooks_.evpn_routes(reading->cursor, Desk::kRowsPerTurn, reading->rows)) {
            hooks_.post([this, stream, reading] { read_evpn_routes(stream, reading); });
            return;
        }
        stream->set(std::make_shared<const std::vector<bgp::RouteRow>>(std::move(reading->rows)));
        worker_.post([stream] { stream->pump(); });
    }

    grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                      const v1::ExplainRequest* request,
                                      v1::ExplainResponse* response) override {
        const auto address = IpAddress::parse(request->address());
        if (!address) {
            return refuse(context,
                          fmt::format("\"{}\" is no IPv4 or IPv6 address", request->address()));
        }
        return in_loop(context, [this, address = *address, response]() -> Finish {
            return [this, address, response, explanation = hooks_.view().explain(address)] {
                fill(*response, address, explanation, wall());
                return grpc::Status::OK;
            };
        });
    }

    using AuditTableStream = TableStream<v1::AuditRequest, v1::AuditResponse, AuditReport>;

    grpc::ServerWriteReactor<v1::AuditResponse>* Audit(grpc::CallbackServerContext* context,
                                                       const v1::AuditRequest* request) override {
        auto stream = std::make_shared<AuditTableStream>(
            *context,
            *request,
            AuditTableStream::Check{},
            [this](v1::AuditResponse& response,
                   const v1::AuditRequest& /*wanted*/,
                   const AuditReport& report,
                   std::size_t index) {
                if (index == 0) {
                    fill(response, report, wall());
                    return Row::Added;
                }
                if (index > report.differences.size()) {
                    return Row::End;
                }
                fill(*response.add_differences(), report.differences[index - 1]);
                return Row::Added;
            });
        if (begin(stream)) {
            hooks_.post([this, stream, may_take = audit_time(*context)] {
                const bool asked =
                    hooks_.audit(hooks_.now() + may_take, [this, stream](const auto& report) {
                        stream->set(report);
                        worker_.post([stream] { stream->pump(); });
                    });
                if (!asked) {
                    worker_.post([stream] { stream->end(exhausted("audits")); });
                }
            });
        }
        return stream.get();
    }

    grpc::ServerUnaryReactor* Counters(grpc::CallbackServerContext* context,
                                       const v1::CountersRequest* /*request*/,
                                       v1::CountersResponse* response) override {
        return in_loop(context, [this, response]() -> Finish {
            return [response, counters = counters()] {
                for (const auto& [name, value] : counters) {
                    v1::Counter& counter = *response->add_counters();
                    counter.set_name(name);
                    counter.set_value(value);
                }
                return grpc::Status::OK;
            };
        });
    }

    grpc::ServerUnaryReactor* Metrics(grpc::CallbackServerContext* context,
                                      const v1::MetricsRequest* /*request*/,
                                      v1::MetricsResponse* response) override {
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        if (const auto id = calls_.open(*reactor)) {
            metrics([this, id = *id, response](std::optional<std::string> text) {
                if (grpc::ServerUnaryReactor* waiting = calls_.take(id)) {
                    response->set_text(text.value_or(""));
                    waiting->Finish(text ? grpc::Status::OK : exhausted("readers"));
                }
            });
        }
        return reactor;
    }

    grpc::ServerWriteReactor<v1::WatchResponse>* Watch(grpc::CallbackServerContext* context,
                                                       const v1::WatchRequest* request) override {
        const auto kinds = kinds_of(*request);
        auto watcher = std::make_shared<Watcher>(
            *context, kinds.value_or(Kinds{}), log_, [this] { return wall(); });
        watcher->live(watcher, [this](const auto& self) { watchers_.remove(self); });
        if (!kinds) {
            watcher->end({grpc::StatusCode::INVALID_ARGUMENT,
                          "kinds are hosts, routes, ports and segments"});
            return watcher.get();
        }
        if (const grpc::Status status = watchers_.add(watcher); !status.ok()) {
            watcher->end(status);
            return watcher.get();
        }
        hooks_.post([this, watcher] {
            if (!std::exchange(keeps_changes_, true)) {
                hooks_.keep_changes(true);
            }
            segments_.begin(hooks_.evpn_segments);
            watcher->begin(hooks_.now());
            worker_.post([watcher] { watcher->pump(); });
        });
        return watcher.get();
    }

    // Commands ------------------------------------------------------------------------------------

    /// `how_many(count, ready)` completes the response of one that is carried out.
    grpc::ServerUnaryReactor* command(grpc::CallbackServerContext* context,
                                      Command command,
                                      std::string words,
                                      std::function<void(std::uint64_t, bool)> how_many) {
        return in_loop(context,
                       [this,
                        command = std::move(command),
                        words = std::move(words),
                        how_many = std::move(how_many),
                        by = who(*context)]() -> Finish {
                           log_command(words, by);
                           const bool ready = hooks_.view().node().ready;
                           return [concerned = hooks_.command(command), how_many, ready] {
                               if (!concerned) {
                                   const Error& why = concerned.error();
                                   return grpc::Status(why.code == Errc::Invalid
                                                           ? grpc::StatusCode::NOT_FOUND
                                                           : grpc::StatusCode::FAILED_PRECONDITION,
                                                       why.text);
                               }
                               how_many(*concerned, ready);
                               return grpc::Status::OK;
                           };
                       });
    }

    /// What a request names; an error is a sentence.
    template <class Request>
    static Result<DrainScope> scope_of(const Request& request) {
        if (!request.port().empty() && !request.address().empty()) {
            return fail(Errc::Invalid, "a port or a host, not both");
        }
        if (!request.port().empty()) {
            return DrainScope{.kind = DrainScope::Kind::Port, .port = request.port()};
        }
        if (request.address().empty()) {
            return DrainScope{};
        }
        const auto address = IpAddress::parse(request.address());
        if (!address) {
            return fail(Errc::Invalid, fmt::format("\"{}\" is no address", request.address()));
        }
        return DrainScope{.kind = DrainScope::Kind::Host, .address = *address};
    }

    grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                    const v1::DrainRequest* request,
                                    v1::DrainResponse* response) override {
        const auto scope = scope_of(*request);
        if (!scope) {
            return refuse(context, scope.error().text);
        }
        return command(context,
                       DrainRequested{.scope = *scope},
                       fmt::format("drain scope=\"{}\"", to_string(*scope)),
                       [response](std::uint64_t hosts, bool) { response->set_hosts(hosts); });
    }

    grpc::ServerUnaryReactor* Undrain(grpc::CallbackServerContext* context,
                                      const v1::UndrainRequest* request,
                                      v1::UndrainResponse* response) override {
        const auto scope = scope_of(*request);
        if (!scope) {
            return refuse(context, scope.error().text);
        }
        const bool all = scope->kind == DrainScope::Kind::Leaf;
        return command(context,
                       UndrainRequested{.scope = all ? std::nullopt : std::optional(*scope)},
                       fmt::format("undrain scope=\"{}\"", all ? "all" : to_string(*scope)),
                       [response](std::uint64_t hosts, bool ready) {
                           response->set_hosts(hosts);
                           response->set_waits(!ready);
                       });
    }

    grpc::ServerUnaryReactor* Probe(grpc::CallbackServerContext* context,
                                    const v1::ProbeRequest* request,
                                    v1::ProbeResponse* response) override {
        const auto address = IpAddress::parse(request->address());
        if (!address) {
            return refuse(context, fmt::format("\"{}\" is no address", request->address()));
        }
        return command(context,
                       ProbeRequested{.address = *address},
                       fmt::format("probe address={}", address->to_string()),
                       [response](std::uint64_t places, bool) { response->set_places(places); });
    }

    grpc::ServerUnaryReactor* Forget(grpc::CallbackServerContext* context,
                                     const v1::ForgetRequest* request,
                                     v1::ForgetResponse* response) override {
        const auto address = IpAddress::parse(request->address());
        if (!address) {
            return refuse(context, fmt::format("\"{}\" is no address", request->address()));
        }
        return command(context,
                       ForgetRequested{.address = *address},
                       fmt::format("forget address={}", address->to_string()),
                       [response](std::uint64_t places, bool) { response->set_places(places); });
    }

    grpc::ServerUnaryReactor* Reload(grpc::CallbackServerContext* context,
                                     const v1::ReloadRequest* /*request*/,
                                     v1::ReloadResponse* response) override {
        return in_loop(context, [this, response, by = who(*context)]() -> Finish {
            log_command("reload", by);
            return [response, reloaded = hooks_.reload()] {
                add_all(reloaded.changed, *response->mutable_changed());
                add_all(reloaded.needs_restart, *response->mutable_needs_restart());
                return reloaded.faults.empty() ? grpc::Status::OK
                                               : grpc::Status(grpc::StatusCode::FAILED_PRECONDITION,
                                                              "the running configuration stays:\n" +
                                                                  joined(reloaded.faults));
            };
        });
    }

    grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                          const v1::SetLogLevelRequest* request,
                                          v1::SetLogLevelResponse* response) override {
        const auto level = parse_level(request->level());
        if (!level) {
            return refuse(
                context,
                fmt::format("\"{}\" is none of error, warn, info, debug, trace", request->level()));
        }
        return in_loop(context, [this, response, level = *level, by = who(*context)]() -> Finish {
            log_command(fmt::format("log_level level={}", word(level)), by);
            return [response, before = hooks_.set_level(level)] {
                response->set_before(std::string(word(before)));
                return grpc::Status::OK;
            };
        });
    }

    grpc::ServerUnaryReactor* ShowConfig(grpc::CallbackServerContext* context,
                                         const v1::ShowConfigRequest* /*request*/,
                                         v1::ShowConfigResponse* response) override {
        return in_loop(context, [this, response]() -> Finish {
            return [response, yaml = hooks_.show_config()] {
                response->set_yaml(yaml);
                return grpc::Status::OK;
            };
        });
    }

    grpc::ServerUnaryReactor* CheckConfig(grpc::CallbackServerContext* context,
                                          const v1::CheckConfigRequest* request,
                                          v1::CheckConfigResponse* response) override {
        const Checked checked = hooks_.check_config(request->yaml(), request->file_name());
        add_all(checked.faults, *response->mutable_faults());
        add_all(checked.warnings, *response->mutable_warnings());
        add_all(checked.changed, *response->mutable_changed());
        add_all(checked.needs_restart, *response->mutable_needs_restart());
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        reactor->Finish(grpc::Status::OK);
        return reactor;
    }

    static grpc::ServerUnaryReactor* refuse(grpc::CallbackServerContext* context,
                                            const std::string& why) {
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, why});
        return reactor;
    }

    ServerOptions options_;
    Hooks hooks_;
    WatchLog log_;
    SegmentWatch segments_;
    Desk desk_;                   // The loop's.
    bool keeps_changes_ = false;  // The loop's.
    Calls calls_;
    Streams tables_{kTablesMax};
    Streams watchers_{kWatchersMax};
    std::atomic<WallOffset::rep> wall_ = 0;
    std::atomic<bool> waking_ = false;
    std::atomic<bool> stopped_ = false;
    std::mutex peers_mutex_;
    std::map<std::string, Peer> peers_;  // By what gRPC calls a connection.
    std::mutex servers_mutex_;
    std::unique_ptr<grpc::Server> local_;
    std::vector<std::unique_ptr<grpc::Server>> remote_;
    Worker worker_;  // Last: its jobs use all the others.
};

Server::Server(ServerOptions options, Hooks hooks)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(hooks))) {}
Server::~Server() = default;

void Server::adopt(int connection, const Peer& peer) {
    impl_->adopt(connection, peer);
}
Result<void> Server::listen(const std::string& address, const TlsFiles& files) {
    return impl_->listen(address, files);
}
bool Server::turn(const Changes& changes, TimePoint now) {
    return impl_->turn(changes, now);
}
void Server::evpn_changed() {
    impl_->evpn_changed();
}
std::optional<TimePoint> Server::wake_at() const {
    return impl_->wake_at();
}
void Server::metrics(MetricsReady ready) {
    impl_->metrics(std::move(ready));
}
void Server::stop() {
    impl_->stop();
}

}  // namespace planed::api
