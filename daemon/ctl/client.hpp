// SPDX-License-Identifier: Apache-2.0
// planed's API as calls that wait: messages come out as values, errors as an exit code and a
// sentence that says what to do. gRPC is behind here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ctl/value.hpp"

namespace planed::ctl {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreachable = 3;

struct Outcome {
    int exit_code = kExitDone;
    std::string error{};  // Empty if it went well.
    [[nodiscard]] bool ok() const { return exit_code == kExitDone; }
};

struct ClientOptions {
    std::string target{};  // unix:PATH or HOST:PORT
    std::chrono::milliseconds timeout{};
    std::string tls_ca{};
    std::string tls_cert{};
    std::string tls_key{};
};

class Client {
public:
    explicit Client(const ClientOptions& options);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    Client(Client&&) = delete;
    Client& operator=(Client&&) = delete;

    struct HostFilter {
        std::string interface {};
        std::string port{};
        std::string vrf{};
    };

    // The answer goes into the last argument.
    Outcome status(Value& answer);
    Outcome interfaces(Array& rows);
    Outcome hosts(const HostFilter& filter, Array& rows);
    Outcome routes(const std::string& vrf, Array& rows);
    Outcome proxies(const std::string& interface, Array& rows);
    Outcome segments(Array& rows);
    Outcome peers(Array& rows);
    Outcome evpn_routes(const std::string& peer, std::uint32_t type, Array& rows);
    Outcome explain(const std::string& address, Value& answer);
    /// The first message's tables, and all differences.
    struct Audit {
        Array tables{};
        Array differences{};
        std::uint64_t left_out = 0;
    };
    Outcome audit(Audit& audit);
    Outcome counters(Array& rows);
    /// Of nothing: the whole leaf; `undrain`: whatever is drained.
    struct DrainScope {
        std::string port{};
        std::string address{};
    };
    Outcome drain(const DrainScope& scope, Value& answer);
    Outcome undrain(const DrainScope& scope, Value& answer);
    Outcome probe(const std::string& address, Value& answer);
    Outcome forget(const std::string& address, Value& answer);
    Outcome metrics(Value& answer);
    Outcome reload(Value& answer);
    Outcome set_log_level(const std::string& level, Value& answer);
    Outcome show_config(Value& answer);
    Outcome check_config(const std::string& yaml, const std::string& file, Value& answer);
    /// Until `on_event` returns false or planed ends.
    Outcome watch(const std::vector<std::string>& kinds,
                  const std::function<bool(const Value&)>& on_event);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace planed::ctl
