// SPDX-License-Identifier: Apache-2.0
#include "record/recording.hpp"

#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "config/print.hpp"
#include "record/fields.hpp"
#include "record/words.hpp"

namespace planed::record {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
concept Structure = requires {
    Fields<T>::list;
};
template <class T>
concept Id = std::is_enum_v<T> && !HasWords<T>;

// Writing -----------------------------------------------------------------------------------------

Json json_of(bool value) {
    return value;
}
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) Json json_of(T value) {
    return std::uint64_t{value};
}
Json json_of(int value) {
    return value;
}
Json json_of(const std::string& value) {
    return value;
}
Json json_of(std::string_view value) {
    return value;
}
Json json_of(Duration value) {
    return value.count();
}
template <class T>
requires requires(const T& value) {
    value.to_string();
}
Json json_of(const T& value) {
    return value.to_string();
}
template <HasWords E>
Json json_of(E value) {
    return word_of(value);
}
template <Id E>
Json json_of(E value) {
    return std::uint64_t{number(value)};
}
Json json_of(const std::shared_ptr<const Config>& value) {
    return config::to_yaml(*value);
}
template <Structure T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) {
        list.push_back(json_of(value));
    }
    return list;
}

template <class T>
void put(Json& object, std::string_view name, const T& value) {
    object[std::string(name)] = json_of(value);
}
template <class T>
void put(Json& object, std::string_view name, const std::optional<T>& value) {
    if (value) {
        put(object, name, *value);
    }
}

template <Structure T>
void put_fields(Json& object, const T& value) {
    static_assert(covers_all<T>());
    std::apply([&](const auto&... each) { (put(object, each.name, value.*each.member), ...); },
               Fields<T>::list);
}

template <Structure T>
Json json_of(const T& value) {
    Json object = Json::object();
    put_fields(object, value);
    return object;
}

template <class Variant>
std::string line_of(const Variant& variant, std::string_view what, TimePoint at) {
    Json object{{"at", at.time_since_epoch().count()}};
    std::visit(
        [&]<class T>(const T& value) {
            object[std::string(what)] = Fields<T>::name;
            put_fields(object, value);
        },
        variant);
    // Texts come from outside: what is no UTF-8 is shown as that.
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Reading -----------------------------------------------------------------------------------------

template <class T>
constexpr bool kMayBeAbsent = false;
template <class T>
constexpr bool kMayBeAbsent<std::optional<T>> = true;

// The first fault counts; its path is told from inside out.
struct Reader {
    std::string path;
    std::string fault;

    bool refuse(std::string text) {
        fault = std::move(text);
        return false;
    }
    [[nodiscard]] tl::unexpected<Error> error() const {
        return fail(Errc::Malformed, path.empty() ? fault : fmt::format("{}: {}", path, fault));
    }

    template <class T>
    bool parse(const Json& json, T& value) {
        const auto parsed =
            json.is_string() ? T::parse(json.get_ref<const std::string&>()) : std::optional<T>();
        value = parsed.value_or(T{});
        return parsed.has_value() || refuse("is no address, prefix or MAC");
    }
    bool read(const Json& json, IpAddress& value) { return parse(json, value); }
    bool read(const Json& json, IpPrefix& value) { return parse(json, value); }
    bool read(const Json& json, MacAddress& value) { return parse(json, value); }
    bool read(const Json& json, bool& value) {
        value = json.is_boolean() && json.get<bool>();
        return json.is_boolean() || refuse("is neither true nor false");
    }
    bool read(const Json& json, std::string& value) {
        value = json.is_string() ? json.get<std::string>() : "";
        return json.is_string() || refuse("is no text");
    }
    template <std::integral T>
    requires(!std::same_as<T, bool>) bool read(const Json& json, T& value) {
        const bool fits =
            json.is_number_unsigned()
                ? json.get<std::uint64_t>() <=
                      static_cast<std::uint64_t>(std::numeric_limits<T>::max())
                : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
        value = fits ? json.get<T>() : T{};
        return fits || refuse("is no number that can be here");
    }
    bool read(const Json& json, Duration& value) {
        Duration::rep count = 0;
        const bool good = read(json, count);
        value = Duration(count);
        return good;
    }
    template <HasWords E>
    bool read(const Json& json, E& value) {
        const auto known =
            json.is_string() ? value_of<E>(json.get_ref<const std::string&>()) : std::optional<E>();
        value = known.value_or(E{});
        return known.has_value() || refuse("is none of its words");
    }
    template <Id E>
    bool read(const Json& json, E& value) {
        std::underlying_type_t<E> plain{};
        const bool good = read(json, plain);
        value = static_cast<E>(plain);
        return good;
    }
    bool read(const Json& json, std::shared_ptr<const Config>& value) {
        const config::Loaded loaded =
            config::load_text(json.is_string() ? json.get<std::string>() : "", "config");
        if (!json.is_string() || !loaded.ok()) {
            return refuse(json.is_string() ? config::to_string(loaded.faults.front())
                                           : "is no text");
        }
        value = std::make_shared<const Config>(loaded.config);
        return true;
    }
    template <class T>
    bool read(const Json& json, std::vector<T>& values) {
        values.clear();
        if (!json.is_array()) {
            return refuse("is no list");
        }
        for (const Json& element : json) {
            if (!read(element, values.emplace_back())) {
                return false;
            }
        }
        return true;
    }
    template <class T>
    bool read(const Json& json, std::optional<T>& value) {
        return read(json, value.emplace());
    }
    template <Structure T>
    bool read(const Json& json, T& value) {
        return read_fields(json, value, 0);
    }

    template <class T>
    bool member(const Json& object, std::string_view name, T& value, std::size_t& read_so_far) {
        const auto found = object.find(std::string(name));
        const bool good =
            found == object.end() ? kMayBeAbsent<T> || refuse("is missing") : read(*found, value);
        read_so_far += found == object.end() ? 0U : 1U;
        if (!good) {
            path = path.empty() ? std::string(name) : fmt::format("{}.{}", name, path);
        }
        return good;
    }
    // `others`: members beside those of the structure.
    template <Structure T>
    bool read_fields(const Json& object, T& value, std::size_t others) {
        if (!object.is_object()) {
            return refuse("is no object");
        }
        std::size_t count = others;
        const bool good = std::apply(
            [&](const auto&... each) {
                return (member(object, each.name, value.*each.member, count) && ...);
            },
            Fields<T>::list);
        return good && (count == object.size() || refuse("there is a field that is not known"));
    }
};

Result<Json> object_in(std::string_view line) {
    Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() || !json.is_object()) {
        return fail(Errc::Malformed, "is no JSON object");
    }
    return json;
}

// The alternative of Input that has this name.
template <std::size_t I = 0>
bool read_input(const Json& json, std::string_view name, Reader& reader, Input& input) {
    if constexpr (I == std::variant_size_v<Input>) {
        return reader.refuse(fmt::format("there is no input {}", name));
    } else {
        using T = std::variant_alternative_t<I, Input>;
        if (name == Fields<T>::name) {
            return reader.read_fields(json, input.emplace<I>(), 2);
        }
        return read_input<I + 1>(json, name, reader, input);
    }
}

}  // namespace

std::string to_line(const Header& header) {
    Json object{{"planed_recording", kFormat}};
    put(object, "version", header.version);
    put(object, "node", header.node);
    put(object, "started", header.started);
    put(object, "level", header.level);
    put(object, "config", header.config);
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_line(const Input& input, TimePoint at) {
    return line_of(input, "input", at);
}

std::string to_line(const Turn& turn, TimePoint at) {
    return fmt::format(
        R"({{"at":{},"turn":{{"decided":{}}}}})", at.time_since_epoch().count(), turn.decided);
}

std::string to_line(const Output& output, TimePoint at) {
    return line_of(output, "output", at);
}

Result<Header> parse_header(std::string_view line) {
    auto json = object_in(line);
    if (!json) {
        return tl::unexpected(json.error());
    }
    if (!json->contains("planed_recording")) {
        return fail(Errc::Malformed, "is no recording of planed");
    }
    if ((*json)["planed_recording"] != kFormat) {
        return fail(Errc::Unsupported,
                    fmt::format("is a recording of format {}, not {}",
                                (*json)["planed_recording"].dump(),
                                kFormat));
    }
    Header header;
    Reader reader;
    std::size_t count = 0;
    const bool good = reader.member(*json, "version", header.version, count) &&
                      reader.member(*json, "node", header.node, count) &&
                      reader.member(*json, "started", header.started, count) &&
                      reader.member(*json, "level", header.level, count) &&
                      reader.member(*json, "config", header.config, count);
    if (!good) {
        return reader.error();
    }
    return header;
}

Result<Line> parse_line(std::string_view text) {
    const auto json = object_in(text);
    if (!json) {
        return tl::unexpected(json.error());
    }
    Line line;
    Reader reader;
    std::size_t count = 0;
    Duration at{};
    bool good = reader.member(*json, "at", at, count);
    line.at = TimePoint(at);
    if (json->contains("turn")) {
        Turn turn;
        const Json& told = (*json)["turn"];
        good = good && (told.is_object() || reader.refuse("turn is no object")) &&
               reader.member(told, "decided", turn.decided, count);
        line.what = turn;
    } else {
        std::string name;
        Input input;
        good = good && reader.member(*json, "input", name, count) &&
               read_input(*json, name, reader, input);
        line.what = std::move(input);
    }
    if (!good) {
        return reader.error();
    }
    return line;
}

}  // namespace planed::record
