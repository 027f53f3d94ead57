// SPDX-License-Identifier: Apache-2.0
// What whoever is asked for help wants to see of a leaf, in one file: all tables, the configuration
// in force (without passwords: planed prints none), metrics and the log. A piece that cannot be had
// is named in it, and the others are there.
#pragma once

#include <string>
#include <vector>

#include "ctl/client.hpp"

namespace planed::ctl {

struct Bundle {
    std::string path{};
    std::vector<std::string> missing{};  // "hosts.json: why"
    std::string error{};                 // The file could not be written; empty: it was.
};

/// `path` empty: planed-NAME-TIME.tar.gz in the current folder.
Bundle write_bundle(Client& client, const std::string& target, std::string path);

}  // namespace planed::ctl
