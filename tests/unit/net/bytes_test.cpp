// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/byte_reader.hpp"
#include "net/byte_writer.hpp"

namespace planed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Bytes = std::vector<std::uint8_t>;

TEST(ByteReader, ReadsBigEndianFieldsInOrder) {
    const Bytes bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xFF};
    ByteReader reader(bytes);

    EXPECT_EQ(reader.u8(), 0x01);
    EXPECT_EQ(reader.u16(), 0x0203);
    EXPECT_EQ(reader.u32(), 0x04050607U);
    EXPECT_EQ(reader.u64(), 0x08090A0B0C0D0E0FU);
    EXPECT_EQ(reader.u8(), 0xFF);
    EXPECT_EQ(reader.remaining(), 0U);
    EXPECT_EQ(reader.offset(), bytes.size());
    EXPECT_TRUE(reader.ok());
}

TEST(ByteReader, ReadsAFieldOfTheSendersByteOrder) {
    const std::uint32_t value = 0x01020304;
    Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    ByteReader reader(bytes);

    EXPECT_EQ(reader.u32_host(), value);
    EXPECT_EQ(reader.u32_host(), 0U);
    EXPECT_FALSE(reader.ok());
}

// Every read, at every length that is too short for it.
TEST(ByteReader, FailsAtTheEndAndStaysFailed) {
    const Bytes bytes{1, 2, 3, 4, 5, 6, 7};
    const std::vector<std::pair<std::size_t, std::function<std::uint64_t(ByteReader&)>>> reads{
        {1, [](ByteReader& r) { return r.u8(); }},
        {2, [](ByteReader& r) { return r.u16(); }},
        {4, [](ByteReader& r) { return r.u32(); }},
        {4, [](ByteReader& r) { return r.u32_host(); }},
        {8, [](ByteReader& r) { return r.u64(); }},
        {3, [](ByteReader& r) { return r.take(3).size(); }}};

    for (const auto& [width, read] : reads) {
        for (std::size_t size = 0; size < std::min(width, bytes.size()); ++size) {
            ByteReader reader{std::span<const std::uint8_t>(bytes).first(size)};

            EXPECT_EQ(read(reader), 0U) << width << " of " << size;
            EXPECT_FALSE(reader.ok());
            EXPECT_EQ(reader.offset(), 0U);
            EXPECT_EQ(reader.u8(), 0U) << "a failed reader gives nothing, though a byte is left";
            EXPECT_FALSE(reader.ok());
        }
    }
}

TEST(ByteReader, TakesAndSkips) {
    const Bytes bytes{1, 2, 3, 4, 5};
    ByteReader reader(bytes);

    reader.skip(1);
    EXPECT_THAT(reader.take(2), ElementsAre(2, 3));
    EXPECT_THAT(reader.take(0), IsEmpty());
    EXPECT_EQ(reader.offset(), 3U);
    EXPECT_THAT(reader.rest(), ElementsAre(4, 5));
    EXPECT_THAT(reader.rest(), IsEmpty());
    EXPECT_TRUE(reader.ok());
    reader.skip(1);
    EXPECT_FALSE(reader.ok());
    EXPECT_THAT(reader.rest(), IsEmpty());
}

TEST(ByteReader, DoesNotWrapAroundOnAHugeCount) {
    const Bytes bytes{1, 2, 3};
    ByteReader reader(bytes);

    (void)reader.u8();
    EXPECT_THAT(reader.take(std::numeric_limits<std::size_t>::max()), IsEmpty());
    EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, ReadsNothingFromNothing) {
    ByteReader reader({});

    EXPECT_TRUE(reader.ok());
    EXPECT_THAT(reader.rest(), IsEmpty());
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.u8(), 0);
    EXPECT_FALSE(reader.ok());
}

TEST(ByteWriter, AppendsBigEndianFields) {
    Bytes out{0xAA};
    ByteWriter writer(out);

    writer.u8(0x01);
    writer.u16(0x0203);
    writer.u32(0x04050607);
    writer.u64(0x08090A0B0C0D0E0F);
    writer.zeros(2);
    writer.bytes(Bytes{0xFE, 0xFF});
    writer.bytes({});

    EXPECT_THAT(
        out,
        ElementsAre(0xAA, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0xFE, 0xFF));
    EXPECT_EQ(writer.size(), out.size());
}

TEST(ByteWriter, WritesWhatTheReaderReads) {
    Bytes out;
    ByteWriter writer(out);
    writer.u64(std::numeric_limits<std::uint64_t>::max());
    writer.u32(0x80000000);
    writer.u16(0x8001);
    writer.u8(0x80);

    ByteReader reader(out);
    EXPECT_EQ(reader.u64(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(reader.u32(), 0x80000000U);
    EXPECT_EQ(reader.u16(), 0x8001);
    EXPECT_EQ(reader.u8(), 0x80);
    EXPECT_TRUE(reader.ok());
}

TEST(ByteWriter, PatchesALengthInPlace) {
    Bytes out;
    ByteWriter writer(out);
    writer.u16(0);
    writer.u8(7);
    writer.u16(0);

    writer.patch_u16(0, 0x0102);
    writer.patch_u16(3, 0x0304);

    EXPECT_THAT(out, ElementsAre(1, 2, 7, 3, 4));
}

TEST(ByteWriterDeathTest, RefusesToPatchOutside) {
    Bytes out{1, 2, 3};
    ByteWriter writer(out);

    EXPECT_DEATH(writer.patch_u16(2, 0), "assertion failed");
    EXPECT_DEATH(writer.patch_u16(3, 0), "assertion failed");
    EXPECT_DEATH(writer.patch_u16(std::numeric_limits<std::size_t>::max(), 0), "assertion failed");
    EXPECT_DEATH(writer.patch_u16(std::numeric_limits<std::size_t>::max() - 1, 0),
                 "assertion failed");
}

}  // namespace
}  // namespace planed
