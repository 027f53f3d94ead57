// SPDX-License-Identifier: Apache-2.0
// Runs a classic BPF program over a frame as the kernel would (linux/filter.h), for the few
// instructions that our filter has; any other is a mistake of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <linux/filter.h>

#include "net/assert.hpp"

namespace planed {

/// How many bytes of the frame are kept; 0: it is dropped.
inline std::uint32_t run_filter(std::span<const sock_filter> program,
                                std::span<const std::uint8_t> frame) {
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0;; ++at) {
        PLANED_ASSERT(at < program.size());
        const sock_filter& step = program[at];
        const std::size_t width = step.code == (BPF_LD | BPF_ABS | BPF_H) ? 2 : 1;
        switch (step.code) {
            case BPF_LD | BPF_ABS | BPF_H:
            case BPF_LD | BPF_ABS | BPF_B:
                if (step.k + width > frame.size()) {
                    return 0;
                }
                accumulator = 0;
                for (std::size_t i = 0; i < width; ++i) {
                    accumulator = (accumulator << 8U) | frame[step.k + i];
                }
                break;
            case BPF_JMP | BPF_JEQ | BPF_K: at += accumulator == step.k ? step.jt : step.jf; break;
            case BPF_RET | BPF_K: return step.k;
            default: PLANED_ASSERT(false);
        }
    }
}

}  // namespace planed
