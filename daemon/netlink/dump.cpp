// SPDX-License-Identifier: Apache-2.0
#include "netlink/dump.hpp"

#include <utility>

#include <linux/netlink.h>

#include "netlink/decode.hpp"
#include "netlink/error_text.hpp"
#include "netlink/requests.hpp"

namespace planed::netlink {

std::vector<std::uint8_t> Dump::request() const {
    return dump_request(kind_, sequence_);
}

std::optional<Input> Dump::receive(const Message& message) {
    if (finished_ || message.sequence != sequence_) {
        return std::nullopt;
    }
    if ((message.flags & NLM_F_DUMP_INTR) != 0) {
        note({.code = Errc::Refused, .text = "the table changed while it was read"});
    }
    if (message.type == NLMSG_DONE || message.type == NLMSG_ERROR) {
        auto answer = decode_answer(message);
        if (!answer) {
            note(std::move(answer.error()));
        } else if (answer->error) {
            note(std::move(*answer->error));
        }
        return finish();
    }
    auto row = decode(message, Source::Dump);
    if (!row) {
        note(std::move(row.error()));
        return std::nullopt;
    }
    return std::move(*row);
}

std::optional<Input> Dump::abandon(Error why) {
    if (finished_) {
        return std::nullopt;
    }
    note(std::move(why));
    return finish();
}

void Dump::note(Error error) {
    if (!error_) {
        error_ = std::move(error);
    }
}

Input Dump::finish() {
    finished_ = true;
    return DumpFinished{.kind = kind_, .complete = !error_.has_value()};
}

}  // namespace planed::netlink
