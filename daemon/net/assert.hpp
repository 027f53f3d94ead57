// SPDX-License-Identifier: Apache-2.0
// PLANED_ASSERT: what only a bug of ours can break. On in every build: it prints the place and
// aborts, systemd restarts the daemon, and routes survive by zebra's client graceful restart.
#pragma once

#include <cstdio>
#include <cstdlib>

#define PLANED_ASSERT(condition)                                                            \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            (void)std::fprintf(                                                             \
                stderr, "assertion failed: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
            std::abort();                                                                   \
        }                                                                                   \
    } while (false)
