// SPDX-License-Identifier: Apache-2.0
#include "language/function/stdlib_usual.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/work_limit.h"
#include "language/evaluator/interpreter.h"
#include "language/evaluator/scope.h"
#include "language/types/kinds.h"

namespace bunraku::function::usual {

using value::Value;

namespace {

bool ascii(std::string_view s) {
    return std::ranges::all_of(s, [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n'; });
}

bool plain(const Value& v) {
    base::step();
    if (v.is_string()) return ascii(v.as_string());
    if (v.is_array()) return std::ranges::all_of(v.as_array(), plain);
    if (v.is_hash()) {
        return std::ranges::all_of(v.as_hash(), [](const value::Entry& e) {
            return e.key.is_string() && plain(e.key) && plain(e.value);
        });
    }
    return v.is_undef() || v.is(value::Kind::Boolean) || v.is_numeric();
}

bool text(const Value& v) { return v.is_string() && !v.as_string().empty(); }

bool text_or_list(const Value& v) {
    return text(v) ||
           (v.is_array() && !v.as_array().empty() && std::ranges::all_of(v.as_array(), text));
}

/// Reports whether the value is the lower-case name of a resource type other than class: `file`,
/// `a::b`.
bool type_name(const Value& v) {
    if (!text(v) || v.as_string() == "class") return false;
    return std::ranges::all_of(v.as_string(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
    });
}

/// Reports whether the title is used unchanged. A path with a trailing slash is not.
bool title(const Value& v) { return text(v) && !v.as_string().ends_with('/'); }

/// Like title, but also accepts a number such as a port.
bool title_or_number(const Value& v) { return title(v) || v.is_integer(); }

bool all_titles(const Value& v, bool (*good)(const Value&)) {
    return good(v) ||
           (v.is_array() && !v.as_array().empty() && std::ranges::all_of(v.as_array(), good));
}

bool hash_of_hashes(const Value& v) {
    return v.is_hash() && std::ranges::all_of(v.as_hash(), [](const value::Entry& e) {
               return title(e.key) && e.value.is_hash();
           });
}

bool hash_or_missing(const Call& call, std::size_t i) {
    return call.size() <= i || call[i].is_hash();
}

/// Reports whether the value is "Type[title]" or Type['title'].
bool reference(const Value& v) {
    if (v.is_type()) {
        const auto ref = types::as_reference(v.as_type());
        return ref && !ref->type_name.empty() && !ref->title.empty();
    }
    return text(v) && base::upper(v.as_string()[0]) == v.as_string()[0] &&
           v.as_string().ends_with(']') && v.as_string().find('[') > 0 &&
           v.as_string().find('[') + 2 < v.as_string().size();
}

}  // namespace

bool data(const Call& call) {
    return !call.block && call.size() > 0 && std::ranges::all_of(call.args, plain);
}

bool collection(const Call& call) {
    return data(call) && ((call[0].is_hash() && !call[0].as_hash().empty()) ||
                          (call[0].is_array() && !call[0].as_array().empty()));
}

bool arrays(const Call& call) {
    return data(call) && call.size() == 2 &&
           std::ranges::all_of(call.args, [](const Value& v) { return v.is_array(); });
}

bool hashes(const Call& call) {
    return !call.block && call.size() > 1 &&
           std::ranges::all_of(call.args, [](const Value& v) { return v.is_hash(); });
}

bool texts(const Call& call) { return data(call) && std::ranges::all_of(call.args, text_or_list); }

bool number(const Call& call) {
    return data(call) && call.size() == 1 && (call[0].is_numeric() || text(call[0]));
}

bool squeeze(const Call& call) {
    return texts(call) && (call.size() == 1 || (call.size() == 2 && text(call[1])));
}

bool element(const Call& call) {
    return call.size() == 2 && call[0].is_array() && call[1].is_integer();
}

bool range(const Call& call) {
    return (call.size() == 2 ||
            (call.size() == 3 && call[2].is_integer() && call[2].as_integer() > 0)) &&
           call[0].is_integer() && call[1].is_integer();
}

bool nothing(const Call& call) { return call.size() == 0; }

bool deprecation(const Call& call) {
    return call.size() == 2 && call[0].is_string() && call[1].is_string();
}

bool assert_private(const Call& call) {
    const auto kind = call.scope.base().kind;
    return (kind == evaluator::ScopeKind::Class || kind == evaluator::ScopeKind::Define) &&
           std::ranges::all_of(call.args, text) && call.size() < 2;
}

bool getparam(const Call& call) { return call.size() == 2 && reference(call[0]) && text(call[1]); }

bool defined_with_params(const Call& call) {
    return (call.size() == 1 || (call.size() == 2 && call[1].is_hash() && plain(call[1]))) &&
           reference(call[0]);
}

bool ensure_resource(const Call& call) {
    return (call.size() == 2 || call.size() == 3) && type_name(call[0]) &&
           all_titles(call[1], title_or_number) && hash_or_missing(call, 2);
}

bool ensure_resources(const Call& call) {
    return (call.size() == 2 || call.size() == 3) && type_name(call[0]) &&
           hash_of_hashes(call[1]) && hash_or_missing(call, 2);
}

bool ensure_packages(const Call& call) {
    if (call.size() == 0 || call.size() > 2 || !hash_or_missing(call, 1)) return false;
    if (call.size() == 2 && !std::ranges::all_of(call[1].as_hash(), [](const value::Entry& e) {
            return text(e.key) && !e.value.is_numeric() && !e.value.is_array();
        }))
        return false;
    auto* host = call.interpreter.hosts().catalog;
    // Releases differ in the packages with other declarations that they accept unchanged.
    auto free = [&](const Value& name) {
        if (!host || !host->resource_declared("Package", name.as_string())) return true;
        const Value state = host->declared_parameter("Package", name.as_string(), "ensure");
        return state.is_string() && state.as_string() == "installed";
    };
    if (hash_of_hashes(call[0])) {
        return std::ranges::all_of(call[0].as_hash(), [&](const value::Entry& e) {
            return free(e.key) && !e.value.as_hash().find("ensure");
        });
    }
    if (!all_titles(call[0], title)) return false;
    return call[0].is_array() ? std::ranges::all_of(call[0].as_array(), free) : free(call[0]);
}

bool validate_legacy(const Call& call) {
    return call.size() >= 3 && text(call[1]) && (call[0].is_type() || text(call[0])) &&
           call.interpreter.functions().find(call[1].as_string());
}

bool matching(const Call& call) {
    return data(call) && call.size() == 2 && call[0].is_array() && text(call[1]) &&
           call[1].as_string().find('\\') == std::string_view::npos &&
           std::ranges::all_of(call[0].as_array(), text);
}

}  // namespace bunraku::function::usual
