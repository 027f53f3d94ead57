// SPDX-License-Identifier: Apache-2.0
// One opened plug-in: every call of it goes through here, where it is measured. One that takes too
// long or answers nonsense gets a strike; with the last one it is fenced, and never called again
// but to be closed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/result.hpp"
#include "planed/plugin.h"
#include "plugin/meter.hpp"
#include "plugin/view.hpp"
#include "telemetry/note.hpp"

namespace planed::plugin {

struct Hooks {
    std::string version{};  // Of planed.
    Meter meter;
    std::function<void(const Note&)> log;
};

enum class Answer : std::uint8_t { Abstain, Allow, Deny };

struct Judgement {
    Answer answer = Answer::Abstain;
    std::string why{};  // Of a denial.
};

class Instance {
public:
    using Options = std::map<std::string, std::string>;

    /// `name` is what it is called here; `hooks` outlives it. Errors, without the path: an option
    /// that it does not know, or its own words.
    static Result<std::unique_ptr<Instance>> open(const planed_plugin& plugin,
                                                  std::string name,
                                                  const Options& options,
                                                  const Hooks& hooks);
    ~Instance();  // Closes it.
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    Instance(Instance&&) = delete;
    Instance& operator=(Instance&&) = delete;

    Judgement judge(const planed_host& host);  // Abstains if it is none, or fenced.
    void tell(const planed_change& change);    // Nothing if it does not observe, or is fenced.

    [[nodiscard]] bool judges() const { return plugin_.judge != nullptr; }
    [[nodiscard]] bool observes() const { return plugin_.changed != nullptr; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::string_view version() const { return plugin_.version; }
    [[nodiscard]] const Totals& totals() const { return totals_; }
    /// Why it is not called any more; empty: it is.
    [[nodiscard]] const std::string& fenced() const { return fenced_; }

private:
    Instance(const planed_plugin& plugin, std::string name, const Hooks& hooks)
        : plugin_(plugin), name_(std::move(name)), hooks_(hooks) {}

    static void say(void* instance, std::int32_t level, const char* text);
    void check_time(std::string_view function, const Reading& before);
    void strike(std::string what);

    const planed_plugin& plugin_;
    std::string name_;
    const Hooks& hooks_;
    void* self_ = nullptr;
    bool opened_ = false;
    Totals totals_;
    std::string fenced_;
};

}  // namespace planed::plugin
