// SPDX-License-Identifier: Apache-2.0
// Formats and compares values, and formats errors and stop requests.
#include "resources/apply/context.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "language/types/object.h"

namespace bunraku::apply {

std::string error_text(const base::PuppetError& error) {
    std::string location = base::format_location(error.where());
    return location.empty() ? error.message() : error.message() + " " + location;
}

std::string error_log_text(const base::PuppetError& error) {
    std::string out = error_text(error);
    if (const auto* w = dynamic_cast<const WrappedError*>(&error)) {
        out += "\nWrapped exception:\n" + w->original();
    }
    return out;
}

std::string signal_name(int signal) {
    switch (signal) {
        case SIGINT: return "SIGINT";
        case SIGTERM: return "SIGTERM";
        case SIGHUP: return "SIGHUP";
        default: return fmt::format("signal {}", signal);
    }
}

Stopped::Stopped(int signal)
    : PuppetError(signal == SIGINT ? "exit" : signal_name(signal), {}, Class::Plain),
      signal_(signal) {}

void throw_system(const base::Error& error) {
    throw base::PuppetError(error.message, "SYSTEM_CALL");
}

namespace {

// StringConverter::DEFAULT_PARAMETER_FORMAT of 8.11: a hash takes several lines, and each array or
// hash inside an array starts on a new line.
void display(std::string& out, const Value& v, std::size_t depth) {
    const auto line = [&](std::size_t level) {
        out += '\n';
        out.append(level * 2, ' ');
    };
    if (v.is_array()) {
        out += '[';
        bool first = true;
        for (const Value& item : v.as_array()) {
            if (!first) out += ',';
            if (item.is_array() || item.is_hash()) {
                line(depth + 1);
            } else if (!first) {
                out += ' ';
            }
            first = false;
            display(out, item, depth + 1);
        }
        out += ']';
    } else if (v.is_hash()) {
        out += '{';
        bool first = true;
        for (const value::Entry& e : v.as_hash()) {
            if (!first) out += ',';
            first = false;
            line(depth + 1);
            out += value::to_source(e.key) + " => ";
            display(out, e.value, depth + 1);
        }
        if (first) out += '\n';
        line(depth);
        out += '}';
    } else if (v.is(value::Kind::Binary)) {
        out += "Binary(\"" + value::to_text(v) + "\")";
    } else {
        out += value::to_source(v);
    }
}

}  // namespace

std::string display(const Value& v) {
    std::string out;
    if (!v.is_undef()) display(out, v, 0);
    return out;
}

std::string plain(const Value& v) {
    if (v.is_string()) return std::string(v.as_string());
    if (v.is_array()) {
        std::string out;
        for (const Value& item : v.as_array()) {
            if (!out.empty()) out += ' ';
            out += plain(item);
        }
        return out;
    }
    return value::to_text(v);
}

bool same(const Value& a, const Value& b) {
    if (a.is_string() && b.is_string()) return a.as_string() == b.as_string();
    if (a.is_string() && (b.is_numeric() || b.is(value::Kind::Boolean))) {
        return a.as_string() == value::to_text(b);
    }
    if (a.is_numeric() && b.is_numeric()) return a.as_number() == b.as_number();
    return value::equal(a, b);
}

bool is_deferred(const Value& v) {
    if (v.is(value::Kind::Object)) {
        std::string text = value::to_text(v);
        return text.starts_with("Deferred");
    }
    if (v.is_array()) {
        for (const Value& item : v.as_array()) {
            if (is_deferred(item)) return true;
        }
        return false;
    }
    if (!v.is_hash()) return false;
    const Value* type = v.as_hash().find("__ptype");
    return type && is_word(*type, "Deferred");
}

bool holds_sensitive(const Value& v) {
    if (v.is(value::Kind::Sensitive)) return true;
    // Deferred('new', [Sensitive, ...])
    if (v.is(value::Kind::Type)) {
        const auto* type = dynamic_cast<const types::Type*>(v.as_extension());
        return type != nullptr && type->kind == types::TypeKind::Sensitive;
    }
    if (v.is_array()) return std::ranges::any_of(v.as_array(), holds_sensitive);
    if (const types::Object* object = types::as_object(v)) {
        return std::ranges::any_of(object->values(), holds_sensitive);
    }
    return v.is_hash() && std::ranges::any_of(v.as_hash(), [](const auto& entry) {
               return holds_sensitive(entry.key) || holds_sensitive(entry.value);
           });
}

const std::string& Context::shared(std::string_view text) {
    if (last_text && *last_text == text) return *last_text;
    const auto at = texts.find(text);
    last_text = &*(at != texts.end() ? at : texts.emplace(text).first);
    BUNRAKU_ASSERT(*last_text == text && !texts.empty());
    return *last_text;
}

const std::vector<std::string>& Context::shared(std::span<const std::string> tags) {
    if (!last_tags || !std::ranges::equal(*last_tags, tags))
        last_tags = &*tag_lists.emplace(tags.begin(), tags.end()).first;
    BUNRAKU_ASSERT(last_tags->size() == tags.size());
    return *last_tags;
}

}  // namespace bunraku::apply
