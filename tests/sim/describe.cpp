// SPDX-License-Identifier: Apache-2.0
#include "sim/describe.hpp"

#include <fmt/format.h>

#include "core/eligibility.hpp"

namespace planed::sim {
namespace {

std::string_view word(Source source) {
    switch (source) {
        case Source::Event: return "";
        case Source::Dump: return " (dump)";
        case Source::Read: return " (read)";
    }
    return "";
}

std::string text(const NeighborKey& key) {
    return fmt::format("{}%{}", key.address.to_string(), number(key.link));
}

std::string text(const FdbKey& key) {
    return fmt::format(
        "{} vlan {} on {}", key.mac.to_string(), number(key.vlan), number(key.bridge));
}

struct Describe {
    std::string operator()(const LinkSeen& seen) const {
        const Link& link = seen.link;
        return fmt::format("link {} {} up={} carrier={} downs={} master={}{}",
                           number(link.index),
                           link.name,
                           link.admin_up,
                           link.carrier,
                           link.carrier_down_count,
                           number(link.master),
                           word(seen.source));
    }
    std::string operator()(const LinkGone& gone) const {
        return fmt::format("link {} gone", number(gone.link));
    }
    std::string operator()(const AddressSeen& seen) const {
        return fmt::format(
            "address {} on {}{}", seen.address.to_string(), number(seen.link), word(seen.source));
    }
    std::string operator()(const AddressGone& gone) const {
        return fmt::format("address {} gone from {}", gone.address.to_string(), number(gone.link));
    }
    std::string operator()(const NeighborSeen& seen) const {
        return fmt::format("neighbour {} {} {}{}",
                           text(seen.key),
                           planed::word(seen.neighbor.state),
                           seen.neighbor.mac.to_string(),
                           word(seen.source));
    }
    std::string operator()(const NeighborGone& gone) const {
        return fmt::format(
            "neighbour {} gone, was {}", text(gone.key), planed::word(gone.last.state));
    }
    std::string operator()(const FdbSeen& seen) const {
        return fmt::format(
            "fdb {} port {}{}", text(seen.key), number(seen.entry.port), word(seen.source));
    }
    std::string operator()(const FdbGone& gone) const {
        return fmt::format("fdb {} gone from {}", text(gone.key), number(gone.port));
    }
    std::string operator()(const DumpStarted& started) const {
        return fmt::format("dump {} started", static_cast<int>(started.kind));
    }
    std::string operator()(const HostHeard& heard) const {
        return fmt::format("heard {} at {} on {}",
                           heard.address.to_string(),
                           heard.mac.to_string(),
                           number(heard.link));
    }
    std::string operator()(const Listening& listening) const {
        return fmt::format("listening on {}: {}",
                           listening.interface,
                           listening.error ? listening.error->text : "yes");
    }
    std::string operator()(const DumpFinished& finished) const {
        return fmt::format(
            "dump {} finished, complete={}", static_cast<int>(finished.kind), finished.complete);
    }
    std::string operator()(const EventsLost& lost) const {
        return fmt::format("events of {} lost", static_cast<int>(lost.kind));
    }
    std::string operator()(const EventsWaiting& waiting) const {
        return fmt::format("events of {} wait", static_cast<int>(waiting.kind));
    }
    std::string operator()(const RouteAnswered& answered) const {
        return fmt::format("zebra: {} answer {}",
                           answered.key.prefix.to_string(),
                           static_cast<int>(answered.answer));
    }
    std::string operator()(const RouteSeen& seen) const {
        return fmt::format("zebra has {}: {}", seen.key.prefix.to_string(), seen.route.has_value());
    }
    std::string operator()(const ReadBackFinished& finished) const {
        return fmt::format("read-back finished, complete={}", finished.complete);
    }
    std::string operator()(const ZapiUp& up) const { return "zebra up, family " + up.family; }
    std::string operator()(const ZapiLost& lost) const { return "zebra lost: " + lost.why.text; }
    std::string operator()(const ForwardingRead& read) const {
        return fmt::format("forwarding read {}: {}",
                           read.request,
                           read.silent ? fmt::format("silent for {} ms", *read.silent / 1ms)
                                       : std::string("no entry"));
    }
    std::string operator()(const ProxySeen& seen) const {
        return fmt::format("proxy {} by {}", text(seen.key), seen.protocol);
    }
    std::string operator()(const PlaneRouteSeen& seen) const {
        return "plane has " + seen.key.prefix.to_string();
    }
    std::string operator()(const PlaneRouteGone& gone) const {
        return "plane lost " + gone.key.prefix.to_string();
    }
    std::string operator()(const PlaneDoubted& /*doubted*/) const { return "bgpd ended"; }
    std::string operator()(const PlaneDumped& /*dumped*/) const { return "plane dumped"; }
    std::string operator()(const KernelAnswered& answered) const {
        return fmt::format("kernel answers {}: {}",
                           answered.request,
                           answered.error ? answered.error->text : "done");
    }
    std::string operator()(const PortRemembered& remembered) const {
        return fmt::format("remembered {} on {}", remembered.mac.to_string(), remembered.port);
    }
    std::string operator()(const ShutRemembered& remembered) const {
        return "remembered shut " + remembered.port;
    }
    std::string operator()(const BgpPeersSeen& /*seen*/) const { return "bgp peers"; }
    std::string operator()(const NeighborTableSeen& /*seen*/) const { return "neighbour table"; }
    std::string operator()(const ConfigChanged& /*changed*/) const { return "configuration"; }
    std::string operator()(const StopRequested& /*requested*/) const { return "stop"; }

    std::string operator()(const StartDump& start) const {
        return fmt::format("start dump {}", static_cast<int>(start.kind));
    }
    std::string operator()(const ReadLinks& /*read*/) const { return "read links"; }
    std::string operator()(const SendRoute& send) const {
        return fmt::format("{} {}", send.put ? "ADD" : "DELETE", send.key.prefix.to_string());
    }
    std::string operator()(const StartReadBack& /*start*/) const { return "read back"; }
    std::string operator()(const CompleteRestart& /*complete*/) const { return "complete restart"; }
    std::string operator()(const AnnounceVrf& announce) const {
        return fmt::format("announce vrf {}", number(announce.vrf));
    }
    std::string operator()(const WatchPlane& watch) const {
        return fmt::format("watch plane of vrf {}", number(watch.vrf));
    }
    std::string operator()(const SendProxy& send) const {
        return fmt::format("{} {}", send.put ? "proxy" : "no proxy for", text(send.key));
    }
    std::string operator()(const WriteNeighbor& write) const {
        return fmt::format("write neighbour {} {} ext={}",
                           text(write.key),
                           planed::word(write.state),
                           write.ext_learned);
    }
    std::string operator()(const Listen& listen) const {
        return fmt::format("listen on {} links", listen.places.size());
    }
    std::string operator()(const DeleteNeighbor& removal) const {
        return "delete neighbour " + text(removal.key);
    }
    std::string operator()(const ReadForwarding& read) const {
        return "read forwarding " + read.key.mac.to_string();
    }
    std::string operator()(const WriteForwarding& write) const {
        return fmt::format("{} forwarding {} by {}",
                           write.put ? "write" : "delete",
                           write.key.mac.to_string(),
                           number(write.port));
    }
    std::string operator()(const ApplySetting& apply) const {
        return fmt::format(
            "set {} of {} to {}", static_cast<int>(apply.setting), apply.name, apply.value);
    }
    std::string operator()(const SetLinkUp& set) const {
        return fmt::format("set link {} up={}", number(set.link), set.up);
    }
    std::string operator()(const RememberPort& remember) const {
        return fmt::format(
            "remember {} on {}", remember.mac.to_string(), remember.port.value_or("nothing"));
    }
    std::string operator()(const RememberShut& remember) const {
        return fmt::format("remember shut {} {}", remember.port, remember.shut);
    }
    std::string operator()(const Finish& finish) const {
        return fmt::format("finish, withdraw={}", finish.withdraw);
    }
    std::string operator()(const Say& say) const {
        return fmt::format("say {} {}", say.note.id, say.note.text);
    }
    template <class Other>
    std::string operator()(const Other& /*other*/) const {
        return "?";
    }
};

}  // namespace

std::string describe(const Input& input) {
    return std::visit(Describe{}, input);
}

std::string describe(const Output& output) {
    return std::visit(Describe{}, output);
}

}  // namespace planed::sim
