// SPDX-License-Identifier: Apache-2.0
// The only file that knows the YAML library. Its parser hands out events, from which a Document is
// built under our own limits; its node tree is not used: it drops the second of two equal keys'
// places and would have to be built before anything can be refused.
#include "config/load.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "config/decode.hpp"
#include "config/document.hpp"
#include "config/validate.hpp"
#include "net/utf8.hpp"

namespace planed::config {
namespace {

Place place_at(const YAML::Mark& mark) {
    return {.line = static_cast<std::uint32_t>(mark.line) + 1,
            .column = static_cast<std::uint32_t>(mark.column) + 1};
}

// Well-formed YAML that we do not take. Thrown through the library, like its own exceptions.
class Refusal final : public YAML::ParserException {
public:
    using YAML::ParserException::ParserException;
};

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& text) {
    throw Refusal(mark, text);
}

class DocumentBuilder final : public YAML::EventHandler {
public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (started_) {
            refuse(mark, "a second document begins; there may be only one");
        }
        started_ = true;
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(mark, anchor, {.kind = NodeKind::Null});
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto target = anchors_.find(anchor);
        if (target == anchors_.end()) {
            refuse(mark, "an alias points at nothing that is complete before it");
        }
        attach(target->second);
    }
    void OnScalar(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  const std::string& value) override {
        // The library's own marks for "no tag": "?" without quotes, "!" with them.
        if (tag != "?" && tag != "!" && !tag.empty()) {
            refuse(mark, fmt::format("the tag {} is not supported", tag.substr(0, kTagShown)));
        }
        add(mark, anchor, {.kind = NodeKind::Scalar, .text = value, .plain = tag == "?"});
    }
    void OnSequenceStart(const YAML::Mark& mark,
                         const std::string& tag,
                         YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, NodeKind::List);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark,
                    const std::string& tag,
                    YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, NodeKind::Map);
    }
    void OnMapEnd() override { close(); }

    [[nodiscard]] bool started() const { return started_; }
    Document take() { return std::move(document_); }

private:
    static constexpr std::size_t kTagShown = 40;

    struct Open {
        std::uint32_t index = 0;
        YAML::anchor_t anchor = 0;
    };

    std::uint32_t add(const YAML::Mark& mark, YAML::anchor_t anchor, DocumentNode node) {
        node.place = place_at(mark);
        if (node.kind == NodeKind::Null && !open_.empty()) {
            // The library's mark is that of the next token, often lines below.
            const DocumentNode& owner = document_.at(open_.back().index);
            const bool is_value = owner.kind == NodeKind::Map && owner.items.size() % 2 == 1;
            node.place = is_value ? document_.at(owner.items.back()).place : node.place;
        }
        const auto index = static_cast<std::uint32_t>(document_.nodes.size());
        document_.nodes.push_back(std::move(node));
        attach(index);
        // A map or list can be pointed at only once it is closed: no cycles.
        const bool whole =
            document_.at(index).kind != NodeKind::List && document_.at(index).kind != NodeKind::Map;
        if (anchor != YAML::NullAnchor && whole) {
            anchors_[anchor] = index;
        }
        return index;
    }
    void attach(std::uint32_t index) {
        if (!open_.empty()) {
            document_.nodes[open_.back().index].items.push_back(index);
        }
    }
    void open(const YAML::Mark& mark,
              const std::string& tag,
              YAML::anchor_t anchor,
              NodeKind kind) {
        if (tag != "?" && tag != "!" && !tag.empty()) {
            refuse(mark, fmt::format("the tag {} is not supported", tag.substr(0, kTagShown)));
        }
        if (open_.size() >= kDepthMax) {
            refuse(mark, fmt::format("maps and lists are nested more than {} deep", kDepthMax));
        }
        const std::uint32_t index = add(mark, anchor, {.kind = kind});
        open_.push_back({.index = index, .anchor = anchor});
    }
    void close() {
        const Open closed = open_.back();
        open_.pop_back();
        if (closed.anchor != YAML::NullAnchor) {
            anchors_[closed.anchor] = closed.index;
        }
    }

    Document document_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, std::uint32_t> anchors_;
    bool started_ = false;
};

Place end_of(std::string_view text) {
    Place place;
    for (const char c : text) {
        place = c == '\n' ? Place{.line = place.line + 1, .column = 1}
                          : Place{.line = place.line, .column = place.column + 1};
    }
    return place;
}

// The document, or a fault: after a syntax error nothing can be said about what follows.
std::optional<Document> parse(std::string_view text, FaultList& faults) {
    if (text.size() > kFileMax) {
        faults.add({}, "", fmt::format("is larger than {} bytes", kFileMax));
        return std::nullopt;
    }
    if (const std::size_t valid = utf8_length(text); valid < text.size()) {
        faults.add(end_of(text.substr(0, valid)), "", "is not UTF-8 text");
        return std::nullopt;
    }
    DocumentBuilder builder;
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Refusal& refusal) {
        faults.add(place_at(refusal.mark), "", refusal.msg);
        return std::nullopt;
    } catch (const YAML::Exception& error) {
        // Where the file ends too early, the library's mark has a position but no column.
        const bool at_end = error.mark.pos < 0 || error.mark.pos >= std::ssize(text);
        const Place place = at_end ? end_of(text) : place_at(error.mark);
        faults.add(place, "", fmt::format("is not YAML: {}", error.msg));
        return std::nullopt;
    }
    Document document = builder.take();
    if (document.nodes.empty()) {
        document.nodes.emplace_back();
    }
    return document;
}

}  // namespace

Loaded load_text(std::string_view text, const std::string& name) {
    FaultList faults(name);
    FaultList warnings(name);
    Loaded loaded;
    if (const auto document = parse(text, faults)) {
        Decoded decoded = decode(*document, faults);
        loaded.config = std::move(decoded.config);
        loaded.written = std::move(decoded.written);
        // SONiC's kernel would punt an interface-only route to the CPU.
        if (loaded.config.redis.config_db && !loaded.written.contains("routes.nexthop")) {
            loaded.config.routes.nexthop = NextHopForm::Self;
        }
        validate(loaded.config, loaded.written, faults, warnings);
    }
    loaded.faults = faults.take();
    if (loaded.ok()) {
        loaded.warnings = warnings.take();
    }
    return loaded;
}

Loaded load_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text(kFileMax + 1, '\0');
    if (file.is_open()) {
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
    }
    if (!file.is_open() || file.bad() || (file.gcount() == 0 && errno != 0)) {
        Loaded failed;
        const int number = errno;
        failed.faults.push_back({.file = path,
                                 .place = {},
                                 .path = "",
                                 .text = fmt::format("cannot be read: {}", std::strerror(number))});
        return failed;
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    return load_text(text, path);
}

}  // namespace planed::config
