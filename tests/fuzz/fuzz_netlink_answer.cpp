// SPDX-License-Identifier: Apache-2.0
// Acknowledgements: first byte even NLMSG_ERROR, odd NLMSG_DONE; its bits 1 and 2 are NLM_F_CAPPED
// and NLM_F_ACK_TLVS; then the payload.
#include <linux/netlink.h>

#include "netlink/error_text.hpp"
#include "netlink_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::netlink;  // NOLINT(google-build-using-namespace): a program of its own.
    auto message = chosen({data, size}, NLMSG_ERROR, NLMSG_DONE);
    if (!message) {
        return 0;
    }
    const unsigned capped = (data[0] & 2U) != 0 ? NLM_F_CAPPED : 0U;
    const unsigned words = (data[0] & 4U) != 0 ? NLM_F_ACK_TLVS : 0U;
    message->flags = static_cast<std::uint16_t>(capped | words);
    const auto answer = decode_answer(*message);
    if (!answer) {
        check_error(answer.error(), message->payload.size());
    } else if (answer->error) {
        PLANED_ASSERT(answer->error->system_errno > 0);
        PLANED_ASSERT(!answer->error->text.empty());
    }
    return 0;
}
