// SPDX-License-Identifier: Apache-2.0
// hiredis' replies as values of ours. All of it points into the reply.
#pragma once

#include <span>
#include <string_view>

#include <hiredis/hiredis.h>

namespace planed::io {

/// Empty where it has no text.
inline std::string_view text_of(const redisReply& reply) {
    return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, reply.len);
}

inline bool is_error(const redisReply& reply) {
    return reply.type == REDIS_REPLY_ERROR;
}

/// Empty where it is no list.
inline std::span<redisReply* const> elements_of(const redisReply& reply) {
    return reply.type == REDIS_REPLY_ARRAY ? std::span(reply.element, reply.elements)
                                           : std::span<redisReply* const>();
}

}  // namespace planed::io
