// SPDX-License-Identifier: Apache-2.0
#include "services/console/html.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/codec/json_text.h"

namespace bunraku::console {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Elements of HTML that have no end tag.
constexpr auto kVoid =
    std::to_array<std::string_view>({"br", "hr", "img", "input", "link", "meta"});
/// Attributes whose value is a link target.
constexpr auto kTargets = std::to_array<std::string_view>({"href", "action", "src", "formaction"});

/// Appends a control character as its visible form (U+2400 to U+2421).
void append_control(std::string& out, unsigned char c) {
    const unsigned picture = c == 127 ? 0x21 : c;
    out += "\xE2\x90";
    out += static_cast<char>(0x80 + picture);
}

/// Returns the longest prefix of at most `most` bytes that does not cut a character.
std::string_view prefix_of(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end);
}

void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            case '\n':
            case '\t': out += c; break;
            default: {
                const auto byte = static_cast<unsigned char>(c);
                if (byte < 32 || byte == 127) {
                    append_control(out, byte);
                } else {
                    out += c;
                }
            }
        }
    }
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    while (!text.empty()) {
        const auto bad = codec::first_invalid_utf8(text);
        append_escaped(out, text.substr(0, bad));
        if (bad == std::string_view::npos) break;
        out += kReplacement;
        text.remove_prefix(bad + 1);
    }
    return out;
}

bool is_safe_target(std::string_view target) {
    if (target.empty()) return true;
    if (target.find_first_of("\\\t\r\n") != std::string_view::npos) return false;
    if (target[0] == '/') return !target.starts_with("//");
    return target[0] == '?' || target[0] == '#' || target.starts_with("https://") ||
           target.starts_with("http://");
}

void Html::open(Name tag, Attributes attributes) {
    out_ += '<';
    out_ += tag.text();
    for (const Attribute& a : attributes) {
        if (!a.present_) continue;
        out_ += ' ';
        out_ += a.name_.text();
        if (a.bare_) continue;
        const bool target = std::ranges::find(kTargets, a.name_.text()) != kTargets.end();
        out_ += "=\"";
        out_ += target && !is_safe_target(a.value_) ? "#" : escaped(a.value_);
        out_ += '"';
    }
}

void Html::close(Name tag) {
    BUNRAKU_ASSERT(open_elements_ > 0);
    --open_elements_;
    out_ += "</";
    out_ += tag.text();
    out_ += '>';
}

Html::Element Html::in(Name tag, Attributes attributes) {
    BUNRAKU_ASSERT(std::ranges::find(kVoid, tag.text()) == kVoid.end());
    open(tag, attributes);
    out_ += '>';
    ++open_elements_;
    return {this, tag};
}

Html& Html::leaf(Name tag, Attributes attributes, std::string_view text) {
    const auto element = in(tag, attributes);
    return this->text(text);
}

Html& Html::empty(Name tag, Attributes attributes) {
    open(tag, attributes);
    const bool html = std::ranges::find(kVoid, tag.text()) != kVoid.end();
    out_ += html ? ">" : "/>";
    return *this;
}

Html& Html::text(std::string_view text) {
    out_ += escaped(text);
    return *this;
}

Html& Html::foreign(std::string_view text, std::size_t most) {
    const auto shown = prefix_of(text, most);
    const auto element = in("bdi");
    this->text(shown);
    if (shown.size() < text.size()) out_ += "\xE2\x80\xA6";
    return *this;
}

}  // namespace bunraku::console
