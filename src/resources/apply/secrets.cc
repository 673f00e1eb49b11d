// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/secrets.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "core/base/assert.h"
#include "core/base/redacted.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "language/types/object.h"
#include "language/types/type.h"

namespace bunraku::apply {

namespace {

/// Shorter secrets are hidden only where they are whole words, because a text such as "a" occurs in
/// many words.
constexpr std::size_t kShort = 4;
/// A value of this length is unlikely to appear by chance in a message of another resource.
constexpr std::size_t kLong = 8;
/// In a larger text, such as a file, only single lines count as secrets, and only in messages of
/// the resource that contains the text.
constexpr std::size_t kLarge = 8 * 1024;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool is_whole_word(std::string_view text, std::size_t at, std::size_t size) {
    BUNRAKU_ASSERT(size > 0 && at + size <= text.size());
    return (at == 0 || !is_word(text[at - 1])) &&
           (at + size == text.size() || !is_word(text[at + size]));
}

/// Calls `f` for each part of `text` between characters of `separators`.
template <class F>
void each_part(std::string_view text, std::string_view separators, const F& f) {
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(separators);
        if (end != 0) f(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
}

}  // namespace

void Secrets::add(const value::Value& v, Parts parts) {
    using value::Kind;
    if (v.is(Kind::Sensitive)) return add(v.unwrap(), parts);
    if (v.is_array()) {
        for (const value::Value& one : v.as_array()) add(one, parts);
    } else if (v.is_hash()) {
        for (const value::Entry& e : v.as_hash()) {
            add(e.key, parts);
            add(e.value, parts);
        }
    } else if (const types::Object* object = types::as_object(v)) {
        for (const value::Value& one : object->values()) add(one, parts);
    } else if (v.is_string() || v.is_numeric() || v.is(Kind::Binary)) {
        add_text(v.is_string() ? std::string(v.as_string()) : value::to_text(v), parts);
    }
}

void Secrets::add_marked(const value::Value& v, Parts parts) {
    const auto is_sensitive_type = [](const value::Value& one) {
        const auto* type = one.is(value::Kind::Type)
                               ? dynamic_cast<const types::Type*>(one.as_extension())
                               : nullptr;
        return type != nullptr && type->kind == types::TypeKind::Sensitive;
    };
    if (v.is(value::Kind::Sensitive)) return add(v, parts);
    if (v.is_array()) {
        // Deferred('new', [Sensitive, ...])
        if (std::ranges::any_of(v.as_array(), is_sensitive_type)) return add(v, parts);
        for (const value::Value& one : v.as_array()) add_marked(one, parts);
    } else if (v.is_hash()) {
        for (const value::Entry& e : v.as_hash()) {
            add_marked(e.key, parts);
            add_marked(e.value, parts);
        }
    } else if (const types::Object* object = types::as_object(v)) {
        for (const value::Value& one : object->values()) add_marked(one, parts);
    }
}

void Secrets::add_text(std::string_view given, Parts parts) {
    // The text form of a Sensitive is not a secret.
    constexpr std::string_view kShown = base::kSensitiveText;
    std::string text(given);
    for (std::size_t at; (at = text.find(kShown)) != std::string::npos;)
        text.replace(at, kShown.size(), " ");
    const bool all = parts == Parts::All;
    const bool large = text.size() > kLarge;
    const auto add_if_long = [&](std::string_view one) {
        one = base::trim(one);
        if (one.size() >= (all && !large ? kShort : kLong)) add_one(one);
    };
    if (all) add_one(base::trim(text));
    if (large && !all) return;
    BUNRAKU_ASSERT(all || !large);
    each_part(text, "\n", add_if_long);
    if (large) return;
    add_if_long(text);
    // Add the forms in which messages quote the text: Ruby's inspect, and lower case.
    std::string shown;
    value::print_inspect(shown, value::Value::string(text));
    if (shown.size() > 2) add_if_long(std::string_view(shown).substr(1, shown.size() - 2));
    add_if_long(base::lower(text));
    if (!all) return;
    each_part(text, " \t\r\n\v\f'\"`;:@,|&<>()", [&](std::string_view word) {
        add_if_long(word);
        if (const std::size_t equals = word.find('='); equals != std::string_view::npos)
            add_if_long(word.substr(equals + 1));
    });
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos)
        add_if_long(text.substr(equals + 1));
}

void Secrets::add_one(std::string_view text) {
    if (text.empty() || !known_.emplace(text).second) return;
    texts_.emplace_back(text);
    sorted_ = false;
    BUNRAKU_ASSERT(texts_.size() == known_.size());
}

std::string Secrets::hide(std::string text) const {
    if (!std::exchange(sorted_, true))
        std::ranges::stable_sort(texts_, std::ranges::greater(), &std::string::size);
    BUNRAKU_ASSERT(texts_.empty() || texts_.front().size() >= texts_.back().size());
    for (const std::string& secret : texts_) {
        BUNRAKU_ASSERT(!secret.empty());
        for (std::size_t at = text.find(secret); at != std::string::npos;
             at = text.find(secret, at)) {
            if (secret.size() < kShort && !is_whole_word(text, at, secret.size())) {
                ++at;
                continue;
            }
            text.replace(at, secret.size(), base::kRedacted);
            at += base::kRedacted.size();
        }
    }
    return text;
}

}  // namespace bunraku::apply
