// SPDX-License-Identifier: Apache-2.0
#include "core/codec/yaml_outline.h"

#include <yaml.h>

namespace bunraku::codec {

namespace {

/// A collection that the reader is in.
struct OpenCollection {
    bool mapping = false;
    bool expects_key = false;
    int owner = -1;  ///< index of the key whose value it is
    int key = -1;    ///< index of the current key of a mapping
};

class OutlineReader {
public:
    explicit OutlineReader(std::string_view text) {
        yaml_parser_initialize(&parser_);
        yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
        const char* input = text.empty() ? "" : text.data();
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(input),
                                     text.size());
    }
    ~OutlineReader() { yaml_parser_delete(&parser_); }
    OutlineReader(const OutlineReader&) = delete;

    YamlOutline run() {
        while (step()) {
        }
        return std::move(out_);
    }

private:
    static YamlPlace place(const yaml_mark_t& mark) { return {mark.line, mark.column}; }

    /// Handles one event. Returns false at the end of the document and after an error.
    bool step() {
        yaml_event_t event;
        if (yaml_parser_parse(&parser_, &event) == 0) {
            const bool marked = parser_.error != YAML_READER_ERROR;
            std::string message = parser_.problem ? parser_.problem : "unknown problem";
            if (parser_.context) message += std::string(" ") + parser_.context;
            out_.problem.emplace(YamlOutline::Problem{
                std::move(message), marked ? place(parser_.problem_mark) : YamlPlace{}});
            return false;
        }
        const bool more = handle(event);
        yaml_event_delete(&event);
        return more;
    }
    bool handle(const yaml_event_t& event) {
        switch (event.type) {
            case YAML_STREAM_END_EVENT:
            case YAML_DOCUMENT_END_EVENT: return false;
            case YAML_SCALAR_EVENT: scalar(event); return true;
            case YAML_ALIAS_EVENT: value_ended(); return true;
            case YAML_MAPPING_START_EVENT: return open({true, true, owner()});
            case YAML_SEQUENCE_START_EVENT: return open({false, false, owner()});
            case YAML_MAPPING_END_EVENT:
            case YAML_SEQUENCE_END_EVENT:
                if (!open_.empty()) open_.pop_back();
                value_ended();
                return true;
            default: return true;
        }
    }
    bool open(OpenCollection collection) {
        open_.push_back(collection);
        return true;
    }
    /// Returns the index of the key to which the next value belongs.
    int owner() const {
        if (open_.empty()) return -1;
        return open_.back().mapping ? open_.back().key : open_.back().owner;
    }
    void scalar(const yaml_event_t& event) {
        const auto& data = event.data.scalar;
        const bool key = !open_.empty() && open_.back().mapping && open_.back().expects_key;
        YamlScalar found;
        found.text.assign(reinterpret_cast<const char*>(data.value), data.length);
        found.start = place(event.start_mark);
        found.end = place(event.end_mark);
        found.key = key;
        found.quoted = data.style != YAML_PLAIN_SCALAR_STYLE;
        found.depth = static_cast<int>(open_.size());
        found.parent = key ? open_.back().owner : owner();
        out_.scalars.push_back(std::move(found));
        if (!key) return value_ended();
        open_.back().expects_key = false;
        open_.back().key = static_cast<int>(out_.scalars.size()) - 1;
    }
    void value_ended() {
        if (open_.empty() || !open_.back().mapping) return;
        // The end of a complex key is also the end of a value. Its mapping then expects the value
        // of the key.
        open_.back().expects_key = !open_.back().expects_key;
        open_.back().key = -1;
    }

    yaml_parser_t parser_{};
    std::vector<OpenCollection> open_;
    YamlOutline out_;
};

}  // namespace

YamlOutline outline_yaml(std::string_view text) { return OutlineReader(text).run(); }

}  // namespace bunraku::codec
