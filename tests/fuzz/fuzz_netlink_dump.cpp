// SPDX-License-Identifier: Apache-2.0
// A datagram as a dump's answer: it ends at most once, says complete only without an error, and
// tells nothing after its end.
#include "netlink/dump.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    MessageReader reader({data, size});
    Dump dump(planed::DumpKind::Neighbors, 0);
    while (true) {
        const auto message = reader.next();
        if (!message || !*message) {
            return 0;
        }
        const bool was_finished = dump.finished();
        const auto input = dump.receive(**message);
        PLANED_ASSERT(!(was_finished && input));
        if (!input) {
            continue;
        }
        const auto* end = std::get_if<planed::DumpFinished>(&*input);
        PLANED_ASSERT((end != nullptr) == dump.finished());
        if (end != nullptr) {
            PLANED_ASSERT(end->complete == !dump.error().has_value());
        } else {
            std::visit(CheckFact{}, *input);
        }
    }
}
