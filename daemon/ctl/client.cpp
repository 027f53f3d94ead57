// SPDX-License-Identifier: Apache-2.0
#include "ctl/client.hpp"

#include <fstream>
#include <sstream>
#include <utility>

#include <grpc/grpc.h>

#include <fmt/core.h>
#include <grpcpp/grpcpp.h>

#include "planed/v1/planed.grpc.pb.h"

namespace planed::ctl {
namespace {

constexpr std::string_view kUnix = "unix:";

std::string contents(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::shared_ptr<grpc::ChannelCredentials> credentials_for(const ClientOptions& options) {
    if (options.target.starts_with(kUnix)) {
        return grpc::InsecureChannelCredentials();
    }
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = contents(options.tls_ca);
    tls.pem_cert_chain = contents(options.tls_cert);
    tls.pem_private_key = contents(options.tls_key);
    return grpc::SslCredentials(tls);
}

std::string advice_for(const std::string& target) {
    if (!target.starts_with(kUnix)) {
        return "Does planed listen there (api.listen), and are --tls-ca, --tls-cert and --tls-key "
               "right?";
    }
    return "Is it running (systemctl status planed), and may you use its socket (as root, or in "
           "group "
           "planed)? Another address: --target or PLANECTL_TARGET.";
}

}  // namespace

class Client::Impl {
public:
    explicit Impl(ClientOptions options)
        : options_(std::move(options)),
          stub_(v1::PlanedService::NewStub(
              grpc::CreateChannel(options_.target, credentials_for(options_)))) {}

    /// A call that has one answer.
    template <class Method, class Request, class Response>
    Outcome call(Method method, const Request& request, Response& response) {
        grpc::ClientContext context;
        context.set_deadline(deadline());
        return outcome_of(method(*stub_, &context, request, &response));
    }

    /// The same; the answer as a value.
    template <class Response, class Method, class Request>
    Outcome ask(Method method, const Request& request, Value& answer) {
        Response response;
        const Outcome outcome = call(method, request, response);
        answer = to_value(response);
        return outcome;
    }

    /// A call that answers in batches, each with one list of rows.
    template <class Response, class Method, class Request>
    Outcome table(Method method, const Request& request, Array& rows) {
        grpc::ClientContext context;
        context.set_deadline(deadline());
        auto reader = method(*stub_, &context, request);
        Response batch;
        while (reader->Read(&batch)) {
            append(batch, rows);
        }
        return outcome_of(reader->Finish());
    }

    static void append(const google::protobuf::Message& batch, Array& rows) {
        Value value = to_value(batch);
        auto& list = std::get<Array>(std::get<Object>(value.is).front().second.is);
        std::move(list.begin(), list.end(), std::back_inserter(rows));
    }

    Outcome audit(Audit& audit) {
        grpc::ClientContext context;
        context.set_deadline(deadline());
        auto reader = stub_->Audit(&context, v1::AuditRequest());
        v1::AuditResponse batch;
        while (reader->Read(&batch)) {
            append(batch, audit.differences);
            for (const v1::AuditedTable& table : batch.tables()) {
                audit.tables.push_back(to_value(table));
            }
            audit.left_out += batch.left_out();
        }
        return outcome_of(reader->Finish());
    }

    Outcome watch(const v1::WatchRequest& request,
                  const std::function<bool(const Value&)>& on_event) {
        grpc::ClientContext context;  // No deadline: it lasts until somebody ends it.
        auto reader = stub_->Watch(&context, request);
        v1::WatchResponse batch;
        while (reader->Read(&batch)) {
            for (const v1::WatchEvent& event : batch.events()) {
                if (!on_event(to_value(event))) {
                    context.TryCancel();
                    (void)reader->Finish();  // Says that it was cancelled.
                    return {};
                }
            }
        }
        return outcome_of(reader->Finish());
    }

private:
    [[nodiscard]] gpr_timespec deadline() const {
        return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                            gpr_time_from_millis(options_.timeout.count(), GPR_TIMESPAN));
    }

    [[nodiscard]] Outcome outcome_of(const grpc::Status& status) const {
        const std::string& message = status.error_message();
        switch (status.error_code()) {
            case grpc::StatusCode::OK: return {};
            case grpc::StatusCode::INVALID_ARGUMENT: return {kExitUsage, message};
            case grpc::StatusCode::UNAVAILABLE:
                return {kExitUnreachable,
                        fmt::format("cannot reach planed at {}: {}. {}",
                                    options_.target,
                                    message,
                                    advice_for(options_.target))};
            case grpc::StatusCode::DEADLINE_EXCEEDED:
                return {kExitUnreachable,
                        fmt::format("planed at {} has not answered within {} ms (--timeout): {}",
                                    options_.target,
                                    options_.timeout.count(),
                                    message)};
            case grpc::StatusCode::UNIMPLEMENTED:
                return {kExitFailed, "this planed is older than planectl and cannot do that"};
            default: return {kExitFailed, message};
        }
    }

    ClientOptions options_;
    std::unique_ptr<v1::PlanedService::Stub> stub_;
};

using Stub = v1::PlanedService::Stub;

Client::Client(const ClientOptions& options) {
    grpc_init();  // And never taken back: gRPC's own end may wait for ten seconds.
    impl_ = std::make_unique<Impl>(options);
}
Client::~Client() = default;

Outcome Client::status(Value& answer) {
    return impl_->ask<v1::StatusResponse>(
        [](Stub& stub, auto&&... all) { return stub.Status(all...); }, v1::StatusRequest(), answer);
}

Outcome Client::interfaces(Array& rows) {
    v1::InterfacesResponse response;
    const Outcome outcome =
        impl_->call([](Stub& stub, auto&&... all) { return stub.Interfaces(all...); },
                    v1::InterfacesRequest(),
                    response);
    Impl::append(response, rows);
    return outcome;
}

Outcome Client::hosts(const HostFilter& filter, Array& rows) {
    v1::HostsRequest request;
    request.set_interface(filter.interface);
    request.set_port(filter.port);
    request.set_vrf(filter.vrf);
    return impl_->table<v1::HostsResponse>(
        [](Stub& stub, auto&&... all) { return stub.Hosts(all...); }, request, rows);
}

Outcome Client::routes(const std::string& vrf, Array& rows) {
    v1::RoutesRequest request;
    request.set_vrf(vrf);
    return impl_->table<v1::RoutesResponse>(
        [](Stub& stub, auto&&... all) { return stub.Routes(all...); }, request, rows);
}

Outcome Client::proxies(const std::string& interface, Array& rows) {
    v1::ProxiesRequest request;
    request.set_interface(interface);
    return impl_->table<v1::ProxiesResponse>(
        [](Stub& stub, auto&&... all) { return stub.Proxies(all...); }, request, rows);
}

Outcome Client::segments(Array& rows) {
    v1::SegmentsResponse response;
    const Outcome outcome =
        impl_->call([](Stub& stub, auto&&... all) { return stub.Segments(all...); },
                    v1::SegmentsRequest(),
                    response);
    Impl::append(response, rows);
    return outcome;
}

Outcome Client::peers(Array& rows) {
    v1::PeersResponse response;
    const Outcome outcome = impl_->call(
        [](Stub& stub, auto&&... all) { return stub.Peers(all...); }, v1::PeersRequest(), response);
    Impl::append(response, rows);
    return outcome;
}

Outcome Client::evpn_routes(const std::string& peer, std::uint32_t type, Array& rows) {
    v1::EvpnRoutesRequest request;
    request.set_peer(peer);
    request.set_type(type);
    return impl_->table<v1::EvpnRoutesResponse>(
        [](Stub& stub, auto&&... all) { return stub.EvpnRoutes(all...); }, request, rows);
}

Outcome Client::explain(const std::string& address, Value& answer) {
    v1::ExplainRequest request;
    request.set_address(address);
    return impl_->ask<v1::ExplainResponse>(
        [](Stub& stub, auto&&... all) { return stub.Explain(all...); }, request, answer);
}

Outcome Client::audit(Audit& audit) {
    return impl_->audit(audit);
}

Outcome Client::counters(Array& rows) {
    v1::CountersResponse response;
    const Outcome outcome =
        impl_->call([](Stub& stub, auto&&... all) { return stub.Counters(all...); },
                    v1::CountersRequest(),
                    response);
    Impl::append(response, rows);
    return outcome;
}

Outcome Client::drain(const DrainScope& scope, Value& answer) {
    v1::DrainRequest request;
    request.set_port(scope.port);
    request.set_address(scope.address);
    return impl_->ask<v1::DrainResponse>(
        [](Stub& stub, auto&&... all) { return stub.Drain(all...); }, request, answer);
}

Outcome Client::undrain(const DrainScope& scope, Value& answer) {
    v1::UndrainRequest request;
    request.set_port(scope.port);
    request.set_address(scope.address);
    return impl_->ask<v1::UndrainResponse>(
        [](Stub& stub, auto&&... all) { return stub.Undrain(all...); }, request, answer);
}

Outcome Client::probe(const std::string& address, Value& answer) {
    v1::ProbeRequest request;
    request.set_address(address);
    return impl_->ask<v1::ProbeResponse>(
        [](Stub& stub, auto&&... all) { return stub.Probe(all...); }, request, answer);
}

Outcome Client::forget(const std::string& address, Value& answer) {
    v1::ForgetRequest request;
    request.set_address(address);
    return impl_->ask<v1::ForgetResponse>(
        [](Stub& stub, auto&&... all) { return stub.Forget(all...); }, request, answer);
}

Outcome Client::metrics(Value& answer) {
    return impl_->ask<v1::MetricsResponse>(
        [](Stub& stub, auto&&... all) { return stub.Metrics(all...); },
        v1::MetricsRequest(),
        answer);
}

Outcome Client::reload(Value& answer) {
    return impl_->ask<v1::ReloadResponse>(
        [](Stub& stub, auto&&... all) { return stub.Reload(all...); }, v1::ReloadRequest(), answer);
}

Outcome Client::set_log_level(const std::string& level, Value& answer) {
    v1::SetLogLevelRequest request;
    request.set_level(level);
    return impl_->ask<v1::SetLogLevelResponse>(
        [](Stub& stub, auto&&... all) { return stub.SetLogLevel(all...); }, request, answer);
}

Outcome Client::show_config(Value& answer) {
    return impl_->ask<v1::ShowConfigResponse>(
        [](Stub& stub, auto&&... all) { return stub.ShowConfig(all...); },
        v1::ShowConfigRequest(),
        answer);
}

Outcome Client::check_config(const std::string& yaml, const std::string& file, Value& answer) {
    v1::CheckConfigRequest request;
    request.set_yaml(yaml);
    request.set_file_name(file);
    return impl_->ask<v1::CheckConfigResponse>(
        [](Stub& stub, auto&&... all) { return stub.CheckConfig(all...); }, request, answer);
}

Outcome Client::watch(const std::vector<std::string>& kinds,
                      const std::function<bool(const Value&)>& on_event) {
    v1::WatchRequest request;
    for (const std::string& kind : kinds) {
        request.add_kinds(kind);
    }
    return impl_->watch(request, on_event);
}

}  // namespace planed::ctl
