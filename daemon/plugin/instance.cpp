// SPDX-License-Identifier: Apache-2.0
#include "plugin/instance.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include <fmt/core.h>

#include "net/utf8.hpp"

namespace planed::plugin {
namespace {

constexpr std::size_t kTextMax = 256;  // With its NUL.
constexpr std::size_t kSaidMax = 1024;
constexpr Duration kCallMax = std::chrono::microseconds(PLANED_CALL_MAX_US);
constexpr std::uint64_t kStrikesMax = PLANED_STRIKES_MAX;

// Room for words of a plug-in, and what of them can be shown.
class Words {
public:
    char* data() { return text_.data(); }
    [[nodiscard]] static std::size_t size() { return kTextMax; }
    [[nodiscard]] std::string text() const;

private:
    std::array<char, kTextMax> text_{};
};

// Log lines, Redis and the API take whole characters only; a quotation mark would end the word.
std::string shown(std::string_view text) {
    std::string result(text.substr(0, utf8_length(text)));
    std::ranges::replace_if(
        result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
    std::ranges::replace(result, '"', '\'');
    return result;
}

std::string Words::text() const {
    const auto end = std::find(text_.begin(), text_.end() - 1, '\0');
    return shown({text_.data(), static_cast<std::size_t>(end - text_.begin())});
}

bool knows(const planed_plugin& plugin, const std::string& key) {
    for (const char* const* known = plugin.options; known != nullptr && *known != nullptr;
         ++known) {
        if (key == *known) {
            return true;
        }
    }
    return false;
}

std::string known_options(const planed_plugin& plugin) {
    std::string keys;
    for (const char* const* known = plugin.options; known != nullptr && *known != nullptr;
         ++known) {
        keys += keys.empty() ? "" : ", ";
        keys += *known;
    }
    return keys.empty() ? "it knows none" : "it knows " + keys;
}

Level level_of(std::int32_t level) {
    switch (level) {
        case PLANED_ERROR: return Level::Error;
        case PLANED_WARN: return Level::Warn;
        case PLANED_INFO: return Level::Info;
        default: return Level::Debug;
    }
}

double milliseconds(Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

Result<std::unique_ptr<Instance>> Instance::open(const planed_plugin& plugin,
                                                 std::string name,
                                                 const Options& options,
                                                 const Hooks& hooks) {
    std::vector<planed_option> told;
    for (const auto& [key, value] : options) {
        if (!knows(plugin, key)) {
            return fail(Errc::Invalid,
                        fmt::format("unknown option \"{}\": {}", key, known_options(plugin)));
        }
        told.push_back({.key = key.c_str(), .value = value.c_str()});
    }
    std::unique_ptr<Instance> instance(new Instance(plugin, std::move(name), hooks));
    const planed_start start{.size = sizeof(planed_start),
                             .abi = PLANED_PLUGIN_ABI,
                             .planed_version = hooks.version.c_str(),
                             .options = told.data(),
                             .option_count = told.size(),
                             .say = &Instance::say,
                             .daemon = instance.get()};
    Words error;
    const std::int32_t code =
        plugin.open == nullptr ? 0
                               : plugin.open(&start, &instance->self_, error.data(), Words::size());
    if (code != 0) {
        const std::string why = error.text();
        return fail(Errc::Refused,
                    why.empty()
                        ? fmt::format("it cannot be opened, and does not say why ({})", code)
                        : why);
    }
    instance->opened_ = true;
    return instance;
}

Instance::~Instance() {
    if (opened_ && plugin_.close != nullptr) {
        plugin_.close(self_);
    }
}

Judgement Instance::judge(const planed_host& host) {
    if (!judges() || !fenced_.empty()) {
        return {};
    }
    Words why;
    ++totals_.calls;
    const Reading before = hooks_.meter();
    const std::int32_t answer = plugin_.judge(self_, &host, why.data(), Words::size());
    check_time("judge", before);
    if (answer != PLANED_ABSTAIN && answer != PLANED_ALLOW && answer != PLANED_DENY) {
        strike(fmt::format("judge() answered {}, which means nothing", answer));
        return {};
    }
    if (!fenced_.empty() || answer == PLANED_ABSTAIN) {
        return {};
    }
    if (answer == PLANED_ALLOW) {
        return {.answer = Answer::Allow};
    }
    ++totals_.denials;
    const std::string words = why.text();
    return {.answer = Answer::Deny, .why = words.empty() ? "no reason given" : words};
}

void Instance::tell(const planed_change& change) {
    if (!observes() || !fenced_.empty()) {
        return;
    }
    ++totals_.calls;
    const Reading before = hooks_.meter();
    plugin_.changed(self_, &change);
    check_time("changed", before);
}

void Instance::say(void* instance, std::int32_t level, const char* text) {
    const auto* self = static_cast<const Instance*>(instance);
    const std::string_view words = text == nullptr ? std::string_view() : text;
    self->hooks_.log({.level = level_of(level),
                      .id = "plugin.says",
                      .text = fmt::format(
                          "plugin={} text=\"{}\"", self->name_, shown(words.substr(0, kSaidMax)))});
}

// Long by the clock alone is nobody's fault: another had the processor meanwhile.
void Instance::check_time(std::string_view function, const Reading& before) {
    const Reading after = hooks_.meter();
    const Duration took = after.wall - before.wall;
    const Duration busy = after.busy - before.busy;
    if (took <= kCallMax || (busy <= kCallMax && after.waits == before.waits)) {
        return;
    }
    strike(fmt::format("{}() took {:.1f} ms, {}",
                       function,
                       milliseconds(took),
                       busy > kCallMax
                           ? fmt::format("{:.1f} ms of them computing", milliseconds(busy))
                           : std::string("waiting")));
}

void Instance::strike(std::string what) {
    ++totals_.strikes;
    hooks_.log(
        {.level = Level::Warn,
         .id = "plugin.strike",
         .text = fmt::format(
             "plugin={} strike={} of={} text=\"{}\"", name_, totals_.strikes, kStrikesMax, what)});
    if (totals_.strikes >= kStrikesMax) {
        fenced_ = std::move(what);
    }
}

}  // namespace planed::plugin
