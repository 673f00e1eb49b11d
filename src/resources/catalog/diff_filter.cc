// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/diff_filter.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "core/value/rich_data.h"
#include "resources/catalog/index.h"

namespace bunraku::catalog {

namespace {

bool glob(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p, ++t;
        } else if (star != std::string_view::npos) {
            BUNRAKU_ASSERT(star < pattern.size() && mark <= t);
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

// Returns a string without quotes, and every other value as JSON.
std::string shown(const std::optional<std::string>& json) {
    if (!json) return {};
    base::Arena arena(1024);
    auto data = value::parse_json(arena, *json);
    return data && data->is_string() ? std::string(data->as_string()) : *json;
}

std::vector<std::string> members(const std::optional<std::string>& json) {
    std::vector<std::string> out;
    base::Arena arena(1024);
    if (!json) return out;
    auto data = value::parse_json(arena, *json);
    if (!data || !data->is_array()) return out;
    for (const auto& v : data->as_array()) out.push_back(value::to_json(v));
    std::sort(out.begin(), out.end());
    return out;
}

bool tagged(const Resource& r, const std::vector<std::string>& tags) {
    return std::any_of(r.tags.begin(), r.tags.end(), [&](const std::string& tag) {
        return std::find(tags.begin(), tags.end(), tag) != tags.end();
    });
}

}  // namespace

base::Result<IgnorePattern> IgnorePattern::parse(std::string_view text) {
    IgnorePattern out;
    auto open = text.find('['), close = text.rfind(']');
    // A bracket after the condition is part of the condition's operand.
    if (auto condition = text.find("]::"); condition != std::string_view::npos) close = condition;
    if (open == std::string_view::npos) {
        out.type_ = base::lower(text);
        out.title_ = "*";
        return out;
    }
    if (close == std::string_view::npos || close < open)
        return base::failure(fmt::format(
            "Invalid pattern '{}': expected Type[title] or Type[title]::parameter", text));
    BUNRAKU_ASSERT(open < close && close < text.size());
    out.type_ = base::lower(text.substr(0, open));
    out.title_ = text.substr(open + 1, close - open - 1);
    auto rest = text.substr(close + 1);
    if (rest.empty()) return out;
    if (!rest.starts_with("::") || rest.size() == 2)
        return base::failure(fmt::format(
            "Invalid pattern '{}': expected Type[title] or Type[title]::parameter", text));
    rest.remove_prefix(2);
    for (std::size_t at = rest.find('='); at != std::string_view::npos;
         at = rest.find('=', at + 1)) {
        std::size_t i = at + 1;
        Condition condition = Condition::Either;
        if (i < rest.size() && rest[i] == '+') {
            condition = Condition::New;
            ++i;
        } else if (i < rest.size() && rest[i] == '-') {
            condition = Condition::Old;
            ++i;
        } else if (i < rest.size() && rest[i] == 's') {
            condition = Condition::SameMembers;
            ++i;
        }
        bool regular = i < rest.size() && rest[i] == '~';
        if (regular) ++i;
        if (i >= rest.size() || rest[i] != '>') continue;
        out.condition_ = condition;
        out.regular_ = regular;
        out.operand_ = rest.substr(i + 1);
        rest = rest.substr(0, at);
        break;
    }
    while (true) {
        auto at = rest.find("::");
        out.path_.emplace_back(rest.substr(0, at));
        if (at == std::string_view::npos) break;
        rest.remove_prefix(at + 2);
    }
    BUNRAKU_ASSERT(!out.whole());
    BUNRAKU_ASSERT(out.condition_ != Condition::None || (!out.regular_ && out.operand_.empty()));
    if (out.regular_) {
        if (auto compiled = regex::Regex::compile(out.operand_); !compiled)
            return base::failure(fmt::format("'{}': {}", out.operand_, compiled.error().message));
    }
    return out;
}

bool IgnorePattern::matches_resource(const Ref& ref) const {
    return glob(type_, base::lower(ref.type)) && glob(title_, ref.title);
}

bool IgnorePattern::matches(const Ref& ref, const ValueChange& change) const {
    if (!matches_resource(ref) || path_.size() > change.path.size()) return false;
    for (std::size_t i = 0; i < path_.size(); ++i) {
        if (!glob(path_[i], change.path[i])) return false;
    }
    auto is = [&](const std::optional<std::string>& side) {
        if (!side) return false;
        const auto text = shown(side);
        if (!regular_) return text == operand_;
        auto compiled = regex::Regex::compile(operand_);
        return compiled && (*compiled)->search(text).has_value();
    };
    switch (condition_) {
        case Condition::None: return true;
        case Condition::Either: return is(change.before) || is(change.after);
        case Condition::New: return is(change.after);
        case Condition::Old: return is(change.before);
        case Condition::SameMembers: {
            auto old = members(change.before), now = members(change.after);
            return !old.empty() && old == now;
        }
    }
    BUNRAKU_ASSERT(false);
    return false;
}

void apply_ignores(CatalogDiff& diff, const Catalog& before, const Catalog& after,
                   const std::vector<IgnorePattern>& patterns,
                   const std::vector<std::string>& tags) {
    const Index old_index(before), new_index(after);
    auto ignored = [&](const Ref& ref) {
        for (const auto& p : patterns) {
            if (p.whole() && p.matches_resource(ref)) return true;
        }
        if (tags.empty()) return false;
        auto old = old_index.by_title(ref.type, ref.title);
        auto now = new_index.by_title(ref.type, ref.title);
        BUNRAKU_ASSERT((!old || *old < before.resources.size()) &&
                       (!now || *now < after.resources.size()));
        return (old && tagged(before.resources[*old], tags)) ||
               (now && tagged(after.resources[*now], tags));
    };
    std::erase_if(diff.added, ignored);
    std::erase_if(diff.removed, ignored);
    std::erase_if(diff.changed, [&](const ResourceChange& c) { return ignored(c.ref); });
    for (auto& change : diff.changed) {
        for (auto& parameter : change.parameters) {
            std::erase_if(parameter.values, [&](const ValueChange& v) {
                return std::any_of(patterns.begin(), patterns.end(), [&](const IgnorePattern& p) {
                    return !p.whole() && p.matches(change.ref, v);
                });
            });
        }
        std::erase_if(change.parameters, [](const ParameterChange& p) { return p.values.empty(); });
    }
    std::erase_if(diff.changed, [](const ResourceChange& c) { return c.empty(); });
}

}  // namespace bunraku::catalog
