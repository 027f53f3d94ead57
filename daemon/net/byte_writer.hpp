// SPDX-License-Identifier: Apache-2.0
// Appends big-endian fields to a byte vector and patches lengths that are known only later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/assert.hpp"

namespace planed {

class ByteWriter {
public:
    explicit ByteWriter(std::vector<std::uint8_t>& out) : out_(out) {}

    void u8(std::uint8_t value) { out_.push_back(value); }
    void u16(std::uint16_t value) { write_big(value, 2); }
    void u32(std::uint32_t value) { write_big(value, 4); }
    void u64(std::uint64_t value) { write_big(value, 8); }
    void bytes(std::span<const std::uint8_t> value) {
        out_.insert(out_.end(), value.begin(), value.end());
    }
    void zeros(std::size_t count) { out_.insert(out_.end(), count, std::uint8_t{0}); }

    [[nodiscard]] std::size_t size() const { return out_.size(); }
    void patch_u16(std::size_t at, std::uint16_t value) {
        PLANED_ASSERT(at < out_.size());
        PLANED_ASSERT(out_.size() - at >= 2);
        out_[at] = static_cast<std::uint8_t>(value >> 8U);
        out_[at + 1] = static_cast<std::uint8_t>(value & 0xFFU);
    }

private:
    void write_big(std::uint64_t value, unsigned width) {
        for (unsigned i = width; i-- > 0;) {
            out_.push_back(static_cast<std::uint8_t>((value >> (8U * i)) & 0xFFU));
        }
    }

    std::vector<std::uint8_t>& out_;
};

}  // namespace planed
