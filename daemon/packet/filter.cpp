// SPDX-License-Identifier: Apache-2.0
#include "packet/filter.hpp"

#include "packet/frame.hpp"

namespace planed::packet {
namespace {

constexpr std::uint32_t kEthernetType = 12;  // Offsets from the frame's start, untagged.
constexpr std::uint32_t kIpv6NextHeader = 20;
constexpr std::uint32_t kIcmpv6Type = 54;
constexpr std::uint32_t kTagSize = 4;

constexpr std::size_t kUntagged = 2;
constexpr std::size_t kTagged = 9;
constexpr std::size_t kDrop = 17;
constexpr std::size_t kPass = 18;

constexpr sock_filter load(unsigned width, std::uint32_t offset) {
    return {.code = static_cast<std::uint16_t>(BPF_LD | BPF_ABS | width),
            .jt = 0,
            .jf = 0,
            .k = offset};
}

constexpr sock_filter leave_with(std::uint32_t bytes) {
    return {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = bytes};
}

struct Fork {
    std::uint32_t value = 0;
    std::size_t equal = 0;  // Where to, as a place in the program.
    std::size_t other = 0;
};

// Jumps are written as distances from the next instruction.
constexpr sock_filter fork_at(std::size_t at, const Fork& fork) {
    return {.code = BPF_JMP | BPF_JEQ | BPF_K,
            .jt = static_cast<std::uint8_t>(fork.equal - at - 1),
            .jf = static_cast<std::uint8_t>(fork.other - at - 1),
            .k = fork.value};
}

// Seven instructions: the frame's type is loaded, its payload `shift` bytes later than untagged.
constexpr void write_branch(Filter& program, std::size_t at, std::uint32_t shift) {
    program[at] = fork_at(at, {.value = kTypeArp, .equal = kPass, .other = at + 1});
    program[at + 1] = fork_at(at + 1, {.value = kTypeIpv6, .equal = at + 2, .other = kDrop});
    program[at + 2] = load(BPF_B, kIpv6NextHeader + shift);
    program[at + 3] = fork_at(at + 3, {.value = 58, .equal = at + 4, .other = kDrop});
    program[at + 4] = load(BPF_B, kIcmpv6Type + shift);
    program[at + 5] = fork_at(at + 5, {.value = 135, .equal = kPass, .other = at + 6});
    program[at + 6] = fork_at(at + 6, {.value = 136, .equal = kPass, .other = kDrop});
}

constexpr Filter make() {
    Filter program{};
    program[0] = load(BPF_H, kEthernetType);
    program[1] = fork_at(1, {.value = kTypeVlan, .equal = kTagged, .other = kUntagged});
    write_branch(program, kUntagged, 0);
    program[kTagged] = load(BPF_H, kEthernetType + kTagSize);
    write_branch(program, kTagged + 1, kTagSize);
    program[kDrop] = leave_with(0);
    program[kPass] = leave_with(kFrameMax);
    return program;
}

constexpr Filter kFilter = make();

}  // namespace

const Filter& filter() {
    return kFilter;
}

}  // namespace planed::packet
