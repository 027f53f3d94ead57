// SPDX-License-Identifier: Apache-2.0
// One packet socket on one interface, non-blocking: the ARP, NS and NA frames that come in by it,
// and any frame out. Knows nothing of what the bytes mean. Move-only; closes its descriptor.
//
// On a bridge port it hears what the port receives before the bridge does: whoever it is for,
// tagged as it came, and of VLANs that the bridge will not have there. A server's frames are heard
// once: not again where the bridge floods them, and never our own. What is sent goes out as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sys/socket.h>

#include <linux/if_packet.h>

#include "net/ids.hpp"
#include "net/result.hpp"
#include "packet/filter.hpp"
#include "packet/frame.hpp"

namespace planed::io {

/// Room for what one receive() may bring: one for all sockets.
class FrameBatch {
public:
    /// A turn of this many takes a storm's 50,000 frames a second in 800 steps.
    static constexpr std::size_t kFrames = 64;

    explicit FrameBatch(std::size_t frames = kFrames);
    [[nodiscard]] std::size_t size() const { return slots_.size(); }

private:
    friend class PacketSocket;

    struct Slot {
        std::array<std::uint8_t, packet::kFrameMax> bytes;
        alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(tpacket_auxdata))> control;
        iovec part;
    };
    void prepare();

    std::vector<Slot> slots_;
    std::vector<mmsghdr> headers_;
    std::vector<packet::Frame> frames_;
};

class PacketSocket {
public:
    /// 5,000 frames: 100 ms of a storm of 50,000 a second. A flooded interface costs twice this
    /// much memory at most, as the kernel accounts it (socket(7)).
    static constexpr int kReceiveBuffer = 2 * 1024 * 1024;

    enum class Multicast : std::uint8_t {
        Joined,  // What the interface listens to anyway. Bridge ports hear everything.
        All,     // All groups: on a routed port, others' solicitations. Announced as a link change.
    };
    struct Options {
        IfIndex link = IfIndex::None;
        int receive_buffer = kReceiveBuffer;  // Bytes.
        Multicast multicast = Multicast::Joined;
    };
    enum class Kind : std::uint8_t {
        Nothing,  // Read it all.
        Frames,   // `frames`, in the order in which they came.
        Down,     // The interface is down; frames come again when it is up, with nothing to do.
        Gone,     // It has been deleted or has left this network namespace: close. See is_gone().
        Failed,   // Any other error, see `system_errno`.
    };
    struct Received {
        Kind kind = Kind::Nothing;
        std::span<const packet::Frame> frames{};  // Into the batch, until its next use.
        int system_errno = 0;
    };
    struct Statistics {
        std::uint64_t received = 0;  // Frames that passed the filter and found room.
        std::uint64_t dropped = 0;   // That found none.
        bool operator==(const Statistics&) const = default;
    };

    /// Needs CAP_NET_RAW. Not Ethernet: Errc::Unsupported. An interface that is down is no error:
    /// the first receive() says so.
    static Result<PacketSocket> open(const Options& options);
    ~PacketSocket();
    PacketSocket(PacketSocket&& other) noexcept;
    PacketSocket& operator=(PacketSocket&& other) noexcept;
    PacketSocket(const PacketSocket&) = delete;
    PacketSocket& operator=(const PacketSocket&) = delete;

    /// Who watches a duplicate of it closes that too, or the kernel goes on filling its queue.
    [[nodiscard]] int fd() const { return fd_; }
    /// At most a batch, by one system call. Down, Gone and Failed are told once each time that they
    /// happen; then there is nothing until something new does.
    Received receive(FrameBatch& batch);
    /// A whole Ethernet frame out of this interface, past any bridge that it is a port of. ENETDOWN
    /// while it is down, ENXIO once it is gone, ENOBUFS or EAGAIN where its queue is full. Without
    /// a carrier, and for a moment after it has come up, the frame is lost and no error says so.
    Result<void> send(std::span<const std::uint8_t> frame);
    /// The interface is no more, and the socket will hear nothing again. The kernel tells it by
    /// receive() only where the interface was up: Gone, or Down if it was asked too soon.
    [[nodiscard]] bool is_gone() const;
    /// Since the last call.
    Statistics statistics();
    /// Bytes, as the kernel accounts them: twice what was granted (socket(7)).
    [[nodiscard]] int receive_buffer() const;

private:
    explicit PacketSocket(int fd) : fd_(fd) {}

    [[nodiscard]] Received without_frames(int error) const;

    int fd_ = -1;
};

}  // namespace planed::io
