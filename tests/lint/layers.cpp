// SPDX-License-Identifier: Apache-2.0
#include "lint/layers.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

namespace planed::lint {
namespace {

std::string cell(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", name == "*" ? "all" : "");
        text += name == "*" ? "" : fmt::format("`{}`", name);
    }
    return text.empty() ? "–" : text;
}

}  // namespace

std::span<const Layer> layers() {
    static const std::vector<Layer> table_of_layers{
        {.scope = "net/", .ours = {}, .others = {"tl/expected.hpp", "fmt/", "arpa/inet.h"}},
        {.scope = "telemetry/", .ours = {"net/"}, .others = {"fmt/"}},
        {.scope = "config/",
         .ours = {"net/", "evpn/esi.hpp", "evpn/df_election.hpp"},
         .others = {"fmt/"}},
        {.scope = "config/load.cpp",
         .ours = {"net/"},
         .others = {"fmt/", "yaml-cpp/"},
         .pure = false},
        {.scope = "core/",
         .ours = {"net/", "telemetry/note.hpp", "config/config.hpp", "config/match.hpp"},
         .others = {"fmt/", "absl/", "fnmatch.h"}},
        {.scope = "core/engine",
         .ours = {"net/", "telemetry/note.hpp", "config/config.hpp", "config/match.hpp", "evpn/"},
         .others = {"fmt/", "absl/"}},
        // Values of the wire, never a session: who is spoken with is the shell's affair.
        {.scope = "evpn/",
         .ours = {"net/",
                  "telemetry/note.hpp",
                  "bgp/values.hpp",
                  "bgp/routes.hpp",
                  "bgp/attributes.hpp",
                  "bgp/communities.hpp",
                  "bgp/update.hpp"},
         .others = {"fmt/", "absl/"}},
        {.scope = "statedb/",
         .ours = {"net/",
                  "telemetry/note.hpp",
                  "core/audit.hpp",
                  "core/snapshot.hpp",
                  "core/reconciler.hpp"},
         .others = {"fmt/", "absl/"}},
        {.scope = "statedb/database_config",
         .ours = {"net/"},
         .others = {"fmt/", "nlohmann/json.hpp"}},
        {.scope = "zapi/", .ours = {"net/", "telemetry/note.hpp"}, .others = {"fmt/", "absl/"}},
        {.scope = "bgp/", .ours = {"net/", "telemetry/note.hpp"}, .others = {"fmt/", "absl/"}},
        // sock_filter and BPF's numbers, never a call.
        {.scope = "packet/", .ours = {"net/"}, .others = {"tl/expected.hpp", "linux/filter.h"}},
        {.scope = "netlink/",
         .ours = {"net/", "core/facts.hpp", "core/input.hpp", "core/output.hpp"},
         // Structures and constants of these, never a call.
         .others = {"fmt/",
                    "netlink/",
                    "linux/",
                    "arpa/inet.h",
                    "netinet/in.h",
                    "netinet/tcp.h",
                    "sys/socket.h"}},
        {.scope = "plugin/",
         .ours = {"net/", "telemetry/note.hpp", "core/input.hpp", "planed/plugin.h"},
         .others = {"fmt/", "dlfcn.h"},
         .pure = false},
        {.scope = "record/",
         .ours = {"net/", "telemetry/note.hpp", "config/", "core/"},
         .others = {"fmt/", "nlohmann/json.hpp"}},
        {.scope = "io/",
         .ours = {"net/",
                  "telemetry/",
                  "config/",
                  "core/",
                  "evpn/",
                  "statedb/",
                  "zapi/",
                  "bgp/",
                  "packet/",
                  "netlink/",
                  "plugin/"},
         .others = {"*"},
         .pure = false},
        {.scope = "api/",
         .ours = {"net/",
                  "telemetry/",
                  "core/audit.hpp",
                  "core/snapshot.hpp",
                  "core/snapshot_builder.hpp",
                  "core/input.hpp",
                  "bgp/",
                  "evpn/multihoming.hpp",
                  "plugin/view.hpp",
                  "planed/v1/"},
         .others = {"fmt/", "grpc/", "grpcpp/", "google/protobuf/"},
         .pure = false},
        {.scope = "app/bridges",
         .ours = {"net/", "telemetry/note.hpp", "config/config.hpp", "core/", "zapi/", "bgp/"},
         .others = {"fmt/", "absl/"},
         .pure = true,
         .apart = true},
        {.scope = "app/evpn_peers",
         .ours = {"net/", "config/config.hpp", "bgp/"},
         .others = {"fmt/", "absl/"},
         .pure = true,
         .apart = true},
        {.scope = "app/evpn_sync",
         .ours = {"net/",
                  "telemetry/note.hpp",
                  "config/config.hpp",
                  "core/",
                  "evpn/",
                  "bgp/",
                  "app/evpn_peers.hpp"},
         .others = {"fmt/", "absl/"},
         .pure = true,
         .apart = true},
        {.scope = "app/",
         .ours = {"net/",
                  "telemetry/",
                  "config/",
                  "core/",
                  "evpn/",
                  "statedb/",
                  "zapi/",
                  "bgp/",
                  "packet/",
                  "netlink/",
                  "plugin/",
                  "record/",
                  "io/",
                  "api/"},
         .others = {"*"},
         .pure = false},
        {.scope = "main.cpp",
         .ours = {"app/app.hpp", "config/", "record/replay.hpp", "telemetry/"},
         .others = {"fmt/", "CLI/"},
         .pure = false},
        {.scope = "ctl/",
         .ours = {"planed/v1/"},
         .others = {"fmt/",
                    "grpc/",
                    "grpcpp/",
                    "google/protobuf/",
                    "unistd.h",
                    "archive.h",
                    "archive_entry.h",
                    "fcntl.h",
                    "sys/wait.h"},
         .pure = false},
    };
    return table_of_layers;
}

const Layer* layer_of(std::string_view path) {
    const Layer* best = nullptr;
    for (const Layer& layer : layers()) {
        if (path.starts_with(layer.scope) &&
            (best == nullptr || best->scope.size() < layer.scope.size())) {
            best = &layer;
        }
    }
    return best;
}

std::string layers_as_markdown() {
    std::string table =
        "| scope | may include of ours | of others, besides std | pure |\n|---|---|---|---|\n";
    for (const Layer& layer : layers()) {
        table += fmt::format("| `{}` | {} | {} | {} |\n",
                             layer.scope,
                             cell(layer.ours),
                             cell(layer.others),
                             layer.pure ? "yes" : "no");
    }
    return table;
}

}  // namespace planed::lint
