// SPDX-License-Identifier: Apache-2.0
#include "store/engine/undeclared_removal.h"

#include <algorithm>
#include <initializer_list>

#include "core/base/arena.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::store {

namespace {

using value::Value;

/// Builds a JSON object of texts.
class Texts {
public:
    void add(std::string_view name, std::string_view text) {
        json_ += json_.empty() ? "{" : ",";
        codec::append_json_string(json_, name);
        json_ += ':';
        codec::append_json_string(json_, text);
    }
    std::string take() { return std::move(json_ += '}'); }

private:
    std::string json_;
};

/// Reports whether `content` is a reference to the file bucket, "{sha256}..".
bool is_bucket_reference(std::string_view content) {
    const auto end = content.find('}');
    return content.starts_with('{') && end != std::string_view::npos &&
           codec::digest_kind(content.substr(1, end - 1)).has_value();
}

std::string remove_file(const Value& parameters, std::string_view title) {
    const std::string ensure = value::text_at(parameters, "ensure");
    const Value* content = value::at(parameters, "content");
    const std::string given = value::text_at(parameters, "path");
    std::string_view path = given.empty() ? title : std::string_view(given);
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const bool regular = ensure.empty() || ensure == "present" || ensure == "file";
    if (!regular || !path.starts_with('/') || path.size() < 2 || !content ||
        !content->is_string() || is_bucket_reference(content->as_string()))
        return "";
    Texts out;
    out.add("path", path);
    out.add("sha256", codec::hex_digest(codec::DigestKind::Sha256, content->as_string()));
    return out.take();
}

std::string remove_named(const Value& parameters, std::string_view title,
                         std::initializer_list<std::string_view> others) {
    const std::string given = value::text_at(parameters, "name");
    Texts out;
    out.add("name", given.empty() ? title : std::string_view(given));
    for (std::string_view name : others) {
        const Value* declared = value::at(parameters, name);
        if (!declared || declared->is_undef()) continue;
        if (!declared->is_string()) return "";
        out.add(name, declared->as_string());
    }
    return out.take();
}

}  // namespace

std::string removal_json(std::string_view type, std::string_view title,
                         std::string_view parameters) {
    base::Arena arena;
    const auto data = value::parse_json(arena, parameters);
    if (!data || !data->is_hash()) return "";
    if (type == "File") return remove_file(*data, title);
    if (type == "Package" || type == "Service") return remove_named(*data, title, {"provider"});
    if (type == "Cron") return remove_named(*data, title, {"user", "target"});
    if (type != "User") return "";
    const Value* home = value::at(*data, "managehome");
    const bool manages_home =
        home && home->truthy() &&
        !(home->is_string() && (home->as_string() == "false" || home->as_string() == "no"));
    return manages_home ? "" : remove_named(*data, title, {});
}

}  // namespace bunraku::store
