// SPDX-License-Identifier: Apache-2.0
// UPDATEs that others made, both ways.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "net/byte_reader.hpp"
#include "unit/bgp/expected_updates.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

std::string label_of(const Vector& vector) {
    return vector.origin + " | " + vector.name;
}

/// Those that came over eBGP have a path.
PeerKind peer_of(const Update& update) {
    return update.path.attributes.as_path.empty() ? PeerKind::Internal : PeerKind::External;
}

Bytes encoded(const Update& update) {
    Bytes out;
    if (update.end_of_rib) {
        encode_end_of_rib(out);
    } else if (!update.withdrawn.empty()) {
        EXPECT_EQ(encode_withdrawn(update.withdrawn, kMessageMax, out), update.withdrawn.size());
    } else {
        EXPECT_EQ(encode_reachable(update.path, update.reachable, kMessageMax, out),
                  update.reachable.size());
    }
    return out;
}

/// The message with its attributes in our order and without extended lengths that are not needed:
/// octet for octet the same values.
Bytes in_our_order(const Vector& vector) {
    ByteReader in(body_of(vector.bytes));
    in.skip(in.u16());
    ByteReader attributes(in.take(in.u16()));
    std::map<unsigned, Bytes> ordered;
    while (attributes.remaining() != 0) {
        const std::uint8_t flags = attributes.u8();
        const std::uint8_t type = attributes.u8();
        const bool is_long = (flags & AttributeFlags::kExtendedLength) != 0;
        const auto value = attributes.take(is_long ? attributes.u16() : attributes.u8());
        Bytes whole{static_cast<std::uint8_t>(flags & ~AttributeFlags::kExtendedLength),
                    type,
                    static_cast<std::uint8_t>(value.size())};
        whole.insert(whole.end(), value.begin(), value.end());
        EXPECT_LT(value.size(), 256U);
        ordered[type == AttributeType::kMpReach ? 0 : type] = whole;
    }
    Bytes all;
    for (const auto& [type, whole] : ordered) {
        all.insert(all.end(), whole.begin(), whole.end());
    }
    Bytes body{0, 0, 0, static_cast<std::uint8_t>(all.size())};
    body.insert(body.end(), all.begin(), all.end());
    return message_of(MessageType::Update, body);
}

TEST(UpdateVectors, AreAllKnown) {
    const auto known = expected::updates();
    const auto vectors = load_vectors("updates");

    EXPECT_EQ(vectors.size(), known.size());
    for (const Vector& vector : vectors) {
        EXPECT_TRUE(known.contains(label_of(vector))) << label_of(vector);
    }
}

TEST(UpdateVectors, AreRead) {
    const auto known = expected::updates();
    for (const Vector& vector : load_vectors("updates")) {
        const Update& want = known.at(label_of(vector));

        const auto update = decode_update(body_of(vector.bytes), peer_of(want));

        ASSERT_TRUE(update) << label_of(vector) << ": " << update.error().error.text;
        EXPECT_EQ(update->reachable, want.reachable) << label_of(vector);
        EXPECT_EQ(update->withdrawn, want.withdrawn) << label_of(vector);
        EXPECT_EQ(*update, want) << label_of(vector);
    }
}

TEST(UpdateVectors, AreWrittenOctetByOctet) {
    const auto known = expected::updates();
    for (const Vector& vector : load_vectors("updates")) {
        const bool is_our_model = vector.origin == "speaker";

        EXPECT_EQ(encoded(known.at(label_of(vector))),
                  is_our_model ? vector.bytes : in_our_order(vector))
            << label_of(vector);
    }
}

TEST(UpdateVectors, CutAnywhereAreNeverTakenForWhole) {
    const auto known = expected::updates();
    for (const Vector& vector : load_vectors("updates")) {
        const auto body = body_of(vector.bytes);
        const PeerKind peer = peer_of(known.at(label_of(vector)));
        for (std::size_t size = 0; size < body.size(); ++size) {
            const auto update = decode_update(body.first(size), peer);

            ASSERT_FALSE(update.has_value()) << label_of(vector) << " cut to " << size;
            EXPECT_EQ(update.error().notification.code, Notification::kUpdate);
        }
    }
}

/// With the length of the attributes set right, a cut is between two attributes or inside of one.
TEST(UpdateVectors, CutWithItsLengthSetRightIsAFaultOrHasLessInIt) {
    constexpr std::size_t kLengths = 4;
    const auto known = expected::updates();
    for (const Vector& vector : load_vectors("updates")) {
        const Update& want = known.at(label_of(vector));
        const auto body = body_of(vector.bytes);
        for (std::size_t size = kLengths; size < body.size(); ++size) {
            Bytes cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
            cut[3] = static_cast<std::uint8_t>(size - kLengths);

            const auto update = decode_update(cut, peer_of(want));

            if (update) {
                EXPECT_NE(*update, want) << label_of(vector) << " cut to " << size;
                EXPECT_LE(update->reachable.size() + update->withdrawn.size(),
                          want.reachable.size() + want.withdrawn.size());
            }
        }
    }
}

TEST(UpdateVectors, WithAFlippedBitAreReadOrRefusedWithAPlace) {
    const auto known = expected::updates();
    for (const Vector& vector : load_vectors("updates")) {
        const PeerKind peer = peer_of(known.at(label_of(vector)));
        for (std::size_t bit = kHeaderSize * 8; bit < vector.bytes.size() * 8; ++bit) {
            Bytes bytes = vector.bytes;
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));

            const auto update = decode_update(std::span(bytes).subspan(kHeaderSize), peer);

            if (!update) {
                ASSERT_EQ(update.error().notification.code, Notification::kUpdate);
                ASSERT_GE(update.error().error.offset.value(), kHeaderSize);
                ASSERT_LE(update.error().error.offset.value(), bytes.size());
                continue;
            }
            for (const Fault& fault : update->faults) {
                ASSERT_LE(fault.error.offset.value(), bytes.size());
                ASSERT_NE(fault.error.text.find("(byte "), std::string::npos);
            }
        }
    }
}

}  // namespace
}  // namespace planed::bgp
