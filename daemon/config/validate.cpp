// SPDX-License-Identifier: Apache-2.0
#include "config/validate.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "config/checks.hpp"
#include "config/duration.hpp"
#include "config/match.hpp"
#include "config/validate_evpn.hpp"

namespace planed::config {
namespace {

// Each pair of globs is compared.
constexpr std::size_t kGlobsMax = 128;

// A prefix of the one is a part of the other or they share nothing.
bool overlap(const IpPrefix& a, const IpPrefix& b) {
    return a.contains(b.address()) || b.contains(a.address());
}

bool covers(const IpPrefix& outer, const IpPrefix& inner) {
    return outer.length() <= inner.length() && outer.contains(inner.address());
}

// Some interface belongs to both patterns. Patterns that are faulty by themselves belong to none.
bool can_be_same(const std::string& a, const std::string& b) {
    if (check_interface_pattern(a) || check_interface_pattern(b)) {
        return false;
    }
    return is_glob(a) || is_glob(b) ? globs_overlap(a, b) : a == b;
}

class Validator {
public:
    Validator(const Config& config, const Places& written, FaultList& faults, FaultList& warnings)
        : config_(config), written_(written), faults_(faults), warnings_(warnings) {}

    void run() {
        check_interfaces_present();
        check_names();
        check_globs();
        for (std::size_t i = 0; i < config_.interfaces.size(); ++i) {
            const std::string path = fmt::format("interfaces[{}]", i);
            check_prefixes(config_.interfaces[i], path);
            check_hosts(config_.interfaces[i], path);
        }
        check_hosts_across();
        check_uplinks();
        check_learning();
        check_routes();
        check_redis();
        check_api();
        validate_evpn(config_, written_, faults_, warnings_);
        check_metrics();
    }

private:
    void fault(const std::string& path, std::string text) {
        faults_.add(place_of(written_, path), path, std::move(text));
    }
    void warn(const std::string& path, std::string text) {
        warnings_.add(place_of(written_, path), path, std::move(text));
    }
    [[nodiscard]] std::uint32_t line_of(std::string_view path) const {
        return place_of(written_, path).line;
    }

    void check_interfaces_present() {
        // CONFIG_DB may have some.
        if (config_.interfaces.empty() && !config_.redis.config_db) {
            warn("interfaces", "is empty: no interface is managed, no host becomes a route");
        }
    }

    void check_names() {
        std::map<std::string_view, std::size_t> seen;
        for (std::size_t i = 0; i < config_.interfaces.size(); ++i) {
            const std::string& name = config_.interfaces[i].name;
            if (name.empty()) {
                continue;  // Named as a fault already.
            }
            const auto [first, fresh] = seen.emplace(name, i);
            if (!fresh) {
                fault(fmt::format("interfaces[{}].name", i),
                      fmt::format("{} is already interfaces[{}], in line {}",
                                  quoted(name),
                                  first->second,
                                  line_of(fmt::format("interfaces[{}].name", first->second))));
            }
        }
    }

    void check_globs() {
        std::vector<std::size_t> globs;
        for (std::size_t i = 0; i < config_.interfaces.size(); ++i) {
            const std::string& name = config_.interfaces[i].name;
            if (is_glob(name) && !check_interface_pattern(name)) {
                globs.push_back(i);
            }
        }
        if (globs.size() > kGlobsMax) {
            fault("interfaces",
                  fmt::format("has {} globs; at most {} are taken", globs.size(), kGlobsMax));
            return;
        }
        for (std::size_t b = 0; b < globs.size(); ++b) {
            for (std::size_t a = 0; a < b; ++a) {
                check_glob_pair(globs[a], globs[b]);
            }
        }
    }

    void check_glob_pair(std::size_t first, std::size_t second) {
        const std::string& a = config_.interfaces[first].name;
        const std::string& b = config_.interfaces[second].name;
        if (a != b && specificity(a) == specificity(b) && globs_overlap(a, b)) {
            fault(fmt::format("interfaces[{}].name", second),
                  fmt::format("{} and {} (interfaces[{}]) can match the same interface, and "
                              "neither is the more specific",
                              quoted(b),
                              quoted(a),
                              first));
        }
    }

    void check_prefixes(const InterfaceConfig& entry, const std::string& path) {
        if (entry.prefixes.empty()) {
            return;
        }
        for (std::size_t i = 0; i < entry.exclude.size(); ++i) {
            const IpPrefix& out = entry.exclude[i];
            const bool touches = std::any_of(entry.prefixes.begin(),
                                             entry.prefixes.end(),
                                             [&](const IpPrefix& in) { return overlap(in, out); });
            if (!touches) {
                warn(fmt::format("{}.exclude[{}]", path, i),
                     fmt::format("{} excludes nothing: it is outside of {}.prefixes",
                                 out.to_string(),
                                 path));
            }
        }
        for (std::size_t i = 0; i < entry.prefixes.size(); ++i) {
            for (const IpPrefix& out : entry.exclude) {
                if (covers(out, entry.prefixes[i])) {
                    warn(fmt::format("{}.prefixes[{}]", path, i),
                         fmt::format("nothing is left of {}: {} is excluded",
                                     entry.prefixes[i].to_string(),
                                     out.to_string()));
                    break;
                }
            }
        }
    }

    void check_hosts(const InterfaceConfig& entry, const std::string& path) {
        if (entry.hosts.size() > entry.max_hosts) {
            fault(path + ".hosts",
                  fmt::format(
                      "has {} hosts, more than max_hosts {}", entry.hosts.size(), entry.max_hosts));
        }
        std::map<IpAddress, std::size_t> seen;
        for (std::size_t i = 0; i < entry.hosts.size(); ++i) {
            const IpAddress& address = entry.hosts[i].address;
            if (address.is_unspecified()) {
                continue;  // Named as a fault already.
            }
            const std::string key = fmt::format("{}.hosts[{}].address", path, i);
            const auto holds = [&](const IpPrefix& prefix) { return prefix.contains(address); };
            const auto [first, fresh] = seen.emplace(address, i);
            if (!fresh) {
                fault(key,
                      fmt::format(
                          "{} is already {}.hosts[{}]", address.to_string(), path, first->second));
            } else if (!entry.prefixes.empty() &&
                       std::none_of(entry.prefixes.begin(), entry.prefixes.end(), holds)) {
                fault(key, fmt::format("{} is outside of {}.prefixes", address.to_string(), path));
            } else if (std::any_of(entry.exclude.begin(), entry.exclude.end(), holds)) {
                fault(key, fmt::format("{} is in {}.exclude", address.to_string(), path));
            }
        }
    }

    // The same address on two interfaces is right in two VRFs, which the file does not know.
    void check_hosts_across() {
        std::map<IpAddress, std::size_t> seen;
        for (std::size_t i = 0; i < config_.interfaces.size(); ++i) {
            const auto& hosts = config_.interfaces[i].hosts;
            for (std::size_t k = 0; k < hosts.size(); ++k) {
                const auto [first, fresh] = seen.emplace(hosts[k].address, i);
                if (!fresh && first->second != i && !hosts[k].address.is_unspecified()) {
                    warn(fmt::format("interfaces[{}].hosts[{}].address", i, k),
                         fmt::format("{} is also a host of interfaces[{}]; in one VRF only one "
                                     "of them can hold the route",
                                     hosts[k].address.to_string(),
                                     first->second));
                }
            }
        }
    }

    // Hosts behind an uplink would be announced to the fabric that they came from.
    void check_uplinks() {
        for (std::size_t i = 0; i < config_.uplinks.size(); ++i) {
            const std::string& uplink = config_.uplinks[i];
            const auto both = std::find_if(
                config_.interfaces.begin(), config_.interfaces.end(), [&](const auto& entry) {
                    return can_be_same(entry.name, uplink);
                });
            if (both != config_.interfaces.end()) {
                fault(fmt::format("uplinks[{}]", i),
                      fmt::format("{} is also a server-facing interface: interfaces[{}] ({})",
                                  quoted(uplink),
                                  both - config_.interfaces.begin(),
                                  quoted(both->name)));
            }
        }
        if (config_.uplinks.empty() && config_.uplinks_down == UplinksDown::Shut) {
            warn("uplinks_down", "has no effect: uplinks is empty");
        }
    }

    void check_learning() {
        const LearningConfig& learning = config_.learning;
        const Duration probing = learning.probe_interval * learning.probe_attempts;
        if (probing >= learning.refresh) {
            warn("learning.refresh",
                 fmt::format("{} is over before {} probes, {} apart, are",
                             format_duration(learning.refresh),
                             learning.probe_attempts,
                             format_duration(learning.probe_interval)));
        }
    }

    void check_routes() {
        constexpr std::uint8_t kEbgpDistance = 20;
        constexpr std::uint8_t kInfiniteDistance = 255;  // zebra never selects such a route.
        const RoutesConfig& routes = config_.routes;
        if (routes.distance == kInfiniteDistance) {
            warn("routes.distance", "255 means unreachable to zebra: no route will be used");
        } else if (routes.distance >= kEbgpDistance) {
            warn("routes.distance",
                 fmt::format("{} does not beat eBGP's {}: a leaf that hears of a host by BGP first "
                             "will not announce it itself",
                             routes.distance,
                             kEbgpDistance));
        }
        if (routes.tag == 0) {
            warn("routes.tag", "0 is no tag: route-maps cannot match on it");
        }
    }

    void check_redis() {
        if (config_.redis.config_db && config_.redis.endpoint == "off") {
            fault("redis.config_db", "needs Redis, but redis.endpoint is off");
        }
    }

    void check_api() {
        const TlsConfig& tls = config_.api.tls;
        bool over_tcp = false;
        for (std::size_t i = 0; i < config_.api.listen.size(); ++i) {
            const std::string& listen = config_.api.listen[i];
            if (listen.starts_with("unix:") || check_listen_address(listen)) {
                continue;
            }
            over_tcp = true;
            if (tls.certificate.empty() || tls.key.empty()) {
                fault(fmt::format("api.listen[{}]", i),
                      fmt::format("{} needs api.tls.certificate and api.tls.key: only a unix "
                                  "socket goes without TLS",
                                  quoted(listen)));
            }
        }
        if (tls.certificate.empty() != tls.key.empty()) {
            const bool lacks_key = tls.key.empty();
            fault(lacks_key ? "api.tls.certificate" : "api.tls.key",
                  fmt::format("is useless without api.tls.{}", lacks_key ? "key" : "certificate"));
        }
        if (!over_tcp && !(tls.certificate.empty() && tls.key.empty() && tls.client_ca.empty())) {
            warn("api.tls", "has no effect: no api.listen is a TCP address");
        }
        if (config_.api.listen.empty()) {
            warn("api.listen", "is empty: planectl cannot reach this planed");
        }
    }

    void check_metrics() {
        const std::string& listen = config_.metrics.listen;
        if (!listen.empty() && !check_tcp_address_or_empty(listen) && !is_loopback(listen)) {
            warn("metrics.listen",
                 fmt::format("{} is no loopback address: whoever reaches it may read the metrics",
                             quoted(listen)));
        }
    }

    const Config& config_;
    const Places& written_;
    FaultList& faults_;
    FaultList& warnings_;
};

}  // namespace

void validate(const Config& config, const Places& written, FaultList& faults, FaultList& warnings) {
    Validator(config, written, faults, warnings).run();
}

}  // namespace planed::config
