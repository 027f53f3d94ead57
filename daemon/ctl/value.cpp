// SPDX-License-Identifier: Apache-2.0
#include "ctl/value.hpp"

#include <chrono>

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>

namespace planed::ctl {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct TextOf {
    std::string operator()(std::nullptr_t) const { return "-"; }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(std::uint64_t number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text.empty() ? "-" : text; }
    std::string operator()(const Array& array) const {
        std::string all;
        for (const Value& value : array) {
            all += (all.empty() ? "" : " ") + value.text();
        }
        return all.empty() ? "-" : all;
    }
    std::string operator()(const Object& object) const {
        std::string all;
        for (const auto& [name, value] : object) {
            all += fmt::format("{}{}={}", all.empty() ? "" : " ", name, value.text());
        }
        return all.empty() ? "-" : all;
    }
};

Value of_message(const Message& message) {
    if (message.GetDescriptor()->full_name() == "google.protobuf.Timestamp") {
        const auto& time = static_cast<const google::protobuf::Timestamp&>(message);
        return text_value(rfc3339(time.seconds(), time.nanos() / 1000));
    }
    return to_value(message);
}

Value of_one(const Message& message, const FieldDescriptor& field) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
        case FieldDescriptor::CPPTYPE_BOOL: return {.is = reflection.GetBool(message, &field)};
        case FieldDescriptor::CPPTYPE_UINT32:
            return {.is = std::uint64_t{reflection.GetUInt32(message, &field)}};
        case FieldDescriptor::CPPTYPE_UINT64:
            return {.is = std::uint64_t{reflection.GetUInt64(message, &field)}};
        case FieldDescriptor::CPPTYPE_STRING: return {.is = reflection.GetString(message, &field)};
        case FieldDescriptor::CPPTYPE_MESSAGE:
            if (!reflection.HasField(message, &field)) {
                return {};
            }
            return of_message(reflection.GetMessage(message, &field));
        // The API has none of these.
        case FieldDescriptor::CPPTYPE_INT32:
        case FieldDescriptor::CPPTYPE_INT64:
        case FieldDescriptor::CPPTYPE_DOUBLE:
        case FieldDescriptor::CPPTYPE_FLOAT:
        case FieldDescriptor::CPPTYPE_ENUM: break;
    }
    return {};
}

Value of_list(const Message& message, const FieldDescriptor& field) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    Array array;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
        if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
            array.push_back(of_message(reflection.GetRepeatedMessage(message, &field, i)));
        } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
            array.push_back(
                {.is = std::uint64_t{reflection.GetRepeatedUInt32(message, &field, i)}});
        } else {
            array.push_back(text_value(reflection.GetRepeatedString(message, &field, i)));
        }
    }
    return {.is = std::move(array)};
}

// Fields of what is gone that say nothing are left out.
void append_flat(Object& object, Value nested, bool only_set) {
    for (auto& [name, value] : std::get<Object>(nested.is)) {
        const auto* text = std::get_if<std::string>(&value.is);
        if (!only_set || (text != nullptr && !text->empty())) {
            object.emplace_back(name, std::move(value));
        }
    }
}

}  // namespace

std::string rfc3339(std::int64_t seconds, std::int64_t microseconds) {
    constexpr std::int64_t kDay = 86'400;
    const std::chrono::sys_days midnight{
        std::chrono::days{(seconds >= 0 ? seconds : seconds - kDay + 1) / kDay}};
    const std::chrono::year_month_day date{midnight};
    const std::int64_t in_day = seconds - midnight.time_since_epoch().count() * kDay;
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                       static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()),
                       static_cast<unsigned>(date.day()),
                       in_day / 3600,
                       in_day / 60 % 60,
                       in_day % 60,
                       microseconds);
}

const Value& Value::at(std::string_view name) const {
    static const Value kNull;
    if (const auto* object = std::get_if<Object>(&is)) {
        for (const auto& [key, value] : *object) {
            if (key == name) {
                return value;
            }
        }
    }
    return kNull;
}

std::string Value::text() const {
    return std::visit(TextOf{}, is);
}

Value to_value(const Message& message) {
    const google::protobuf::Descriptor& descriptor = *message.GetDescriptor();
    Object object;
    bool gone = false;
    for (int i = 0; i < descriptor.field_count(); ++i) {
        const FieldDescriptor& field = *descriptor.field(i);
        if (field.real_containing_oneof() != nullptr) {
            if (message.GetReflection()->HasField(message, &field)) {
                append_flat(object, of_one(message, field), gone);
            }
            continue;
        }
        Value value = field.is_repeated() ? of_list(message, field) : of_one(message, field);
        gone = gone || (field.name() == "gone" && value.is_true());
        object.emplace_back(field.name(), std::move(value));
    }
    return {.is = std::move(object)};
}

}  // namespace planed::ctl
