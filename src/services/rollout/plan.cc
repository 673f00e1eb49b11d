// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "core/base/arena.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::rollout {

using base::failure;
using base::Result;
using codec::json_string;
using value::Value;

namespace {

template <class List, class Write>
std::string json_list(const List& list, Write&& write, std::string_view between = ",") {
    std::string out;
    for (const auto& each : list) {
        if (!out.empty()) out += between;
        out += write(each);
    }
    return "[" + out + "]";
}

std::string json_texts(const std::vector<std::string>& texts) {
    return json_list(texts, [](const std::string& text) { return json_string(text); });
}

std::string json_of(const PlannedVersion& v) {
    return fmt::format(R"({{"version":{},"commit":{},"files":{}}})", json_string(v.version),
                       json_string(v.commit), json_string(v.files));
}

std::string json_of(const PlannedGroup& g) {
    return fmt::format(
        R"({{"kind":{},"reference":{},"parameter":{},"file":{},"before":{},"after":{},"because":{}}})",
        json_string(g.kind), json_string(g.reference), json_string(g.parameter),
        json_string(g.file), json_string(g.before), json_string(g.after), json_texts(g.because));
}

std::string json_of(const PlannedNode& n) {
    std::string identity;
    for (const auto& [name, text] : n.identity) {
        identity += fmt::format("{}{}:{}", identity.empty() ? "" : ",", json_string(name),
                                json_string(text));
    }
    return fmt::format(
        R"({{"name":{},"verdict":{},"wave":{},"groups":{},"identity":{{{}}}}})",
        json_string(n.name), json_string(n.verdict), n.wave,
        json_list(n.groups, [](std::uint32_t group) { return fmt::format("{}", group); }),
        identity);
}

std::string json_of(const PlannedException& e) {
    return fmt::format(R"({{"name":{},"why":{}}})", json_string(e.name), json_string(e.why));
}

/// Reads the members of an object. The first error is kept, and names the member.
class Reader {
public:
    Reader(const Value& object, std::string path, std::string& error)
        : object_(object), path_(std::move(path)), error_(error) {
        if (!object.is_hash()) fail("", "expected an object");
    }

    std::string text(std::string_view name) {
        const Value* found = at(object_, name);
        if (!found || !found->is_string()) return fail(name, "expected a text"), std::string();
        return std::string(found->as_string());
    }
    bool has(std::string_view name) const {
        return object_.is_hash() && at(object_, name) != nullptr;
    }
    std::int64_t number(std::string_view name) {
        const Value* found = at(object_, name);
        if (!found || !found->is_integer()) return fail(name, "expected a number"), 0;
        return found->as_integer();
    }
    /// Calls `each` with each item and its path.
    void list(std::string_view name,
              const std::function<void(const Value&, const std::string&)>& each) {
        const Value* found = at(object_, name);
        if (!found || !found->is_array()) return fail(name, "expected a list");
        std::size_t index = 0;
        for (const Value& item : found->as_array())
            each(item, fmt::format("{}[{}]", path_of(name), index++));
    }
    std::vector<std::string> texts(std::string_view name) {
        std::vector<std::string> out;
        list(name, [&](const Value& item, const std::string& path) {
            if (item.is_string()) return void(out.emplace_back(item.as_string()));
            fail_at(path, "expected a text");
        });
        return out;
    }
    Reader object(std::string_view name) {
        const Value* found = at(object_, name);
        static const Value kNone;
        return {found ? *found : kNone, path_of(name), error_};
    }
    Reader item(const Value& value, const std::string& path) { return {value, path, error_}; }
    std::map<std::string, std::string> map(std::string_view name) {
        std::map<std::string, std::string> out;
        const Value* found = at(object_, name);
        if (!found || !found->is_hash()) return fail(name, "expected an object"), out;
        for (const value::Entry& e : found->as_hash()) {
            if (!e.value.is_string()) return fail(name, "expected texts"), out;
            out.emplace(e.key.as_string(), e.value.as_string());
        }
        return out;
    }
    void fail(std::string_view name, std::string_view what) { fail_at(path_of(name), what); }
    void fail_at(const std::string& path, std::string_view what) {
        if (error_.empty())
            error_ = path.empty() ? std::string(what) : fmt::format("{}: {}", path, what);
    }

private:
    std::string path_of(std::string_view name) const {
        if (name.empty()) return path_;
        return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
    }
    const Value& object_;
    std::string path_;
    std::string& error_;
};

PlannedVersion read_version(Reader reader) {
    return {.version = reader.text("version"),
            .commit = reader.text("commit"),
            .files = reader.text("files")};
}

PlannedGroup read_group(Reader reader) {
    return {.kind = reader.text("kind"),
            .reference = reader.text("reference"),
            .parameter = reader.text("parameter"),
            .file = reader.text("file"),
            .before = reader.text("before"),
            .after = reader.text("after"),
            .because = reader.texts("because")};
}

PlannedNode read_node(Reader reader, const Plan& plan) {
    PlannedNode out{.name = reader.text("name"),
                    .verdict = reader.text("verdict"),
                    .groups = {},
                    .wave = reader.number("wave"),
                    .identity = reader.map("identity")};
    if (out.wave < 0 || out.wave >= static_cast<std::int64_t>(plan.waves.size()))
        reader.fail("wave", "there is no such wave");
    reader.list("groups", [&](const Value& item, const std::string& path) {
        const bool good = item.is_integer() && item.as_integer() >= 0 &&
                          item.as_integer() < static_cast<std::int64_t>(plan.groups.size());
        if (!good) return reader.fail_at(path, "there is no such group");
        out.groups.push_back(static_cast<std::uint32_t>(item.as_integer()));
    });
    return out;
}

std::vector<PlannedException> read_exceptions(Reader& reader, std::string_view name) {
    std::vector<PlannedException> out;
    reader.list(name, [&](const Value& item, const std::string& path) {
        Reader one = reader.item(item, path);
        out.push_back({.name = one.text("name"), .why = one.text("why")});
    });
    return out;
}

Plan read_members(Reader& reader) {
    Plan out;
    out.program = reader.text("program");
    if (reader.has("made")) {
        const auto made = catalog::parse_wire_time(reader.text("made"));
        if (!made) reader.fail("made", "expected a time");
        out.made = made.value_or(0);
    }
    out.environment = reader.text("environment");
    out.from = read_version(reader.object("from"));
    out.to = read_version(reader.object("to"));
    out.rules_text = reader.text("rules");
    out.waves = reader.texts("waves");
    if (out.waves.empty()) reader.fail("waves", "expected at least one wave");
    reader.list("groups", [&](const Value& item, const std::string& path) {
        out.groups.push_back(read_group(reader.item(item, path)));
    });
    reader.list("nodes", [&](const Value& item, const std::string& path) {
        out.nodes.push_back(read_node(reader.item(item, path), out));
    });
    out.excluded = read_exceptions(reader, "excluded");
    out.unpredictable = read_exceptions(reader, "unpredictable");
    out.uncovered = reader.texts("uncovered");
    out.notes = reader.texts("notes");
    return out;
}

}  // namespace

std::string plan_text(const Plan& plan) {
    const auto one = [](const auto& each) { return "\n  " + json_of(each); };
    return fmt::format(
        "{{\"plan_version\":{},\n \"program\":{},\n{} \"environment\":{},\n \"from\":{},\n "
        "\"to\":{},\n \"rules\":{},\n \"waves\":{},\n \"groups\":{},\n \"nodes\":{},\n "
        "\"excluded\":{},\n \"unpredictable\":{},\n \"uncovered\":{},\n \"notes\":{}}}\n",
        kPlanVersion, json_string(plan.program),
        plan.made == 0 ? std::string()
                       : fmt::format(" \"made\":\"{}\",\n", catalog::format_wire_time(plan.made)),
        json_string(plan.environment), json_of(plan.from), json_of(plan.to),
        json_string(plan.rules_text), json_texts(plan.waves), json_list(plan.groups, one),
        json_list(plan.nodes, one), json_list(plan.excluded, one),
        json_list(plan.unpredictable, one), json_texts(plan.uncovered), json_texts(plan.notes));
}

Result<Plan> read_plan(std::string_view text) {
    base::Arena arena(text.size() + 1024);
    const auto data = value::parse_json(arena, text);
    if (!data) return failure("The plan is not JSON: " + data.error().message);
    std::string error;
    Reader reader(*data, "", error);
    if (error.empty() && reader.number("plan_version") != kPlanVersion && error.empty()) {
        return failure(
            fmt::format("The plan has another format (plan_version is not {})", kPlanVersion));
    }
    Plan out = read_members(reader);
    if (!error.empty()) return failure("The plan is not valid: " + error);
    out.rules = BUNRAKU_TRY(read_rules(out.rules_text));
    for (std::size_t i = 1; i < out.nodes.size(); ++i) {
        if (out.nodes[i - 1].name >= out.nodes[i].name)
            return failure(fmt::format("The plan is not valid: nodes[{}]: not sorted by name", i));
    }
    return out;
}

std::string plan_digest(std::string_view text) { return codec::short_digest(text); }

std::string with_identity(std::string_view text, const PlannedNode& node) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.substr(at).starts_with("%{") ? text.find('}', at) : text.npos;
        const auto found = end == text.npos
                               ? node.identity.end()
                               : node.identity.find(std::string(text.substr(at, end + 1 - at)));
        if (found == node.identity.end()) {
            out += text[at++];
        } else {
            out += found->second;
            at = end + 1;
        }
    }
    return out;
}

}  // namespace bunraku::rollout
