// SPDX-License-Identifier: Apache-2.0
// The whole contract between planed and a plug-in, in plain C (C11 and C++20 compile it alike). The
// README of the plug-ins has an example to be copied; this file says what is promised.
//
// A plug-in is a shared object with one exported function, planed_plugin_entry(). It may be a
// *judge* (asked of each host whether it may have a route), an *observer* (told of hosts and routes
// that have changed), or both.
//
// Life. Opened once, when planed starts; never unloaded; closed when planed ends, in reverse order.
// A change of `plugins:` in planed.yaml takes effect at the next start. One that is configured
// twice is opened twice: what belongs to one of them has its place behind *self.
//
// Threads. All functions of a plug-in are called from one thread, never two at a time. It is
// planed's only one: while a function runs, no route is withdrawn. A plug-in may have threads of
// its own, which must not call anything of planed. The process ends soon after close().
//
// Time. judge() and changed() have PLANED_CALL_MAX_US. They must not wait: not for a file, a
// network, or a lock that is held long. A call that takes longer is a *strike*, if it computed or
// waited for so long; that the machine did not let planed run is none. An answer that means nothing
// is one, too. After PLANED_STRIKES_MAX the plug-in is *fenced*: it is not called any more until
// planed is started again. A fenced judge abstains. open() and close() may take a while: planed
// waits for them.
//
// Memory. What planed passes is valid during the call only; copy what is to be kept. Neither side
// frees memory of the other. Text is UTF-8 and ends with NUL. What planed_plugin_entry() returns
// never changes and stays for ever.
//
// Errors. open() returns other than 0 and puts a sentence into `error`: planed says it and does not
// start. Nothing may be thrown: an exception that leaves a plug-in ends planed.
//
// Growth. Structures grow at their end, and `size` is how much of one there is: a plug-in compares
// before it reads what was added after its ABI began. PLANED_PLUGIN_ABI changes when that is not
// enough; planed takes its own ABI only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLANED_PLUGIN_ABI 1U

// The one symbol that a plug-in exports: compile it with -fvisibility=hidden.
#define PLANED_PLUGIN_EXPORT __attribute__((visibility("default")))

// Microseconds that a call of judge() or changed() may take.
#define PLANED_CALL_MAX_US 1000
#define PLANED_STRIKES_MAX 3

// Levels of say(). An error is something that a person must mend.
enum { PLANED_ERROR = 0, PLANED_WARN = 1, PLANED_INFO = 2, PLANED_DEBUG = 3 };

// An entry of `options:`. Numbers are text, too, as they are written in planed.yaml.
struct planed_option {
    const char* key;
    const char* value;
};

// What open() gets.
struct planed_start {
    uint32_t size;               // sizeof(struct planed_start) of planed.
    uint32_t abi;                // PLANED_PLUGIN_ABI of planed.
    const char* planed_version;  // "0.1.0"
    const struct planed_option*
        options;  // In the order of their keys; none that the plug-in does not know.
    size_t option_count;
    // A line of planed's log, `plugin.says plugin=NAME text="…"`. Only while a function of the
    // plug-in runs, and only from the thread in which it does. `daemon` is the one below. Both are
    // valid until close() has returned.
    void (*say)(void* daemon, int32_t level, const char* text);
    void* daemon;
};

// A neighbour that planed has seen in the kernel's table, or heard speak ARP or ND. It has a MAC,
// and may be on an interface that planed does not serve.
struct planed_host {
    uint32_t size;        // sizeof(struct planed_host) of planed.
    uint32_t family;      // 4 or 6.
    uint8_t address[16];  // In network byte order; of IPv4 the first four, the others are zero.
    uint8_t mac[6];
    uint8_t zero[2];
    const char* address_text;  // "10.0.0.5", "fd00::5"
    const char* mac_text;      // "02:00:00:00:00:05"
    const char*
        interface_name;  // "Vlan100"; empty while planed does not know it yet: it asks again.
};

// Answers of judge(). Judges are asked in the order of planed.yaml, and the first that allows or
// denies decides: an allowing judge is an exception from those after it. If all abstain the host is
// allowed, as without judges. Allowed does not mean announced: all of planed's own conditions hold
// as well.
enum { PLANED_ABSTAIN = 0, PLANED_ALLOW = 1, PLANED_DENY = 2 };

// What a change is of.
enum { PLANED_HOST = 1, PLANED_ROUTE = 2 };

// A host or a route, as it is now. Observers are told of each once when it appears, whenever
// something that is here has changed, and when it is gone. Changes that follow each other faster
// than they are told are told as one.
struct planed_change {
    uint32_t size;      // sizeof(struct planed_change) of planed.
    uint32_t kind;      // PLANED_HOST or PLANED_ROUTE.
    int64_t at_us;      // Microseconds since 1970, UTC.
    uint32_t gone;      // 1: it is no more; what is below `address` and `prefix` is empty then.
    uint32_t eligible;  // Host: 1, it may have a route. Route: 1, zebra has installed it.
    const char* vrf;    // "default", or the VRF device's name.
    const char* interface_name;  // Host: where it is. Route: next hop; empty: not known any more.
    const char* address;         // Host: "10.0.0.5". Empty for a route.
    const char* prefix;          // Route: "10.0.0.5/32". Empty for a host.
    const char* mac;             // Host; empty: unknown.
    const char* port;            // Host: the bridge port it is behind; empty: unknown.
    const char* origin;          // kernel snooped static evpn remembered
    const char* state;           // Route: pending installed rejected withdrawing. Empty for a host.
    const char* reason;          // As in `planectl hosts` and `planectl routes`.
};

struct planed_plugin {
    uint32_t abi;         // PLANED_PLUGIN_ABI
    uint32_t size;        // sizeof(struct planed_plugin)
    const char* name;     // For log and status: 1 to 32 of a-z, 0-9 and _.
    const char* version;  // Up to 32 characters.
    // The keys of `options:` that it knows, ended by NULL; NULL: none. planed refuses others.
    const char* const* options;

    // 0: done, and *self is what the other functions get. Else planed does not start, close() is
    // not called, and `error` (error_size bytes, NUL at first) says why. May be NULL.
    int32_t (*open)(const struct planed_start* start, void** self, char* error, size_t error_size);

    // PLANED_ABSTAIN, PLANED_ALLOW or PLANED_DENY. `why` (why_size bytes, NUL at first) is for
    // PLANED_DENY: part of a sentence that operators read beside the host, such as
    // "outside 10.0.0.0/24". Asked of a host each time that planed sees it, at least once a minute:
    // the last answer counts, and a denied host that has a route loses it. NULL: no judge.
    int32_t (*judge)(void* self, const struct planed_host* host, char* why, size_t why_size);

    // Told after the turn in which it changed, at most some hundred a turn. NULL: no observer.
    void (*changed)(void* self, const struct planed_change* change);

    // The last call. May be NULL.
    void (*close)(void* self);
};

// A constant, the same each time.
PLANED_PLUGIN_EXPORT const struct planed_plugin* planed_plugin_entry(void);

#ifdef __cplusplus
}
#endif
