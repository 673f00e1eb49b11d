// SPDX-License-Identifier: Apache-2.0
#include "core/codec/yaml_writer.h"

#include <algorithm>
#include <cctype>
#include <yaml.h>

#include "core/base/assert.h"
#include "core/codec/base64.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"

namespace bunraku::codec {
namespace {

int append(void* data, unsigned char* buffer, std::size_t size) {
    static_cast<std::string*>(data)->append(reinterpret_cast<char*>(buffer), size);
    return 1;
}
/// libyaml asserts that a text pointer is not null, but an empty view may have a null pointer.
yaml_char_t* bytes(std::string_view s) {
    return reinterpret_cast<yaml_char_t*>(const_cast<char*>(s.empty() ? "" : s.data()));
}

/// Returns false if Psych would read the unquoted text as another type: a number, a symbol, a time.
bool reads_as_text(std::string_view s) {
    const YamlNode n = resolve_yaml_scalar(s);
    return n.kind == YamlNode::Kind::String && !n.symbol && !n.date && !n.time && !n.large;
}
bool word_first(std::string_view line) {
    BUNRAKU_ASSERT(!line.empty());
    const auto c = static_cast<unsigned char>(line[0]);
    return std::isalnum(c) || c == '_' || c >= 0x80;
}
/// Matches /^[^[:word:]][^"]*$/: some line does not begin with a word character and contains no
/// quote after it.
bool odd_line(std::string_view s) {
    for (std::size_t at = 0; at < s.size();) {
        const std::size_t end = std::min(s.find('\n', at), s.size());
        const std::string_view line = s.substr(at, end - at);
        if (!line.empty() && !word_first(line) && line.find('"', 1) == line.npos) return true;
        at = end + 1;
    }
    return false;
}
}  // namespace

struct YamlWriter::Impl {
    yaml_emitter_t emitter{};
    std::string out;
    int line_width = 0;

    int depth = 0;  ///< open collections

    void emit(yaml_event_t& event) { yaml_emitter_emit(&emitter, &event); }
    /// Writes a scalar. Text that is not UTF-8, which libyaml refuses, becomes `!binary`, as in
    /// Psych.
    void scalar(std::string_view text, const char* tag, bool plain, bool quoted,
                yaml_scalar_style_t style) {
        if (!is_utf8(text)) {
            scalar(base64_encode(text), "!binary", false, false, YAML_LITERAL_SCALAR_STYLE);
            return;
        }
        yaml_event_t event;
        yaml_scalar_event_initialize(
            &event, nullptr, reinterpret_cast<yaml_char_t*>(const_cast<char*>(tag)), bytes(text),
            static_cast<int>(text.size()), plain, quoted, style);
        emit(event);
    }
};

YamlWriter::YamlWriter(const YamlWriteOptions& options) : impl_(std::make_unique<Impl>()) {
    auto& emitter = impl_->emitter;
    yaml_emitter_initialize(&emitter);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_indent(&emitter, options.indentation);
    yaml_emitter_set_width(&emitter, options.line_width);
    yaml_emitter_set_canonical(&emitter, options.canonical);
    yaml_emitter_set_output(&emitter, append, &impl_->out);
    impl_->line_width = options.line_width;
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    impl_->emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 0);
    impl_->emit(event);
}
YamlWriter::~YamlWriter() { yaml_emitter_delete(&impl_->emitter); }

void YamlWriter::start_mapping(std::string_view anchor) {
    ++impl_->depth;
    yaml_event_t event;
    const std::string name(anchor);
    yaml_mapping_start_event_initialize(&event, anchor.empty() ? nullptr : bytes(name), nullptr, 1,
                                        YAML_BLOCK_MAPPING_STYLE);
    impl_->emit(event);
}
void YamlWriter::end_mapping() {
    BUNRAKU_ASSERT(impl_->depth > 0);
    --impl_->depth;
    yaml_event_t event;
    yaml_mapping_end_event_initialize(&event);
    impl_->emit(event);
}
void YamlWriter::start_sequence(std::string_view anchor) {
    ++impl_->depth;
    yaml_event_t event;
    const std::string name(anchor);
    yaml_sequence_start_event_initialize(&event, anchor.empty() ? nullptr : bytes(name), nullptr, 1,
                                         YAML_BLOCK_SEQUENCE_STYLE);
    impl_->emit(event);
}
void YamlWriter::end_sequence() {
    BUNRAKU_ASSERT(impl_->depth > 0);
    --impl_->depth;
    yaml_event_t event;
    yaml_sequence_end_event_initialize(&event);
    impl_->emit(event);
}
void YamlWriter::alias(std::string_view anchor) {
    BUNRAKU_ASSERT(!anchor.empty());
    yaml_event_t event;
    const std::string name(anchor);
    yaml_alias_event_initialize(&event, bytes(name));
    impl_->emit(event);
}

void YamlWriter::string(std::string_view s) {
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    const std::size_t newline = s.find('\n');
    if (s == "<<") {
        impl_->scalar(s, "tag:yaml.org,2002:str", false, false, YAML_SINGLE_QUOTED_SCALAR_STYLE);
        return;
    }
    if (newline != std::string_view::npos && newline + 1 < s.size()) {
        style = YAML_LITERAL_SCALAR_STYLE;
    } else if (s == "y" || s == "n") {
        style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    } else if (impl_->line_width > 0 && s.size() > static_cast<std::size_t>(impl_->line_width)) {
        style = YAML_FOLDED_SCALAR_STYLE;
    } else if (odd_line(s)) {
        style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    } else if (!s.empty() && !reads_as_text(s)) {
        style = YAML_SINGLE_QUOTED_SCALAR_STYLE;
    } else if (s.starts_with('0')) {  // /\A0[0-7]*[89]/: a broken octal number
        const std::size_t end = s.find_first_not_of("01234567", 1);
        if (end != std::string_view::npos && (s[end] == '8' || s[end] == '9'))
            style = YAML_SINGLE_QUOTED_SCALAR_STYLE;
    } else if (s.empty()) {
        style = YAML_SINGLE_QUOTED_SCALAR_STYLE;
    }
    impl_->scalar(s, nullptr, true, true, style);
}

void YamlWriter::quoted(std::string_view text) {
    impl_->scalar(text, nullptr, false, true, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

void YamlWriter::key(std::string_view text) {
    impl_->scalar(text, nullptr, true, false, YAML_ANY_SCALAR_STYLE);
}

void YamlWriter::plain(std::string_view text) {
    impl_->scalar(text, text.empty() ? "tag:yaml.org,2002:null" : nullptr, true, false,
                  YAML_ANY_SCALAR_STYLE);
}

std::string YamlWriter::finish() {
    BUNRAKU_ASSERT(impl_->depth == 0);
    yaml_event_t event;
    yaml_document_end_event_initialize(&event, 1);
    impl_->emit(event);
    yaml_stream_end_event_initialize(&event);
    impl_->emit(event);
    yaml_emitter_flush(&impl_->emitter);
    return std::move(impl_->out);
}

}  // namespace bunraku::codec
