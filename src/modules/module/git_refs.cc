// SPDX-License-Identifier: Apache-2.0
#include "modules/module/git_refs.h"

#include <algorithm>
#include <cerrno>

namespace bunraku::module {

namespace {

constexpr int kDeepest = 64;

bool is_object(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Removes the first line from `text` and returns it.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return line;
}

bool read_packed(std::string_view text, GitRefs& out) {
    bool peeled = false;
    GitRef* last = nullptr;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.starts_with('#')) {
            peeled = peeled || line.find(" fully-peeled") != line.npos;
        } else if (line.starts_with('^')) {
            if (!last || !is_object(line.substr(1))) return false;
            last->peeled = line.substr(1);
        } else if (!line.empty()) {
            const std::size_t space = line.find(' ');
            if (space == line.npos || !is_object(line.substr(0, space))) return false;
            const std::string object(line.substr(0, space));
            last = &out[std::string(line.substr(space + 1))];
            *last = {.object = object, .peeled = peeled ? object : ""};
        }
    }
    return true;
}

bool read_loose(sys::FileSystem& files, const std::string& repository, const std::string& name,
                int depth, GitRefs& out) {
    auto names = files.list(repository + "/" + name);
    if (!names) return names.error().code == ENOENT;
    for (const std::string& next : *names) {
        const std::string ref = name + "/" + next, path = repository + "/" + ref;
        auto status = files.lstat(path);
        // A running git process may have lock files here, and may remove references that it has
        // packed.
        if (!status || next.ends_with(".lock")) continue;
        if (status->kind == sys::FileKind::Directory) {
            if (depth == 0 || !read_loose(files, repository, ref, depth - 1, out)) return false;
            continue;
        }
        auto text = files.read(path);
        if (!text) {
            if (text.error().code == ENOENT) continue;
            return false;
        }
        std::string_view object = *text;
        while (object.ends_with('\n')) object.remove_suffix(1);
        if (!is_object(object)) return false;
        out[ref] = {.object = std::string(object), .peeled = {}};
    }
    return true;
}

}  // namespace

std::optional<GitRefs> read_git_refs(sys::FileSystem& files, const std::string& repository) {
    if (files.exists(repository + "/reftable")) return std::nullopt;
    // Read loose references first. A reference that is packed in the meantime is then found in
    // packed-refs.
    GitRefs loose, out;
    if (!read_loose(files, repository, "refs", kDeepest, loose)) return std::nullopt;
    auto packed = files.read(repository + "/packed-refs");
    if (!packed && packed.error().code != ENOENT) return std::nullopt;
    if (packed && !read_packed(*packed, out)) return std::nullopt;
    for (auto& [name, ref] : loose) {
        GitRef& there = out[name];
        if (there.object != ref.object) there = std::move(ref);
    }
    return out;
}

GitRefs parse_remote_refs(std::string_view text) {
    constexpr std::string_view kPeeled = "^{}";
    GitRefs out;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::size_t tab = line.find('\t');
        if (tab == line.npos || !is_object(line.substr(0, tab))) continue;
        const std::string object(line.substr(0, tab));
        std::string_view name = line.substr(tab + 1);
        if (name.ends_with(kPeeled)) {
            name.remove_suffix(kPeeled.size());
            if (auto tag = out.find(std::string(name)); tag != out.end())
                tag->second.peeled = object;
        } else if (name.starts_with("refs/")) {
            out[std::string(name)] = {.object = object, .peeled = object};
        }
    }
    return out;
}

}  // namespace bunraku::module
