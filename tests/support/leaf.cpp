// SPDX-License-Identifier: Apache-2.0
#include "support/leaf.hpp"

namespace planed::test {
namespace {

void append(std::vector<Input>& to, std::vector<Input> from) {
    to.insert(to.end(), from.begin(), from.end());
}

KernelFacts rail_with_a_host() {
    KernelFacts kernel = rail();
    (void)kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    (void)kernel.learn(in_br0(mac(5)), kSwp1);
    return kernel;
}

}  // namespace

Leaf::Leaf(Config config, KernelFacts facts)
    : kernel(std::move(facts)), engine(std::make_shared<const Config>(std::move(config))) {}

Leaf::~Leaf() = default;

std::vector<Output> Leaf::turn(const std::vector<Input>& inputs) {
    for (const Input& input : inputs) {
        engine.handle(input, now);
    }
    engine.settle(now);
    std::vector<Output> outputs;
    while (auto output = engine.poll()) {
        outputs.push_back(std::move(*output));
    }
    return outputs;
}

std::vector<Output> Leaf::turn(const Input& input) {
    return turn(std::vector<Input>{input});
}

std::vector<Output> Leaf::feed(std::vector<Input> inputs) {
    std::vector<Output> all;
    do {
        std::vector<Output> outputs = turn(inputs);
        inputs.clear();
        for (const Output& output : outputs) {
            answer(output, inputs);
        }
        all.insert(all.end(), outputs.begin(), outputs.end());
    } while (!inputs.empty());
    return all;
}

std::vector<Output> Leaf::feed(const Input& input) {
    return feed(std::vector<Input>{input});
}

std::vector<Output> Leaf::run_for(Duration span) {
    const TimePoint end = now + span;
    std::vector<Output> all;
    std::size_t turns_at_one_instant = 0;
    while (true) {
        const auto at = engine.wake_at();
        if (!at || *at > end) {
            break;
        }
        turns_at_one_instant = *at > now ? 0 : turns_at_one_instant + 1;
        PLANED_ASSERT(turns_at_one_instant < 100);  // The loop would spin.
        now = std::max(now, *at);
        std::vector<Output> outputs = feed(std::vector<Input>{});
        all.insert(all.end(), outputs.begin(), outputs.end());
    }
    now = end;
    return all;
}

void Leaf::start() {
    (void)feed(ZapiUp{.family = "C"});
    (void)run_for(2s);
}

void Leaf::answer(const Output& output, std::vector<Input>& inputs) {
    if (const auto* dump = std::get_if<StartDump>(&output); dump != nullptr && answer_dumps) {
        append(inputs, kernel.dump(dump->kind));
    } else if (const auto* send = std::get_if<SendRoute>(&output);
               send != nullptr && answer_routes) {
        answer_route(*send, inputs);
    } else if (std::holds_alternative<StartReadBack>(output)) {
        for (const auto& [key, route] : zebra) {
            inputs.emplace_back(RouteSeen{.key = key, .route = route});
        }
        inputs.emplace_back(ReadBackFinished{});
    } else if (const auto* apply = std::get_if<ApplySetting>(&output)) {
        auto& value = settings[{apply->link, apply->setting}];
        inputs.emplace_back(
            KernelAnswered{.request = apply->request, .found = std::exchange(value, apply->value)});
    } else if (const auto* write = std::get_if<WriteNeighbor>(&output);
               write != nullptr && answer_writes) {
        if (write->only_new && kernel.neighbors().contains(write->key)) {
            inputs.emplace_back(KernelAnswered{
                .request = write->request,
                .error =
                    Error{.code = Errc::Refused, .text = "File exists", .system_errno = EEXIST}});
            return;
        }
        inputs.emplace_back(
            kernel.set(write->key,
                       {.mac = write->mac,
                        .state = write->state,
                        .ext_learned = write->ext_learned,
                        .protocol = write->ext_learned ? kNeighborProtocol : std::uint8_t{0}}));
        inputs.emplace_back(KernelAnswered{.request = write->request});
    } else if (const auto* steer = std::get_if<WriteForwarding>(&output)) {
        inputs.emplace_back(steer->put ? kernel.learn(steer->key, steer->port, true)
                                       : kernel.unlearn(steer->key));
        inputs.emplace_back(KernelAnswered{.request = steer->request});
        sent[steer->key.mac] = now;  // The bridge takes it for a frame.
    } else if (const auto* read = std::get_if<ReadForwarding>(&output)) {
        ForwardingRead answer{.request = read->request};
        if (const auto at = sent.find(read->key.mac); at != sent.end()) {
            answer.silent = now - at->second;
        }
        inputs.emplace_back(answer);
    } else if (const auto* drop = std::get_if<DeleteNeighbor>(&output);
               drop != nullptr && answer_deletions) {
        inputs.emplace_back(kernel.remove(drop->key));
        inputs.emplace_back(KernelAnswered{.request = drop->request});
    } else if (const auto* proxy = std::get_if<SendProxy>(&output)) {
        if (proxy->put) {
            kernel.proxies[proxy->key] = kNeighborProtocol;
        } else {
            kernel.proxies.erase(proxy->key);
        }
        inputs.emplace_back(KernelAnswered{.request = proxy->request});
    } else if (const auto* watch = std::get_if<WatchPlane>(&output); watch && answer_planes) {
        for (const RouteKey& key : plane) {
            inputs.emplace_back(PlaneRouteSeen{.key = key});
        }
        inputs.emplace_back(PlaneDumped{.vrf = watch->vrf});
    }
}

void Leaf::answer_route(const SendRoute& send, std::vector<Input>& inputs) {
    if (send.put) {
        zebra[send.key] = *send.put;
        inputs.emplace_back(RouteAnswered{.key = send.key, .answer = RouteAnswer::Installed});
    } else if (zebra.erase(send.key) > 0) {  // Of an unknown one it says nothing.
        inputs.emplace_back(RouteAnswered{.key = send.key, .answer = RouteAnswer::Removed});
    }
}

KernelFacts rail() {
    KernelFacts kernel;
    (void)kernel.set(bridge(kBr0, "br0"));
    (void)kernel.set(bridge_port(kSwp1, "swp1", kBr0));
    (void)kernel.set(bridge_port(kSwp2, "swp2", kBr0));
    (void)kernel.set(routed_port(kUp0, "up0"));
    (void)kernel.set_address(kBr0, prefix("10.0.0.1/16"));
    (void)kernel.set_address(kBr0, prefix("fd00:0:0:1::1/64"));
    return kernel;
}

RailLeaf::RailLeaf(Config config) : Leaf(std::move(config), rail_with_a_host()) {
    start();
}

}  // namespace planed::test
