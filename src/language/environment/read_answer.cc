// SPDX-License-Identifier: Apache-2.0
#include "language/environment/read_answer.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"

namespace bunraku::environment {

using codec::short_digest;
using value::Value;

namespace {

/// A failed lookup counts as an answer as well.
template <typename Look>
std::string or_why_not(const Look& look) {
    try {
        return look();
    } catch (const base::PuppetError& error) {
        return "error " + error.message();
    }
}

std::string answer_of(const Files& files, Read kind, const std::string& name) {
    auto joined = [](const std::vector<std::string>& names) {
        return fmt::format("{}", fmt::join(names, "\n"));
    };
    switch (kind) {
        case Read::File: {
            const auto text = files.read(name);
            return text ? short_digest(*text) : fmt::format("errno {}", text.error().code);
        }
        case Read::Exists: {
            const auto stamp = files.stat(name);
            return stamp.directory ? "folder" : stamp.exists ? "file" : "-";
        }
        case Read::Folder: return joined(files.list(name));
        case Read::Glob: return joined(files.glob(name));
        case Read::Variable: return files.variable(name).value_or("\1");
        default: return {};
    }
}

}  // namespace

std::string files_answer(const Files& files, Read kind, const std::string& name) {
    return or_why_not([&] { return answer_of(files, kind, name); });
}

std::string stat_answer(const Files& files, const std::string& name) {
    return or_why_not([&]() -> std::string {
        const auto stamp = files.stat(name);
        if (!stamp.exists) return "-";
        // A file of a commit has no time; its inode, made from the object id, replaces it.
        return fmt::format("{} {} {} {}", stamp.directory, stamp.mtime_ns, stamp.size,
                           stamp.mtime_ns == 0 ? stamp.inode : 0);
    });
}

std::string shown_fact_path(std::string_view path) {
    if (!path.ends_with(kKeysSegment)) return std::string(path);
    path.remove_suffix(kKeysSegment.size());
    if (path.ends_with('.')) path.remove_suffix(1);
    return path.empty() ? "(names)" : fmt::format("{} (keys)", path);
}

namespace {

std::string keys_text(const Value& v) {
    if (!v.is_hash()) return value::to_json(v);
    std::string out = "keys";
    for (const auto& e : v.as_hash()) {
        out += e.value.is_hash() ? "\nh " : "\n- ";
        out += value::to_json(e.key);
    }
    return out;
}

}  // namespace

std::string facts_answer(const Value& root, std::string_view path) {
    const bool keys = path.ends_with(kKeysSegment);
    if (keys) path.remove_suffix(kKeysSegment.size());
    if (keys && path.ends_with('.')) path.remove_suffix(1);
    auto text_of = [keys](const Value& v) {
        return short_digest(keys ? keys_text(v) : value::to_json(v));
    };
    if (path.empty()) return text_of(root);
    base::Arena arena(1024);
    std::vector<Value> segments;
    if (!value::split_dotted(arena, path, segments)) return text_of(root);
    Value at = root;
    std::size_t depth = 0;
    // A lookup finds nothing in a value that is not a collection, as in the language.
    for (const Value& segment : segments) {
        // The whole array counts, because the index that is meant may depend on its length.
        if (!at.is_hash()) break;
        const Value* found = at.as_hash().find(segment);
        if (!found) found = at.as_hash().find(value::to_text(segment));
        if (!found) return fmt::format("-{}", depth);
        at = *found;
        ++depth;
    }
    return fmt::format("{}:{}", depth, text_of(at));
}

std::string_view pure_program(std::string_view listed, std::string_view command) {
    const auto program = command.substr(0, command.find(' '));
    if (!program.starts_with('/')) return {};
    for (const auto path : base::split(listed, ','))
        if (base::trim(path) == program) return program;
    return {};
}

}  // namespace bunraku::environment
