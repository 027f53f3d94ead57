// SPDX-License-Identifier: Apache-2.0
// Stands in for absl's hash state: keeps what AbslHashValue feeds into it, so that tests see
// whether every field takes part.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace planed {

struct RecordingHash {
    std::vector<std::uint64_t> fed;

    template <class... Values>
    static RecordingHash combine(RecordingHash state, const Values&... values) {
        (state.feed(values), ...);
        return state;
    }

    bool operator==(const RecordingHash&) const = default;

private:
    template <class Value>
    void feed(const Value& value) {
        if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>) {
            fed.push_back(static_cast<std::uint64_t>(value));
        } else if constexpr (requires { value.begin(); }) {
            for (const auto& element : value) {
                feed(element);
            }
        } else {
            *this = AbslHashValue(std::move(*this), value);
        }
    }
};

template <class Value>
RecordingHash hash_of(const Value& value) {
    return AbslHashValue(RecordingHash{}, value);
}

}  // namespace planed
