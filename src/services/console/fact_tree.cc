// SPDX-License-Identifier: Apache-2.0
#include "services/console/fact_tree.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "services/console/format.h"

namespace bunraku::console {

using value::Value;

namespace {

/// Values of one fact that a page shows; a fact may have a megabyte.
constexpr int kMostLeaves = 2000;
constexpr int kMostDepth = 40;

bool contains_word(std::string_view text, std::string_view lower_search) {
    return base::lower(text).find(lower_search) != std::string::npos;
}

class TreeWriter {
public:
    TreeWriter(Html& h, std::string_view search) : h_(h), search_(base::lower(search)) {}

    void write(std::string_view name, const Value& value, const std::string& path, int depth) {
        const auto item = h_.in("li", {{"class", "leaf", !is_branch(value)}});
        if (!is_branch(value) || depth > kMostDepth) return leaf(name, value);
        const bool open = !search_.empty() && matches(value, path, depth);
        const auto details = h_.in("details", {{"open", open}});
        {
            const auto summary = h_.in("summary");
            key(name);
            h_.text(" ").leaf("span", {{"class", "m"}}, size_of(value));
        }
        const auto list = h_.in("ul");
        each(value, [&](std::string_view inner, const Value& next) {
            if (--left_ < 0) {
                if (left_ == -1) h_.leaf("li", {{"class", "m"}}, "… more is not shown");
                return;
            }
            write(inner, next, longer(path, inner), depth + 1);
        });
    }
    bool matches(const Value& value, const std::string& path, int depth) const {
        if (contains_word(path, search_)) return true;
        if (!is_branch(value) || depth > kMostDepth) {
            return contains_word(
                value.is_string() ? std::string(value.as_string()) : value::to_json(value),
                search_);
        }
        bool found = false;
        each(value, [&](std::string_view inner, const Value& next) {
            found = found || matches(next, longer(path, inner), depth + 1);
        });
        return found;
    }

private:
    /// Appends a key to a path. Keys come from nodes and may be long; a path ends after 1,000
    /// bytes.
    static std::string longer(const std::string& path, std::string_view inner) {
        constexpr std::size_t kMostPath = 1000;
        return path.size() > kMostPath ? path
                                       : path + "." + std::string(inner.substr(0, kMostPath));
    }
    static bool is_branch(const Value& value) {
        return (value.is_hash() && !value.as_hash().entries.empty()) ||
               (value.is_array() && !value.as_array().empty());
    }
    template <class Visitor>
    static void each(const Value& value, const Visitor& visitor) {
        if (value.is_hash()) {
            for (const auto& entry : value.as_hash().entries)
                visitor(entry.key.as_string(), entry.value);
        } else {
            std::size_t i = 0;
            for (const auto& member : value.as_array()) visitor(std::to_string(i++), member);
        }
    }
    static std::string size_of(const Value& value) {
        return value.is_hash()
                   ? count_text(static_cast<std::int64_t>(value.as_hash().entries.size()), "entry",
                                "entries")
                   : count_text(static_cast<std::int64_t>(value.as_array().size()), "value",
                                "values");
    }
    void key(std::string_view name) {
        const auto span = h_.in("span", {{"class", "k"}});
        h_.foreign(name, 200);
    }
    void leaf(std::string_view name, const Value& value) {
        key(name);
        h_.text(" ");
        const auto span = h_.in("span", {{"class", value.is_string() ? "str" : "num"}});
        if (value.is_string()) {
            h_.foreign(value.as_string(), 1000);
        } else {
            h_.foreign(value::to_json(value), 1000);
        }
    }

    Html& h_;
    std::string search_;
    int left_ = kMostLeaves;
};

}  // namespace

void fact_tree(Html& h, std::string_view name, const Value& fact, std::string_view search) {
    TreeWriter(h, search).write(name, fact, std::string(name), 0);
}

bool fact_matches(std::string_view name, const Value& fact, std::string_view search) {
    Html unused;
    return TreeWriter(unused, search).matches(fact, std::string(name), 0);
}

}  // namespace bunraku::console
