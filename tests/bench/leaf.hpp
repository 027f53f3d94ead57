// SPDX-License-Identifier: Apache-2.0
// The leaf under test: a network namespace with a bridge, two ports and as many hosts as are asked.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "bench/kernel.hpp"
#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"

namespace planed::bench {

struct Host {
    IpAddress v4;
    IpAddress v6;
    MacAddress mac;
};
/// The same for the same number, from 0 on: 10.64.0.0/10, fd00:0:0:1::/64.
Host host(std::size_t number);

struct Leaf {
    IfIndex bridge{};  // br0: the server-facing interface.
    IfIndex port{};    // p0: where the hosts are.
};

/// The leaf and what it hangs on, which is in a namespace that planed does not see.
struct Scene {
    Leaf leaf;
    IfIndex other_end{};                 // h0: down means that p0 has no carrier.
    int frames = -1;                     // A packet socket on h0: the hosts' mouth and ears.
    std::unique_ptr<Changes> on_others;  // In h0's namespace.
};

/// Makes the leaf in a network namespace of its own, into which this process moves. Port p1 is
/// always up: on a real leaf one dead port does not take the bridge's carrier with it.
Scene make_leaf();
/// In the namespace where the process is already.
Scene make_leaf_here();

/// Until the leaf's port has its carrier: the bridge lets no entry be written before.
void await_forwarding(Changes& changes, const Leaf& leaf);
/// Both addresses of hosts [from, to) as neighbours, and their MACs behind the leaf's port.
void add_hosts(
    Changes& changes, const Leaf& leaf, std::size_t from, std::size_t to, std::uint16_t state);

/// A folder in $TMPDIR that goes with the object; a bench that fails leaves it to whoever set that.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace planed::bench
