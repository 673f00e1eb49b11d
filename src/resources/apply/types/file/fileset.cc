// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/file/fileset.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/sys/guarded_file_system.h"

namespace bunraku::apply {
namespace {

// Matches a set such as "[a-z]" at its opening bracket. Returns the length of the set, or 0 if it
// is not closed.
std::size_t match_set(std::string_view pattern, char c, bool* matched) {
    BUNRAKU_ASSERT(pattern.starts_with('['));
    std::size_t i = 1;
    bool negate = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (negate) ++i;
    bool hit = false;
    bool first = true;
    while (i < pattern.size() && (pattern[i] != ']' || first)) {
        first = false;
        if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
        char low = pattern[i++];
        char high = low;
        if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
            ++i;
            if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
            high = pattern[i++];
        }
        hit = hit || (c >= low && c <= high);
    }
    if (i >= pattern.size()) return 0;
    BUNRAKU_ASSERT(pattern[i] == ']' && i > 1);
    *matched = hit != negate;
    return i + 1;
}

}  // namespace

bool fnmatch(std::string_view p, std::string_view t, bool dot_match, bool path_name) {
    std::size_t pi = 0, ti = 0;
    std::size_t star = std::string_view::npos, resume = 0;
    bool at_start = true;
    auto hidden = [&](std::size_t i) {
        return !dot_match && t[i] == '.' && (i == 0 || (path_name && t[i - 1] == '/'));
    };
    while (ti < t.size()) {
        if (pi < p.size() && p[pi] == '*') {
            if (hidden(ti) && at_start) return false;
            star = pi++;
            resume = ti;
            continue;
        }
        bool ok = false;
        std::size_t used = 1;
        if (pi < p.size()) {
            char c = p[pi];
            bool slash = path_name && t[ti] == '/';
            if (c == '?') {
                ok = !slash && !hidden(ti);
            } else if (c == '[' && !slash) {
                bool matched = false;
                std::size_t n = match_set(p.substr(pi), t[ti], &matched);
                ok = n > 0 && matched && !hidden(ti);
                used = std::max<std::size_t>(n, 1);
            } else if (c == '\\' && pi + 1 < p.size()) {
                ok = p[pi + 1] == t[ti];
                used = 2;
            } else {
                ok = c == t[ti];
            }
        }
        if (ok) {
            pi += used;
            ++ti;
            BUNRAKU_ASSERT(pi <= p.size() && ti <= t.size());
            at_start = path_name && t[ti - 1] == '/';
            continue;
        }
        if (star == std::string_view::npos || (path_name && t[resume] == '/')) return false;
        BUNRAKU_ASSERT(star < p.size() && resume <= ti);
        pi = star + 1;
        ti = ++resume;
        at_start = false;
    }
    while (pi < p.size() && p[pi] == '*') ++pi;
    return pi == p.size();
}

std::string temporary_name(Context& context, std::string_view prefix) {
    return fmt::format("{}.bunraku-{}-{:x}", prefix, ::getpid(), context.system.clock.now_ns());
}

void remove_leftovers(Context& context, const std::string& folder, const std::string& prefix) {
    if (!context.warned_once.insert("leftovers " + sys::join(folder, prefix)).second) return;
    sys::FileSystem& files = context.system.files;
    const auto names = files.list(folder);
    if (!names) return;
    const std::string mark = ".bunraku-";
    for (const std::string& name : *names) {
        if (!name.starts_with(prefix + mark)) continue;
        const std::string_view rest = std::string_view(name).substr(prefix.size() + mark.size());
        const std::size_t dash = rest.find('-');
        const auto pid = base::parse_integer<int>(rest.substr(0, dash));
        const bool ours =
            dash != std::string_view::npos && dash + 1 < rest.size() &&
            rest.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
        if (!pid || *pid <= 0 || !ours || context.system.processes.alive(*pid)) continue;
        const std::string path = sys::join(folder, name);
        const auto status = files.lstat(path);
        if (status && status->kind == sys::FileKind::File &&
            status->uid == context.system.users.effective_uid())
            (void)files.remove(path);
    }
}

std::optional<std::vector<std::string>> walk_files(Context& context, sys::FileSystem& files,
                                                   const std::string& path,
                                                   const ContentSearch& walk) {
    auto status = [&](const std::string& p) { return unwrap(files.look(p, walk.follow_links)); };
    auto top = status(path);
    if (!top) return std::nullopt;
    const sys::LinkFreeWalk link_free(files, walk.follow_links ? std::string() : path);
    struct Entry {
        std::string relative;
        std::int64_t depth;
    };
    std::vector<std::string> found{"."};
    std::deque<Entry> queue;
    if (top->kind == sys::FileKind::Directory) queue.push_back({"", 0});
    while (!queue.empty()) {
        Entry entry = std::move(queue.front());
        queue.pop_front();
        BUNRAKU_ASSERT(entry.relative.empty() == (entry.depth == 0));
        if (!walk.recurse || (walk.limit && entry.depth + 1 > *walk.limit)) continue;
        auto names = files.list(entry.relative.empty() ? path : sys::join(path, entry.relative));
        if (!names) throw_system(names.error());
        for (const std::string& name : *names) {
            bool ignored =
                std::any_of(walk.ignore.begin(), walk.ignore.end(),
                            [&](const std::string& pattern) { return fnmatch(pattern, name); });
            if (ignored) continue;
            std::string relative = entry.relative.empty() ? name : entry.relative + "/" + name;
            found.push_back(relative);
            auto s = status(sys::join(path, relative));
            if (s && s->kind == sys::FileKind::Directory) {
                queue.push_back({std::move(relative), entry.depth + 1});
            }
        }
    }
    auto n = static_cast<std::int64_t>(found.size()) - 1;
    BUNRAKU_ASSERT(n >= 0 && found.front() == ".");
    if (walk.max_files > 0 && n > walk.max_files) {
        throw base::PuppetError(fmt::format(
            "The directory '{}' contains {} entries, which exceeds the limit of {} specified by "
            "the max_files parameter for this resource. The limit may be increased, but be aware "
            "that large number of file resources can result in excessive resource consumption and "
            "degraded performance. Consider using an alternate method to manage large directory "
            "trees",
            path, n, walk.max_files));
    }
    if (walk.max_files == 0 && n > 1000) {
        context.message(
            Level::Warning,
            fmt::format("The directory '{}' contains {} entries, which exceeds the default soft "
                        "limit 1000 and may cause excessive resource consumption and degraded "
                        "performance. To remove this warning set a value for `max_files` parameter "
                        "or consider using an alternate method to manage large directory trees",
                        path, n));
    }
    return found;
}

}  // namespace bunraku::apply
