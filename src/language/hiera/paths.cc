// SPDX-License-Identifier: Apache-2.0
#include "language/hiera/paths.h"

#include <algorithm>
#include <fnmatch.h>

#include "language/environment/environment.h"

namespace bunraku::hiera {
namespace {

constexpr std::size_t kMostEntries = 100'000;

/// Expands the alternatives of the first "{..}", recursively.
void expand_braces(const std::string& pattern, std::vector<std::string>& out, int depth = 0) {
    const auto open = pattern.find('{');
    if (open == std::string::npos || depth > 8 || out.size() > 1000) {
        out.push_back(pattern);
        return;
    }
    int level = 0;
    std::vector<std::string> parts(1);
    std::size_t i = open;
    for (; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '{' && level++ == 0) continue;
        if (c == '}' && --level == 0) break;
        if (c == ',' && level == 1) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    if (i == pattern.size()) {
        out.push_back(pattern);
        return;
    }
    for (const auto& part : parts)
        expand_braces(pattern.substr(0, open) + part + pattern.substr(i + 1), out, depth + 1);
}

bool magic(std::string_view s) { return s.find_first_of("*?[\\") != std::string_view::npos; }

class Globber {
public:
    Globber(const environment::Environment& environment, std::vector<std::string>& out)
        : environment_(environment), out_(out) {}

    void run(const std::string& pattern) {
        std::vector<std::string> parts;
        std::size_t at = 0;
        while (at <= pattern.size()) {
            auto end = pattern.find('/', at);
            if (end == std::string::npos) end = pattern.size();
            if (end > at) parts.push_back(pattern.substr(at, end - at));
            at = end + 1;
        }
        walk(pattern.starts_with('/') ? "/" : "", parts, 0, 0);
    }

private:
    void walk(const std::string& base, const std::vector<std::string>& parts, std::size_t i,
              int depth) {
        if (seen_ > kMostEntries || depth > 200) return;
        if (i == parts.size()) {
            if (!base.empty()) out_.push_back(base);
            return;
        }
        const std::string& part = parts[i];
        const bool last = i + 1 == parts.size();
        if (part == "**" && !last) {
            walk(base, parts, i + 1, depth + 1);
            for (const auto& name : names(base)) {
                if (name.starts_with('.')) continue;
                const std::string path = joined(base, name);
                environment_.note(environment::Read::Exists, path);
                if (environment_.files().is_real_folder(path)) walk(path, parts, i, depth + 1);
            }
            return;
        }
        if (!magic(part)) {
            const std::string path = joined(base, part);
            // A dangling link exists, too.
            if (environment_.stat(path).exists || environment_.files().link(path))
                walk(path, parts, i + 1, depth + 1);
            return;
        }
        for (const auto& name : names(base)) {
            if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0)
                walk(joined(base, name), parts, i + 1, depth + 1);
        }
    }

    static std::string joined(const std::string& base, const std::string& name) {
        return base.empty() || base.ends_with('/') ? base + name : base + "/" + name;
    }

    std::vector<std::string> names(const std::string& base) {
        auto out = environment_.list(base.empty() ? "." : base);
        seen_ += out.size();
        return out;
    }

    const environment::Environment& environment_;
    std::vector<std::string>& out_;
    std::size_t seen_ = 0;
};

}  // namespace

std::string join_path(std::string_view base, std::string_view more) {
    if (more.starts_with('/')) return std::string(more);
    std::string out(base);
    auto strip = [&] {
        while (out.size() > 1 && out.ends_with('/')) out.pop_back();
    };
    strip();
    while (true) {
        while (more.starts_with('/')) more.remove_prefix(1);
        if (more == "." || more.starts_with("./")) {
            more.remove_prefix(std::min<std::size_t>(2, more.size()));
            continue;
        }
        if (more != ".." && !more.starts_with("../")) break;
        const auto slash = out.rfind('/');
        const std::string last = slash == std::string::npos ? out : out.substr(slash + 1);
        if (last == "..") break;
        if (out == "/") {
            // The parent of the root is the root.
        } else if (slash == std::string::npos) {
            if (out == "." || out.empty()) break;
            out = ".";
        } else {
            out.resize(std::max<std::size_t>(slash, 1));
            strip();
        }
        more.remove_prefix(std::min<std::size_t>(3, more.size()));
    }
    if (more.empty()) return out.empty() ? "." : out;
    if (out.empty() || out == ".") return std::string(more);
    if (!out.ends_with('/')) out += '/';
    return out.append(more);
}

std::vector<std::string> glob_paths(const environment::Environment& environment,
                                    const std::string& pattern) {
    std::vector<std::string> patterns, out;
    expand_braces(pattern, patterns);
    for (const auto& each : patterns) Globber(environment, out).run(each);
    return out;
}

}  // namespace bunraku::hiera
