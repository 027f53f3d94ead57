// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 for scrapers of metrics: GET /metrics, one request a connection, and nothing else. In a
// thread of its own, so that whoever connects costs the loop nothing but a snapshot, which is the
// caller's to ration. Connections, the size of a request and every wait are bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "net/result.hpp"
#include "net/time.hpp"

namespace planed::io {

class MetricsListener {
public:
    static constexpr std::size_t kConnectionsMax = 16;
    static constexpr std::size_t kHeaderMax = 8192;   // Bytes of a request.
    static constexpr Duration kRequestDeadline = 5s;  // From connect to the end of the request.
    static constexpr Duration kAnswerDeadline = 10s;  // From there to the end of the connection.

    /// From any thread, once: the text, or nullopt for "not now".
    using Reply = std::function<void(std::optional<std::string>)>;
    /// In the listener's thread; the reply may come later, or never.
    using Ask = std::function<void(Reply)>;

    explicit MetricsListener(Ask ask);
    ~MetricsListener();
    MetricsListener(const MetricsListener&) = delete;
    MetricsListener& operator=(const MetricsListener&) = delete;
    MetricsListener(MetricsListener&&) = delete;
    MetricsListener& operator=(MetricsListener&&) = delete;

    /// "127.0.0.1:9464" or "[::1]:9464"; once. A name is no address.
    Result<void> open(const std::string& address);
    /// Ends every connection at once.
    void close();

private:
    class Service;

    Ask ask_;
    std::unique_ptr<Service> service_;
    std::thread thread_;
};

}  // namespace planed::io
