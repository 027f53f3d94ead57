// SPDX-License-Identifier: Apache-2.0
// Whatever happens to leaf and database, a few quiet seconds later the rows are exactly those of a
// mirror that began just now with an empty database.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/random.hpp"
#include "unit/statedb/fake_database.hpp"

namespace planed::statedb {
namespace {

using test::in_br0;
using test::kSwp1;
using test::kSwp2;
using test::mac;
using test::on_br0;

constexpr std::uint16_t kHosts = 12;
constexpr std::uint8_t kPeers = 4;  // And as many segments.

class World {
public:
    explicit World(std::uint64_t seed) : random_(seed) { leaf_.connect(); }

    void step() {
        switch (random_.below(14)) {
            case 0: leaf_.happen(leaf_.kernel.set(host(), reachable())); break;
            case 1: leaf_.happen(leaf_.kernel.set(host(), test::stale(mac(number_)))); break;
            case 2: leaf_.happen(leaf_.kernel.set(host(), test::failed())); break;
            case 3: leaf_.happen(leaf_.kernel.remove(host())); break;
            case 4: leaf_.happen(leaf_.kernel.learn(in_br0(mac(pick())), port())); break;
            case 5: flap(); break;
            case 6: leaf_.mirror.lost(); break;
            case 7: leaf_.connect(); break;
            case 8: leaf_.database.rows.clear(); break;
            case 9: leaf_.database.full = random_.percent(30); break;
            case 10: leaf_.answer_routes = random_.percent(70); break;
            case 11: spoil(); break;
            case 12: leaf_.show(evpn()); break;
            case 13: leaf_.mirror.evpn_changed(); break;
        }
        leaf_.pass(random_.between(0ms, 400ms));
    }

    void quieten() {
        leaf_.database.full = false;
        leaf_.mirror.lost();
        leaf_.connect();
        leaf_.pass(5s);
    }

    std::map<std::string, RowText>& rows() { return leaf_.database.rows; }
    MirroredLeaf& leaf() { return leaf_; }

private:
    NeighborKey host() { return on_br0(fmt::format("10.0.0.{}", 5 + pick())); }
    Neighbor reachable() { return test::reachable(mac(number_)); }
    IfIndex port() { return random_.percent(50) ? kSwp1 : kSwp2; }
    std::uint16_t pick() {
        number_ = static_cast<std::uint16_t>(random_.below(kHosts));
        return number_;
    }
    void flap() {
        const Link link = leaf_.kernel.link(port());
        leaf_.happen(link.carrier ? leaf_.kernel.cut(test::without_carrier(link))
                                  : std::vector{leaf_.kernel.set(test::with_carrier(link))});
    }
    void spoil() {
        const std::string key =
            random_.percent(50)
                ? fmt::format("PLANED_ROUTE_TABLE|default|10.0.0.{}/32",
                              5 + random_.below(2 * kHosts))
                : fmt::format("PLANED_EVPN_PEER_TABLE|10.66.0.{}", random_.below(2 * kPeers));
        leaf_.database.rows[key]["stale"] = "1";
    }
    EvpnRows evpn() {
        EvpnRows rows;
        for (std::uint8_t n = 0; n < kPeers; ++n) {
            if (random_.percent(60)) {
                rows.peers.push_back({.address = IpAddress::v4(10, 66, 0, n),
                                      .since = leaf_.now,
                                      .routes = random_.below(2)});
            }
            if (random_.percent(60)) {
                rows.segments.push_back({.esi = {0, n}, .up = random_.percent(50)});
            }
        }
        return rows;
    }

    sim::Random random_;
    MirroredLeaf leaf_;
    std::uint16_t number_ = 0;
};

TEST(MirrorProperty, RowsAreThoseOfAMirrorThatBeganJustNow) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        World world(seed);
        for (int i = 0; i < 60; ++i) {
            world.step();
        }
        world.quieten();

        Mirror fresh({.version = "0.1.0"});
        FakeDatabase database;
        fresh.up(world.leaf().now);
        fresh.take(world.leaf().evpn, world.leaf().now);
        fresh.settle(EngineView(world.leaf().engine), world.leaf().now);
        while (const auto op = fresh.next(EngineView(world.leaf().engine), world.leaf().now)) {
            database.carry_out(*op, fresh, world.leaf().now);
        }
        // How long a state has lasted is what only a mirror that was there can know.
        for (auto* rows : {&database.rows, &world.rows()}) {
            for (auto& [key, row] : *rows) {
                row.erase("updated");
                if (key.starts_with("PLANED_ROUTE")) {
                    row.erase("since");
                }
            }
        }
        ASSERT_EQ(world.rows(), database.rows) << "seed " << seed;
        ASSERT_TRUE(world.leaf().mirror.in_step()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace planed::statedb
