// SPDX-License-Identifier: Apache-2.0
#include "io/metrics_listener.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <fmt/core.h>

namespace planed::io {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Response = http::response<http::string_body>;

constexpr const char* kContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr std::size_t kDiscardedMax = 65'536;  // Of what comes behind a request.
constexpr Duration kAcceptPause = 100ms;       // Out of descriptors: do not spin.

std::optional<tcp::endpoint> parsed_endpoint(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos) {
        return std::nullopt;
    }
    std::string host = address.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    std::uint16_t port = 0;
    const char* end = address.data() + address.size();
    const auto parsed = std::from_chars(address.data() + colon + 1, end, port);
    error_code error;
    const asio::ip::address ip = asio::ip::make_address(host, error);
    if (error || parsed.ec != std::errc{} || parsed.ptr != end) {
        return std::nullopt;
    }
    return tcp::endpoint(ip, port);
}

Response response_of(http::status status, std::string text) {
    Response response(status, 11);
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    response.set(http::field::cache_control, "no-store");
    response.keep_alive(false);
    response.body() = std::move(text);
    response.prepare_payload();
    return response;
}

Response metrics_response(std::string text) {
    Response response = response_of(http::status::ok, std::move(text));
    response.set(http::field::content_type, kContentType);
    return response;
}

std::string_view path_of(boost::beast::string_view target) {
    const std::string_view whole(target.data(), target.size());
    return whole.substr(0, whole.find('?'));
}

/// What can be said without the metrics; nullopt: they are asked for.
std::optional<Response> refusal(http::verb method, std::string_view path) {
    if (path != "/metrics") {
        return response_of(http::status::not_found, "only /metrics is here\n");
    }
    if (method == http::verb::get) {
        return std::nullopt;
    }
    Response response = response_of(http::status::method_not_allowed, "only GET\n");
    response.set(http::field::allow, "GET");
    return response;
}

/// What is said of bytes that are no request; nullopt: nobody is there to hear it.
std::optional<Response> words_on(error_code error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
        return response_of(http::status::request_header_fields_too_large, "too long\n");
    }
    const bool ours = error.category() == make_error_code(http::error::bad_version).category();
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
    if (!ours || gone) {
        return std::nullopt;
    }
    return response_of(http::status::bad_request, "this is no HTTP request\n");
}

/// One connection: reads one request, answers it, closes.
class Session : public std::enable_shared_from_this<Session> {
public:
    using Ended = std::function<void(Session*)>;

    Session(std::shared_ptr<asio::io_context> context,
            tcp::socket socket,
            MetricsListener::Ask ask,
            Ended ended)
        : context_(std::move(context)),
          socket_(std::move(socket)),
          deadline_(*context_),
          ask_(std::move(ask)),
          ended_(std::move(ended)) {
        parser_.header_limit(static_cast<std::uint32_t>(MetricsListener::kHeaderMax));
        parser_.body_limit(boost::none);
        parser_.skip(
            true);  // A body is no part of the request: it is discarded as what comes behind.
    }

    void start() {
        wait_until(MetricsListener::kRequestDeadline);
        http::async_read_header(
            socket_, buffer_, parser_, [self = shared_from_this()](error_code error, std::size_t) {
                self->on_request(error);
            });
    }
    void end() {
        if (!std::exchange(is_over_, true)) {
            deadline_.cancel();
            error_code ignored;  // It may be gone already.
            socket_.close(ignored);
            ended_(this);
        }
    }

private:
    void wait_until(Duration deadline) {
        deadline_.expires_after(deadline);
        deadline_.async_wait([self = shared_from_this()](error_code error) {
            if (!error) {
                self->end();
            }
        });
    }

    void on_request(error_code error) {
        if (is_over_) {
            return;
        }
        wait_until(MetricsListener::kAnswerDeadline);
        if (error) {
            if (auto words = words_on(error)) {
                write(std::move(*words));
            } else {
                end();  // It has gone away.
            }
            return;
        }
        const auto& request = parser_.get();
        if (auto refused = refusal(request.method(), path_of(request.target()))) {
            write(std::move(*refused));
        } else {
            ask();
        }
    }

    void ask() {
        // All of this may have ended before an answer comes; it finds the context there, at least.
        ask_([weak = weak_from_this(), context = context_](std::optional<std::string> text) {
            asio::post(*context, [weak, text = std::move(text)]() mutable {
                if (const auto self = weak.lock()) {
                    self->answer(std::move(text));
                }
            });
        });
    }

    void answer(std::optional<std::string> text) {
        if (!is_over_) {
            write(text ? metrics_response(std::move(*text))
                       : response_of(http::status::service_unavailable, "too many readers\n"));
        }
    }

    void write(Response response) {
        response_ = std::move(response);
        http::async_write(
            socket_, response_, [self = shared_from_this()](error_code error, std::size_t) {
                if (error || self->is_over_) {
                    self->end();
                    return;
                }
                error_code ignored;
                self->socket_.shutdown(tcp::socket::shutdown_send, ignored);
                self->discard();
            });
    }

    // Closing with bytes unread would reset the connection, and the answer with it.
    void discard() {
        socket_.async_read_some(
            asio::buffer(rest_), [self = shared_from_this()](error_code error, std::size_t count) {
                self->discarded_ += count;
                if (error || self->is_over_ || self->discarded_ > kDiscardedMax) {
                    self->end();
                } else {
                    self->discard();
                }
            });
    }

    std::shared_ptr<asio::io_context> context_;
    tcp::socket socket_;
    asio::steady_timer deadline_;
    MetricsListener::Ask ask_;
    Ended ended_;
    boost::beast::flat_buffer buffer_{MetricsListener::kHeaderMax};
    http::request_parser<http::empty_body> parser_;
    Response response_;
    std::array<char, 1024> rest_{};
    std::size_t discarded_ = 0;
    bool is_over_ = false;
};

}  // namespace

class MetricsListener::Service {
public:
    explicit Service(Ask ask) : ask_(std::move(ask)) {}

    Result<void> open(const std::string& address) {
        const auto endpoint = parsed_endpoint(address);
        if (!endpoint) {
            return fail(Errc::Invalid, fmt::format("{} is no address with a port", address));
        }
        error_code error;
        const auto step = [&error](auto&& todo) {
            if (!error) {
                todo();
            }
        };
        step([&] { acceptor_.open(endpoint->protocol(), error); });
        step([&] { acceptor_.set_option(tcp::acceptor::reuse_address(true), error); });
        step([&] {
            if (endpoint->address().is_v6()) {
                acceptor_.set_option(asio::ip::v6_only(true), error);
            }
        });
        step([&] { acceptor_.bind(*endpoint, error); });
        step([&] { acceptor_.listen(static_cast<int>(kConnectionsMax), error); });
        if (error) {
            return fail(Errc::System,
                        fmt::format("cannot listen on {}: {}", address, error.message()));
        }
        accept();
        return {};
    }

    /// Until stop().
    void run() { context_->run(); }
    /// From another thread. Sessions hold on to the context, and what waits in it to them: all of
    /// that comes to its end here.
    void stop() {
        asio::post(*context_, [this] {
            is_closing_ = true;
            error_code ignored;  // Whatever it says, nobody is accepted any more.
            acceptor_.close(ignored);
            pause_.cancel();
            for (Session* session : std::vector<Session*>(sessions_)) {
                session->end();
            }
        });
    }

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            if (is_closing_) {
                return;
            }
            if (error) {
                pause_.expires_after(kAcceptPause);
                pause_.async_wait([this](error_code stopped) {
                    if (!stopped) {
                        accept();
                    }
                });
                return;
            }
            if (sessions_.size() < kConnectionsMax) {
                auto session = std::make_shared<Session>(
                    context_, std::move(socket), ask_, [this](Session* ended) { forget(ended); });
                sessions_.push_back(session.get());
                session->start();
            }
            accept();
        });
    }
    void forget(Session* ended) { std::erase(sessions_, ended); }

    std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
    tcp::acceptor acceptor_{*context_};
    asio::steady_timer pause_{*context_};
    Ask ask_;
    bool is_closing_ = false;
    std::vector<Session*> sessions_;  // Each is kept by what it waits for.
};

MetricsListener::MetricsListener(Ask ask) : ask_(std::move(ask)) {}

MetricsListener::~MetricsListener() {
    close();
}

Result<void> MetricsListener::open(const std::string& address) {
    auto service = std::make_unique<Service>(ask_);
    auto opened = service->open(address);
    if (opened) {
        service_ = std::move(service);
        thread_ = std::thread([this] { service_->run(); });
    }
    return opened;
}

void MetricsListener::close() {
    if (thread_.joinable()) {
        service_->stop();
        thread_.join();
        service_.reset();
    }
}

}  // namespace planed::io
