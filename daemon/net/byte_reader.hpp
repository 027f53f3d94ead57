// SPDX-License-Identifier: Apache-2.0
// Reads big-endian fields from bytes. It fails sticky: after the first read past the end every read
// gives zero and `ok()` stays false, so a decoder reads a whole structure and asks once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace planed {

class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint8_t u8() { return static_cast<std::uint8_t>(read_big(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(read_big(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(read_big(4)); }
    std::uint64_t u64() { return read_big(8); }
    /// A field that the sender left in host byte order (ZAPI has a few).
    std::uint32_t u32_host() {
        std::uint32_t value = 0;
        const auto source = take(sizeof value);
        if (!source.empty()) {
            std::memcpy(&value, source.data(), sizeof value);
        }
        return value;
    }
    /// `count` bytes, or none and failed.
    std::span<const std::uint8_t> take(std::size_t count) {
        if (failed_ || count > remaining()) {
            failed_ = true;
            return {};
        }
        const auto result = bytes_.subspan(offset_, count);
        offset_ += count;
        return result;
    }
    void skip(std::size_t count) { (void)take(count); }
    std::span<const std::uint8_t> rest() { return take(remaining()); }

    [[nodiscard]] bool ok() const { return !failed_; }
    [[nodiscard]] std::size_t offset() const { return offset_; }
    [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }

private:
    std::uint64_t read_big(std::size_t width) {
        std::uint64_t value = 0;
        for (const std::uint8_t byte : take(width)) {
            value = (value << 8U) | byte;
        }
        return value;
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t offset_ = 0;
    bool failed_ = false;
};

}  // namespace planed
