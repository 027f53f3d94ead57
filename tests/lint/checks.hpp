// SPDX-License-Identifier: Apache-2.0
// The rules that a compiler does not know, as functions from text to complaints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/source.hpp"

namespace planed::lint {

struct Complaint {
    std::string path;
    int line = 0;  // 0: about the whole folder.
    std::string text;
    bool operator==(const Complaint&) const = default;
};

/// "daemon/core/x.cpp:3: includes …"
std::string to_string(const Complaint& complaint);

/// Includes that the layer table does not allow. Files under daemon/ and plugins/; of others only
/// that they leave app/ alone.
std::vector<Complaint> check_includes(const SourceFile& file);

/// Clocks and sleeps in daemon/ outside of io/ and ctl/, sleeps in tests/unit/ and tests/sim/; in
/// pure folders also sockets, threads and true randomness.
std::vector<Complaint> check_calls(const SourceFile& file);

/// `using namespace` in headers; std::chrono_literals in daemon/net/time.hpp is let through.
std::vector<Complaint> check_using_namespace(const SourceFile& file);

/// C++ and CMake files begin with the SPDX line; what begins with "#!" has it in the second line.
std::vector<Complaint> check_spdx(const SourceFile& file);

/// Each direct subfolder of daemon/ and tests/ that has files, and those two themselves.
std::vector<Complaint> check_readmes(const std::vector<SourceFile>& files);

}  // namespace planed::lint
