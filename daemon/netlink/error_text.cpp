// SPDX-License-Identifier: Apache-2.0
#include "netlink/error_text.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <linux/netlink.h>

#include "netlink/attributes.hpp"

namespace planed::netlink {
namespace {

struct Words {
    std::string_view text{};
    std::optional<std::uint32_t> offset{};   // Of the attribute at fault, in the request.
    std::optional<std::uint32_t> missing{};  // Type of the attribute that the request lacks.
};

Result<Words> read_words(Bytes bytes, std::size_t offset) {
    Words words;
    AttributeReader attributes(bytes, offset);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case NLMSGERR_ATTR_MSG: words.text = AttributeReader::text(*attribute); break;
            case NLMSGERR_ATTR_OFFS:
                words.offset = attributes.number<std::uint32_t>(*attribute);
                break;
            case NLMSGERR_ATTR_MISS_TYPE:
                words.missing = attributes.number<std::uint32_t>(*attribute);
                break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    return words;
}

/// Where the attributes of an NLMSG_ERROR begin: after the errno and the request's header, and
/// after the request's payload unless it was capped.
Result<std::size_t> words_offset(const Message& message) {
    nlmsghdr request{};
    std::size_t at = sizeof(std::int32_t);
    if (message.payload.size() < at + sizeof request) {
        return fail_at(message.offset, Errc::Truncated, "acknowledgement cut short");
    }
    std::memcpy(&request, message.payload.data() + at, sizeof request);
    at += sizeof request;
    if ((message.flags & NLM_F_CAPPED) != 0) {
        return at;
    }
    if (request.nlmsg_len < sizeof request ||
        request.nlmsg_len - sizeof request > message.payload.size() - at) {
        return fail_at(message.offset, Errc::Truncated, "acknowledged request cut short");
    }
    const std::size_t padded =
        (request.nlmsg_len - sizeof request + NLMSG_ALIGNTO - 1) & ~std::size_t{NLMSG_ALIGNTO - 1};
    return std::min(at + padded, message.payload.size());
}

std::string sentence(int number, const Words& words) {
    std::string text = words.text.empty() ? errno_text(number)
                                          : fmt::format("{}: {}", errno_text(number), words.text);
    if (number == EPERM) {
        text += ": planed lacks CAP_NET_ADMIN in this network namespace";
    }
    if (words.missing) {
        text += fmt::format(", attribute {} is missing", *words.missing);
    }
    if (words.offset) {
        text += fmt::format(", at byte {} of the request", *words.offset);
    }
    return text;
}

}  // namespace

std::string errno_text(int number) {
    const char* words = strerrordesc_np(number);
    const char* name = strerrorname_np(number);
    if (words == nullptr || name == nullptr) {
        return fmt::format("error {}", number);
    }
    return fmt::format("{} ({})", words, name);
}

Result<Answer> decode_answer(const Message& message) {
    if (message.type != NLMSG_ERROR && message.type != NLMSG_DONE) {
        return fail_at(message.offset, Errc::Malformed, "not an acknowledgement");
    }
    std::int32_t code = 0;
    if (message.payload.size() < sizeof code) {
        return fail_at(message.offset, Errc::Truncated, "acknowledgement cut short");
    }
    std::memcpy(&code, message.payload.data(), sizeof code);
    Result<std::size_t> at = sizeof code;
    if (message.type == NLMSG_ERROR) {
        at = words_offset(message);
        if (!at) {
            return tl::unexpected(at.error());
        }
    }
    Words words;
    if ((message.flags & NLM_F_ACK_TLVS) != 0) {
        const auto read = read_words(message.payload.subspan(*at), message.offset + *at);
        if (!read) {
            return tl::unexpected(read.error());
        }
        words = *read;
    }
    if (code >= 0) {
        return Answer{.sequence = message.sequence, .warning = std::string(words.text)};
    }
    // -INT_MIN has no positive counterpart, and no errno is that large.
    const int number = code < -4095 ? EIO : -code;
    return Answer{
        .sequence = message.sequence,
        .error =
            Error{.code = Errc::Refused, .text = sentence(number, words), .system_errno = number}};
}

}  // namespace planed::netlink
