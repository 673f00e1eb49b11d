// SPDX-License-Identifier: Apache-2.0
#include "services/server/catalog_input.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <string_view>

#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/environment.h"

namespace bunraku::server {

using value::Value;

namespace {

/// Formats a value in Clojure's notation.
std::string clojure(const Value& v) {
    if (v.is_undef()) return "nil";
    std::string out;
    if (v.is_array()) {
        for (const auto& one : v.as_array()) out += (out.empty() ? "" : " ") + clojure(one);
        return "[" + out + "]";
    }
    if (v.is_hash()) {
        for (const auto& [key, one] : v.as_hash())
            out += (out.empty() ? "" : ", ") + clojure(key) + " " + clojure(one);
        return "{" + out + "}";
    }
    return value::to_json(v);
}

enum class InputShape { Text, Environment, Flag, Any, LogLevel, PalLogLevel, Map, MapOrList };

struct InputMember {
    std::string_view name;
    bool needed = false;
    InputShape shape = InputShape::Any;
    const InputMember* members = nullptr;  ///< members of a Map; null means any
    std::size_t count = 0;
};

constexpr InputMember kPersistence[] = {{"facts", true, InputShape::Flag},
                                        {"catalog", true, InputShape::Flag}};
constexpr InputMember kValues[] = {{"values", true, InputShape::Map}};
constexpr InputMember kOptions[] = {{"prefer_requested_environment", false, InputShape::Flag},
                                    {"capture_logs", false, InputShape::Flag},
                                    {"log_level", false, InputShape::LogLevel}};
constexpr InputMember kInput[] = {
    {"certname", true, InputShape::Text},
    {"persistence", true, InputShape::Map, kPersistence, std::size(kPersistence)},
    {"environment", true, InputShape::Environment},
    {"facts", false, InputShape::Map, kValues, std::size(kValues)},
    {"trusted_facts", false, InputShape::Map, kValues, std::size(kValues)},
    {"transaction_uuid", false, InputShape::Text},
    {"job_id", false, InputShape::Text},
    {"options", false, InputShape::Map, kOptions, std::size(kOptions)}};

constexpr InputMember kVariables[] = {{"values", true, InputShape::MapOrList}};
constexpr InputMember kTreeOptions[] = {{"capture_logs", false, InputShape::Flag},
                                        {"log_level", false, InputShape::PalLogLevel},
                                        {"compile_for_plan", false, InputShape::Flag}};
constexpr InputMember kTreeInput[] = {
    {"certname", true, InputShape::Text},
    {"code_ast", true, InputShape::Text},
    {"trusted_facts", true, InputShape::Map, kValues, std::size(kValues)},
    {"facts", true, InputShape::Map, kValues, std::size(kValues)},
    {"variables", true, InputShape::Map, kVariables, std::size(kVariables)},
    {"environment", false, InputShape::Text},
    {"versioned_project", false, InputShape::Text},
    {"target_variables", false, InputShape::Map, kValues, std::size(kValues)},
    {"job_id", false, InputShape::Text},
    {"transaction_uuid", false, InputShape::Text},
    {"options", false, InputShape::Map, kTreeOptions, std::size(kTreeOptions)}};

std::string problem_of(const Value& v, std::span<const InputMember> members);

/// Returns why a value does not have the required shape. Empty if it does.
std::string shape_error(const Value& v, const InputMember& member) {
    const auto isnt = [&](std::string_view what) {
        return fmt::format("(not ({} {}))", what, clojure(v));
    };
    switch (member.shape) {
        case InputShape::Any: return {};
        case InputShape::Text: return v.is_string() ? "" : isnt("instance? java.lang.String");
        case InputShape::Flag:
            return v.is(value::Kind::Boolean) ? "" : isnt("instance? java.lang.Boolean");
        case InputShape::Environment:
            if (!v.is_string()) return isnt("instance? java.lang.String");
            return environment::valid_environment_name(v.as_string())
                       ? ""
                       : isnt("puppetlabs.services.master.master-core/valid-env-name?");
        case InputShape::LogLevel:
        case InputShape::PalLogLevel: {
            const bool pal = member.shape == InputShape::PalLogLevel;
            const bool good =
                v.is_string() &&
                (v.as_string() == "warning" || v.as_string() == (pal ? "error" : "err") ||
                 v.as_string() == "info" || v.as_string() == "debug");
            if (good) return "";
            return isnt(pal ? R"(#{"warning" "info" "error" "debug"})"
                            : R"(#{"warning" "err" "info" "debug"})");
        }
        case InputShape::MapOrList:
            return v.is_hash() || v.is_array() ? "" : isnt("some-matching-condition?");
        case InputShape::Map:
            if (!v.is_hash()) return isnt("map?");
            return member.members ? problem_of(v, {member.members, member.count}) : "";
    }
    return {};
}

std::string problem_of(const Value& v, std::span<const InputMember> members) {
    std::string out;
    const auto add = [&](std::string_view name, std::string_view why) {
        out += fmt::format("{}\"{}\" {}", out.empty() ? "" : ", ", name, why);
    };
    for (const auto& member : members) {
        const Value* given = value::at(v, member.name);
        if (!given) {
            if (member.needed) add(member.name, "missing-required-key");
        } else if (const auto why = shape_error(*given, member); !why.empty()) {
            add(member.name, why);
        }
    }
    for (const auto& [key, one] : v.as_hash()) {
        const auto same = [&](const InputMember& m) { return m.name == key.as_string(); };
        if (std::none_of(members.begin(), members.end(), same))
            add(key.as_string(), "disallowed-key");
    }
    return out.empty() ? "" : "{" + out + "}";
}

std::string problem(const Value& input, std::span<const InputMember> members) {
    if (!input.is_hash()) return fmt::format("(not (map? {}))", clojure(input));
    return problem_of(input, members);
}

}  // namespace

std::string catalog_input_problem(const Value& input) { return problem(input, kInput); }

std::string tree_input_problem(const Value& input) { return problem(input, kTreeInput); }

}  // namespace bunraku::server
