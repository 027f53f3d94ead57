// SPDX-License-Identifier: Apache-2.0
// Drives one outside table (zebra's RIB, the kernel's proxy table, Redis) from what it holds to
// what we want. Callers state wishes and observations in any order, any number of times; the
// operations follow from the difference. Never does I/O, never reads a clock.
//
// Rules, each a test in tests/unit/core/reconciler_test.cpp:
//  1. One operation in flight per key. A newer wish waits for the answer, except a withdrawal,
//  which
//     never waits: the sink handles the operations of one key in order.
//  2. A wish taken back before it was sent sends nothing.
//  3. Busy retries after 100 ms, doubling to 25.6 s. Rejected stays quiet until the wish changes,
//  the
//     sink says otherwise, or an audit gives it one more try.
//  4. forget_actual() on a lost session: everything wanted is pushed again; late answers count not.
//  5. What an audit finds and nobody wants is deleted.
//  6. desired == actual is silence.
//  7. An answer that does not come within `answer_timeout`, though later operations are answered or
//     nothing is, makes the operation overdue; the next audit decides what became of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/indexed_map.hpp"
#include "net/assert.hpp"
#include "net/time.hpp"

namespace planed {

enum class OpResult : std::uint8_t { Done, Busy, Rejected };

/// What a reader may know of one key.
enum class SinkState : std::uint8_t { Absent, Pending, Held, Rejected, Withdrawing };

template <class Key, class Value>
class Reconciler {
public:
    struct Op {
        std::uint64_t id = 0;
        Key key{};
        std::optional<Value> put{};  // Absent: delete.
        bool operator==(const Op&) const = default;
    };

    struct Options {
        std::size_t in_flight_max = 0;  // Puts only; a withdrawal never waits.
        Duration answer_timeout = 2s;   // Then the operation is overdue.
        Duration audit_settle = 1s;  // An audit says nothing of what was sent this shortly before.
        Duration retry_first = 100ms;
        Duration retry_max = 25600ms;
        Duration steady_after = 30s;  // An operation older than this clears the back-off.
    };

    explicit Reconciler(const Options& options) : options_(options) {}

    void want(const Key& key, Value value) {
        Entry& entry = entry_for(key);
        if (entry.desired == value) {
            return;
        }
        wanted_ += entry.desired ? 0U : 1U;
        entry.desired = std::move(value);
        entry.rejected = false;
        cancel_retry(key, entry);  // It was the old wish's.
        enqueue(key, entry);
        note_wish(key, entry);
    }

    void unwant(const Key& key) {
        Entry* found = entries_.find(key);
        if (found == nullptr || !found->desired) {
            return;
        }
        Entry& entry = *found;
        --wanted_;
        entry.desired.reset();
        entry.rejected = false;
        entry.reinstall = false;
        cancel_retry(key, entry);
        note(key, entry);
        if (!needs_delete(entry) && entry.in_flight == 0) {
            forget_if_idle(key, entry);
            return;
        }
        enqueue(key, entry);
    }

    /// The sink's side of this key is in doubt though it says otherwise: delete, wait, put again.
    void reinstall(const Key& key) {
        Entry* found = entries_.find(key);
        if (found == nullptr || !found->desired) {
            return;
        }
        Entry& entry = *found;
        entry.reinstall = true;
        cancel_retry(key, entry);
        enqueue(key, entry);
    }

    /// The same, where a gap would do more harm than a doubt: put again what is there already.
    void refresh(const Key& key) {
        Entry* found = entries_.find(key);
        if (found != nullptr && found->desired && found->in_flight == 0) {
            found->held = Held::Maybe;
            enqueue(key, *found);
            note(key, *found);
        }
    }

    /// The sink prefers something else to what it took from us before.
    void reject(const Key& key, TimePoint now) {
        Entry* found = entries_.find(key);
        if (found != nullptr && found->in_flight == 0) {
            found->held = Held::Maybe;
            found->rejected = true;
            found->answered_at = now;
            note(key, *found);
        }
    }

    /// What the sink was seen to hold: an audit's row, or word of a change that nobody asked for.
    void observe(const Key& key, std::optional<Value> actual, TimePoint now) {
        Entry* found = entries_.find(key);
        if (found == nullptr) {
            if (actual) {
                Entry& entry = entry_for(key);
                entry.audited = audit_;
                entry.answered_at = now;
                set_held(entry, std::move(actual));
                enqueue(key, entry);
                note(key, entry);
            }
            return;
        }
        Entry& entry = *found;
        entry.audited = audit_;
        const SinkState before = state_of(entry);
        if (entry.in_flight != 0) {
            settle_doubt(key, entry, actual, now);
        } else {
            settle_observation(key, entry, std::move(actual), now);
        }
        if (state_of(entry) != before) {
            entry.answered_at = now;
        }
        note(key, entry);
        forget_if_idle(key, entry);
    }

    void audit_begin(TimePoint now) {
        ++audit_;
        audit_started_ = now;
    }
    /// Of what an audit sees: is the sink not as it should be, with nothing under way that explains
    /// it? No operation waits to be handed out or to be answered, or was sent too shortly before
    /// the audit began. An answer that is overdue explains nothing. Asked before observe().
    [[nodiscard]] bool differs(const Key& key, const std::optional<Value>& actual) const {
        const Entry* found = entries_.find(key);
        if (found == nullptr) {
            return actual.has_value();
        }
        const Entry& entry = *found;
        const bool waits = entry.queued_put || entry.queued_delete;
        const bool answer_is_due = entry.in_flight != 0 && !entry.overdue;
        const bool settled = entry.sent_at + options_.audit_settle <= audit_started_;
        return entry.desired != actual && !waits && !answer_is_due && settled;
    }
    /// Every key that the sink did not show since audit_begin is absent there, but for those that
    /// we touched too shortly before. `missing_key(key)` is told of each before it is observed.
    template <class Missing>
    void audit_end(TimePoint now, Missing missing_key) {
        std::vector<Key> missing;
        entries_.for_each([&](const Key& key, const Entry& entry) {
            const bool settled = entry.sent_at + options_.audit_settle <= audit_started_;
            if (entry.audited != audit_ && settled &&
                (entry.in_flight != 0 || entry.held != Held::No)) {
                missing.push_back(key);
            }
        });
        for (const Key& key : missing) {
            missing_key(key);
            observe(key, std::nullopt, now);
        }
    }
    void audit_end(TimePoint now) {
        audit_end(now, [](const Key& /*key*/) {});
    }

    void complete(const Op& op, OpResult result, TimePoint now) {
        Entry* found = entries_.find(op.key);
        if (found == nullptr || found->in_flight != op.id) {
            return;  // An answer to an operation of a session that is gone, or one that was
                     // overtaken.
        }
        last_answer_ = now;
        newest_answered_ = std::max(newest_answered_, found->sent_at);
        found->answered_at = now;
        finish(op.key, *found, result, now);
        note(op.key, *found);
        forget_if_idle(op.key, *found);
    }

    void forget_actual() {
        ready_puts_.clear();
        ready_deletes_.clear();
        waiting_.clear();
        retries_.clear();
        in_flight_puts_ = 0;
        overdue_ = 0;
        entries_.for_each([this](const Key& key, Entry& entry) {
            if (entry.in_flight != 0 || entry.held != Held::No) {
                entry.held = Held::Maybe;
            }
            entry.in_flight = 0;
            entry.queued_put = false;
            entry.queued_delete = false;
            entry.overdue = false;
            entry.rejected = false;
            entry.reinstall = false;
            entry.attempts = 0;
            entry.retry_at.reset();
            enqueue(key, entry);
            note(key, entry);
        });
    }

    /// The next operation to hand to the sink, if there is one now.
    std::optional<Op> next(TimePoint now) {
        release_retries(now);
        if (auto op = next_from(ready_deletes_, now)) {
            return op;
        }
        if (in_flight_puts_ >= options_.in_flight_max) {
            return std::nullopt;
        }
        return next_from(ready_puts_, now);
    }
    /// The same, for a sink that takes no puts at the moment.
    std::optional<Op> next_delete(TimePoint now) {
        release_retries(now);
        while (!ready_deletes_.empty()) {
            const Key& key = ready_deletes_.front();
            Entry* found = entries_.find(key);
            if (found == nullptr || !found->desired) {
                if (auto op = next_from(ready_deletes_, now, 1)) {
                    return op;
                }
                continue;
            }
            // Wanted again meanwhile: it waits with the puts.
            found->queued_delete = false;
            if (!std::exchange(found->queued_put, true)) {
                ready_puts_.push_back(key);
            }
            ready_deletes_.pop_front();
        }
        return std::nullopt;
    }

    /// Marks operations whose answer is late; true while at least one waits for an audit.
    bool overdue(TimePoint now) {
        while (!waiting_.empty() && late_at(waiting_.front()) <= now) {
            const Waiting waiting = waiting_.front();
            waiting_.pop_front();
            Entry* found = entries_.find(waiting.key);
            if (found != nullptr && found->in_flight == waiting.id && !found->overdue) {
                found->overdue = true;
                ++overdue_;
            }
        }
        return overdue_ > 0;
    }

    [[nodiscard]] bool has_overdue() const { return overdue_ > 0; }

    /// When next() or overdue() will have something new, by time alone.
    [[nodiscard]] std::optional<TimePoint> deadline() {
        while (!waiting_.empty() && !is_current(waiting_.front())) {
            waiting_.pop_front();
        }
        std::optional<TimePoint> at;
        if (!waiting_.empty()) {
            at = late_at(waiting_.front());
        }
        if (!retries_.empty()) {
            at = at ? std::min(*at, retries_.begin()->first) : retries_.begin()->first;
        }
        return at;
    }

    /// Brings into the cache what want() will read first.
    void prefetch(const Key& key) const { entries_.prefetch(key); }

    [[nodiscard]] std::optional<Op> in_flight(const Key& key) const {
        const Entry* found = entries_.find(key);
        if (found == nullptr || found->in_flight == 0) {
            return std::nullopt;
        }
        return Op{.id = found->in_flight, .key = key, .put = found->sent};
    }
    [[nodiscard]] const std::optional<Value>& desired(const Key& key) const {
        static const std::optional<Value> kNothing;
        const Entry* found = entries_.find(key);
        return found == nullptr ? kNothing : found->desired;
    }
    /// What readers are shown of a key: its wish or, while that is being withdrawn, what the sink
    /// was last known to hold.
    [[nodiscard]] Value shown(const Key& key) const {
        const Entry* found = entries_.find(key);
        return found == nullptr ? Value{} : found->desired.value_or(found->actual);
    }
    [[nodiscard]] SinkState state(const Key& key) const {
        const Entry* found = entries_.find(key);
        return found == nullptr ? SinkState::Absent : state_of(*found);
    }
    /// When the last operation was handed to the sink, and when the sink last said something that
    /// changed what we know of this key.
    struct History {
        std::optional<TimePoint> sent{};
        bool was_put = false;    // Of the operation that was sent.
        bool in_flight = false;  // It is not answered yet.
        std::optional<TimePoint> answered{};
        bool operator==(const History&) const = default;
    };
    [[nodiscard]] History history(const Key& key) const {
        const Entry* found = entries_.find(key);
        if (found == nullptr) {
            return {};
        }
        const auto known = [](TimePoint at) {
            return at == TimePoint{} ? std::nullopt : std::optional(at);
        };
        return {.sent = known(found->sent_at),
                .was_put = found->sent.has_value(),
                .in_flight = found->in_flight != 0,
                .answered = known(found->answered_at)};
    }
    /// At most `count` keys behind `after`, in order, those that are absent too.
    [[nodiscard]] std::vector<Key> keys_after(const std::optional<Key>& after,
                                              std::size_t count) const {
        return entries_.keys_after(after, count);
    }
    /// Every key that is wanted or possibly held, in order: (key, desired, state).
    template <class Visit>
    void for_each(Visit visit) const {
        entries_.for_each([&](const Key& key, const Entry& entry) {
            if (!is_idle(entry)) {
                visit(key, entry.desired, state_of(entry));
            }
        });
    }
    /// From now on the keys whose wish or state has changed are remembered until they are taken;
    /// one key may be among them more than once. Off at first, and then it costs nothing.
    void keep_journal(bool keep) {
        journaling_ = keep;
        journal_.clear();
        entries_.for_each([](const Key&, Entry& entry) { entry.noted = state_of(entry); });
    }
    [[nodiscard]] std::vector<Key> take_journal() { return std::exchange(journal_, {}); }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::size_t wanted() const { return wanted_; }  // Keys with a wish.
    /// Keys that wait for next(): never more than two for each key, however often wishes change.
    [[nodiscard]] std::size_t queued() const { return ready_puts_.size() + ready_deletes_.size(); }
    [[nodiscard]] std::size_t puts_in_flight() const { return in_flight_puts_; }
    /// No difference is left that time or the sink's answer would not resolve by itself.
    [[nodiscard]] bool quiet() const {
        return ready_puts_.empty() && ready_deletes_.empty() && in_flight_puts_ == 0;
    }

private:
    enum class Held : std::uint8_t { No, Maybe, Yes };

    struct Entry {
        std::optional<Value> desired{};
        Value actual{};               // Meaningful while held is Yes.
        std::optional<Value> sent{};  // Of the operation in flight.
        std::uint64_t in_flight = 0;
        TimePoint sent_at{};
        TimePoint answered_at{};  // For readers only: nothing is decided by it.
        std::optional<TimePoint> retry_at{};
        std::uint32_t audited = 0;
        Held held = Held::No;
        std::uint8_t attempts = 0;
        bool queued_put = false;
        bool queued_delete = false;
        bool overdue = false;
        bool rejected = false;
        bool reinstall = false;
        SinkState noted = SinkState::Absent;  // The last state that the journal has told of.
    };
    struct Waiting {
        TimePoint deadline;
        std::uint64_t id;
        Key key;
    };

    static bool needs_delete(const Entry& entry) {
        const bool put_in_flight = entry.in_flight != 0 && entry.sent.has_value();
        const bool delete_in_flight = entry.in_flight != 0 && !entry.sent.has_value();
        return (entry.held != Held::No || put_in_flight) && !delete_in_flight;
    }
    static bool needs_put(const Entry& entry) {
        const bool satisfied = entry.held == Held::Yes && entry.actual == *entry.desired;
        return entry.in_flight == 0 && !satisfied && !entry.rejected && !entry.retry_at;
    }
    // Neither wanted nor possibly held.
    static bool is_idle(const Entry& entry) {
        return !entry.desired && entry.held == Held::No && entry.in_flight == 0;
    }
    static SinkState state_of(const Entry& entry) {
        if (!entry.desired) {
            return is_idle(entry) ? SinkState::Absent : SinkState::Withdrawing;
        }
        if (entry.rejected) {
            return SinkState::Rejected;
        }
        const bool satisfied = entry.held == Held::Yes && entry.actual == *entry.desired;
        return satisfied && entry.in_flight == 0 ? SinkState::Held : SinkState::Pending;
    }
    static void set_held(Entry& entry, std::optional<Value> actual) {
        entry.held = actual ? Held::Yes : Held::No;
        if (actual) {
            entry.actual = std::move(*actual);
        }
    }

    void note(const Key& key, Entry& entry) {
        if (journaling_ && entry.noted != state_of(entry)) {
            note_wish(key, entry);
        }
    }
    void note_wish(const Key& key, Entry& entry) {
        if (journaling_) {
            entry.noted = state_of(entry);
            journal_.push_back(key);
        }
    }

    // A sink that has much to do is slow, not silent: it answers in about the order it was asked,
    // so an answer is late only if a later question has been answered, or nothing at all for a
    // while. (100,000 routes take zebra longer than the timeout; reading them all back meanwhile
    // made it slower still.)
    [[nodiscard]] TimePoint late_at(const Waiting& waiting) const {
        const TimePoint sent_at = waiting.deadline - options_.answer_timeout;
        const bool overtaken = sent_at + options_.audit_settle <= newest_answered_;
        return overtaken ? waiting.deadline
                         : std::max(waiting.deadline, last_answer_ + options_.answer_timeout);
    }

    [[nodiscard]] bool is_current(const Waiting& waiting) const {
        const Entry* found = entries_.find(waiting.key);
        return found != nullptr && found->in_flight == waiting.id && !found->overdue;
    }

    Entry& entry_for(const Key& key) { return entries_.try_emplace(key).first; }

    void enqueue(const Key& key, Entry& entry) {
        const bool is_delete = !entry.desired || entry.reinstall;
        // Also when it waits as a put: the withdrawal overtakes it.
        bool& queued = is_delete ? entry.queued_delete : entry.queued_put;
        if (!queued) {
            (is_delete ? ready_deletes_ : ready_puts_).push_back(key);
            queued = true;
        }
    }

    // After an answer there is mostly nothing to do, and then quiet() is to say so at once.
    void enqueue_if_needed(const Key& key, Entry& entry) {
        const bool needed =
            entry.desired ? entry.reinstall || needs_put(entry) : needs_delete(entry);
        if (needed) {
            enqueue(key, entry);
        }
    }

    std::optional<Op> next_from(std::deque<Key>& queue,
                                TimePoint now,
                                std::size_t looks = std::numeric_limits<std::size_t>::max()) {
        while (!queue.empty() && looks-- > 0) {
            const Key key = queue.front();
            queue.pop_front();
            Entry* found = entries_.find(key);
            if (found == nullptr) {
                continue;
            }
            Entry& entry = *found;
            (&queue == &ready_puts_ ? entry.queued_put : entry.queued_delete) = false;
            if (auto op = operation_for(key, entry, now)) {
                return op;
            }
            forget_if_idle(key, entry);
        }
        return std::nullopt;
    }

    std::optional<Op> operation_for(const Key& key, Entry& entry, TimePoint now) {
        if (!entry.desired) {
            if (!needs_delete(entry) || entry.retry_at) {
                return std::nullopt;
            }
            return launch(key, entry, std::nullopt, now);
        }
        if (entry.reinstall) {
            entry.reinstall = false;
            if (needs_delete(entry)) {
                return launch(key, entry, std::nullopt, now);
            }
        }
        if (!needs_put(entry)) {
            return std::nullopt;
        }
        return launch(key, entry, entry.desired, now);
    }

    Op launch(const Key& key, Entry& entry, std::optional<Value> put, TimePoint now) {
        clear_flight(entry);
        entry.in_flight = ++last_id_;
        entry.sent = std::move(put);
        if (entry.sent_at + options_.steady_after < now) {
            entry.attempts = 0;
        }
        entry.sent_at = now;
        if (entry.sent) {
            ++in_flight_puts_;
        }
        note(key, entry);
        waiting_.push_back(
            {.deadline = now + options_.answer_timeout, .id = entry.in_flight, .key = key});
        return Op{.id = entry.in_flight, .key = key, .put = entry.sent};
    }

    void clear_flight(Entry& entry) {
        if (entry.in_flight != 0 && entry.sent) {
            --in_flight_puts_;
        }
        if (entry.overdue) {
            --overdue_;
        }
        entry.overdue = false;
        entry.in_flight = 0;
    }

    void finish(const Key& key, Entry& entry, OpResult result, TimePoint now) {
        const std::optional<Value> sent = entry.sent;
        clear_flight(entry);
        switch (result) {
            case OpResult::Done:
                set_held(entry, sent);
                entry.rejected = false;  // Once removed, the sink would never speak of it again.
                break;
            case OpResult::Busy:
                entry.held = Held::Maybe;
                retry_later(key, entry, now);
                return;
            case OpResult::Rejected:
                entry.held = Held::Maybe;
                entry.rejected = entry.desired == sent;
                break;
        }
        enqueue_if_needed(key, entry);
    }

    void settle_doubt(const Key& key,
                      Entry& entry,
                      const std::optional<Value>& actual,
                      TimePoint now) {
        const bool as_sent = actual == entry.sent;
        if (as_sent) {
            finish(key, entry, OpResult::Done, now);
        } else if (entry.overdue && entry.sent_at + options_.audit_settle <= audit_started_) {
            // Asked, not answered, and not there. A put may have been lost (FRR 10.3 drops what it
            // has queued when another client closes): once more. If that is silent too, it lost to
            // a better route, of which some releases say nothing. A delete is sent until it works.
            const bool again = !entry.sent || entry.attempts == 0;
            finish(key, entry, again ? OpResult::Busy : OpResult::Rejected, now);
        }
    }

    void settle_observation(const Key& key,
                            Entry& entry,
                            std::optional<Value> actual,
                            TimePoint now) {
        const bool lost = entry.desired && !actual;
        set_held(entry, std::move(actual));
        if (lost) {
            // The sink may keep what it does not show, behind something that it prefers: if the
            // wish ends now, it must still be told.
            entry.held = Held::Maybe;
        }
        entry.rejected = false;
        if (lost && entry.attempts > 0) {
            retry_later(key, entry, now);
            return;
        }
        if (lost) {
            entry.attempts = 1;
        }
        enqueue_if_needed(key, entry);
    }

    void retry_later(const Key& key, Entry& entry, TimePoint now) {
        if (entry.retry_at) {
            return;
        }
        constexpr std::uint8_t kMaxShift = 8;  // 100 ms << 8 = 25.6 s.
        const Duration delay = options_.retry_first * (1 << std::min(entry.attempts, kMaxShift));
        entry.attempts = static_cast<std::uint8_t>(std::min<int>(entry.attempts + 1, kMaxShift));
        entry.retry_at = now + std::min(delay, options_.retry_max);
        retries_.insert({*entry.retry_at, key});
    }
    void cancel_retry(const Key& key, Entry& entry) {
        if (entry.retry_at) {
            retries_.erase({*entry.retry_at, key});
            entry.retry_at.reset();
        }
    }
    void release_retries(TimePoint now) {
        while (!retries_.empty() && retries_.begin()->first <= now) {
            const Key key = retries_.begin()->second;
            retries_.erase(retries_.begin());
            Entry* found = entries_.find(key);
            PLANED_ASSERT(found != nullptr);
            found->retry_at.reset();
            enqueue(key, *found);
        }
    }

    void forget_if_idle(const Key& key, Entry& entry) {
        // While a queue names it, it stays: else each new wish would add one more to the queue.
        if (is_idle(entry) && !entry.queued_put && !entry.queued_delete) {
            cancel_retry(key, entry);
            entries_.erase(key);
        }
    }

    Options options_;
    IndexedMap<Key, Entry> entries_;
    std::deque<Key> ready_deletes_;
    std::deque<Key> ready_puts_;
    std::deque<Waiting> waiting_;  // In order of deadline: the timeout is one constant.
    std::set<std::pair<TimePoint, Key>> retries_;
    std::uint64_t last_id_ = 0;
    std::size_t wanted_ = 0;
    std::size_t in_flight_puts_ = 0;
    std::size_t overdue_ = 0;
    TimePoint last_answer_{};      // When the sink last answered anything.
    TimePoint newest_answered_{};  // When the latest operation was sent that it has answered.
    std::uint32_t audit_ = 0;
    TimePoint audit_started_{};
    bool journaling_ = false;
    std::vector<Key> journal_;
};

}  // namespace planed
