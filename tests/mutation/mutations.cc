// SPDX-License-Identifier: Apache-2.0
#include "mutations.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/environment/files.h"

namespace bunraku::mutation {

using value::Value;

std::string pick(Random& random, const std::vector<std::string>& from) {
    return from.empty() ? std::string() : from[random() % from.size()];
}

std::string edit(Random& random, std::string_view path, std::string& text) {
    auto line_start = [&] {
        if (text.empty()) return std::size_t{0};
        const auto nl = text.rfind('\n', random() % text.size());
        return nl == std::string::npos ? 0 : nl + 1;
    };
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 9) {
        case 0:
            if (!text.empty()) text[at] = static_cast<char>(' ' + random() % 95);
            return "a letter";
        case 1:
            if (!text.empty()) text.erase(at, 1);
            return "a letter less";
        case 2: {
            const auto start = line_start();
            const auto end = std::min(text.find('\n', start), text.size());
            text.erase(start, end - start);
            return "a line less";
        }
        case 3: {
            const auto start = line_start();
            const auto end = std::min(text.find('\n', start), text.size());
            text.insert(start, text.substr(start, end - start) + "\n");
            return "a line twice";
        }
        case 4: text.insert(line_start(), "# a comment\n"); return "a comment";
        case 5: {
            const auto digit = text.find_first_of("0123456789", at);
            if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random() % 10);
            return "a digit";
        }
        case 6: {
            const auto quote = text.find_first_of("'\"", at);
            if (quote != std::string::npos) text.insert(quote + 1, "q");
            return "a text";
        }
        case 7:
            if (path.ends_with(".rb")) {
                text += "\n$mutation = 1\n";
            } else if (path.ends_with(".pp")) {
                text += fmt::format("\nclass mutation::c{} {{ }}\n", random() % 10);
            } else {
                text += "\nmutation::key: 1\n";
            }
            return "something more";
        default: text += "\n"; return "an empty line";
    }
}

std::string invented(Random& random, std::string_view path, const std::vector<std::string>& keys) {
    const auto key = keys.empty() ? "k" : pick(random, keys);
    if (path.ends_with(".yaml") || path.ends_with(".yml")) return fmt::format("---\n{}: 7\n", key);
    if (path.ends_with(".json")) return fmt::format("{{\"{}\": 7}}", key);
    if (path.ends_with(".conf")) return "";
    if (path.ends_with(".pp")) return "class mutation { }\n";
    if (path.ends_with(".rb")) return "raise 'a mutation'\n";
    return "text\n";
}

namespace {

Value change_in(Random& random, base::Arena& arena, const Value& v, std::string& path,
                const std::vector<std::string>& along, std::size_t depth) {
    if (v.is_hash() && !v.as_hash().empty()) {
        const auto& hash = v.as_hash();
        std::size_t chosen = random() % hash.size();
        std::size_t i = 0;
        if (depth < along.size())
            for (const auto& e : hash) {
                if (value::to_text(e.key) == along[depth]) chosen = i;
                ++i;
            }
        i = 0;
        value::HashBuilder out(arena, hash.size());
        for (const auto& e : hash) {
            if (i++ != chosen) {
                out.set(e.key, e.value);
                continue;
            }
            path += (path.empty() ? "" : ".") + value::to_text(e.key);
            if (random() % 20 == 0) {
                path += " gone";
            } else {
                out.set(e.key, change_in(random, arena, e.value, path, along, depth + 1));
            }
        }
        if (depth == 0 && random() % 20 == 0) out.set("mutation", Value::integer(1));
        return out.build();
    }
    if (v.is_array() && !v.as_array().empty()) {
        std::vector<Value> items(v.as_array().begin(), v.as_array().end());
        auto& item = items[random() % items.size()];
        item = change_in(random, arena, item, path, along, depth + 1);
        return value::make_array(arena, items);
    }
    if (v.is_integer()) return Value::integer(v.as_integer() + 1);
    if (v.is(value::Kind::Boolean)) return Value::boolean(!v.truthy());
    return value::make_string(arena, value::to_text(v) + "x");
}

}  // namespace

std::string change_facts(Random& random, std::string_view facts,
                         const std::vector<std::string>& paths, std::string& what) {
    base::Arena arena(64 * 1024);
    auto parsed = value::parse_json(arena, facts);
    if (!parsed || !parsed->is_hash()) return std::string(facts);
    std::vector<std::string> along;
    // Half of the time, changes a path that was read.
    if (random() % 2 && !paths.empty()) {
        const auto path = pick(random, paths);
        for (std::size_t at = 0; at <= path.size();) {
            const auto dot = std::min(path.find('.', at), path.size());
            along.push_back(path.substr(at, dot - at));
            at = dot + 1;
        }
    }
    return value::to_json(change_in(random, arena, *parsed, what, along, 0));
}

void Disturbed::put(const std::string& path, const std::string* text) {
    Was was;
    was.path = path;
    struct stat st{};
    if (::stat(path.c_str(), &st) == 0) {
        was.there = true;
        was.text = environment::disk_files()->read(path).value_or("");
        was.seconds = st.st_mtim.tv_sec;
        was.nanoseconds = st.st_mtim.tv_nsec;
    }
    for (std::filesystem::path folder = std::filesystem::path(path).parent_path();
         !std::filesystem::exists(folder); folder = folder.parent_path())
        was.made.insert(was.made.begin(), folder);
    for (const auto& folder : was.made) ::mkdir(folder.c_str(), 0700);
    if (text) {
        std::ofstream(path, std::ios::binary) << *text;
    } else {
        ::unlink(path.c_str());
    }
    was_.push_back(std::move(was));
}

void Disturbed::restore_last() {
    const Was was = std::move(was_.back());
    was_.pop_back();
    if (was.there) {
        std::ofstream(was.path, std::ios::binary) << was.text;
        const timespec times[2] = {{was.seconds, was.nanoseconds}, {was.seconds, was.nanoseconds}};
        ::utimensat(AT_FDCWD, was.path.c_str(), times, 0);
    } else {
        ::unlink(was.path.c_str());
    }
    for (auto it = was.made.rbegin(); it != was.made.rend(); ++it) ::rmdir(it->c_str());
}

void Disturbed::restore() {
    while (!was_.empty()) restore_last();
}

}  // namespace bunraku::mutation
