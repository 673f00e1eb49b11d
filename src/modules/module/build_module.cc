// SPDX-License-Identifier: Apache-2.0
#include "modules/module/build_module.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>

#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "modules/module/tarball.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;

/// Reports whether the name is never part of a release (Puppet's ARTIFACTS).
bool is_artifact(std::string_view name) {
    return name.starts_with('.') || name.starts_with('~') || name.starts_with('#') ||
           name == "pkg" || name == "coverage" || name == "checksums.json" || name == "REVISION";
}

/// A line of a .gitignore file: a pattern of path segments, in which "**" matches any number of
/// folders.
struct Ignore {
    std::vector<std::string> parts;
    bool negated = false, folders_only = false, anchored = false;
};

bool match_folders(const std::vector<std::string>& pattern, std::size_t p,
                   const std::vector<std::string>& path, std::size_t i, int& steps) {
    if (++steps > 100000) return false;
    if (p == pattern.size()) return i == path.size();
    if (pattern[p] == "**") {
        // At the end of a pattern, "**" matches everything inside the folder.
        if (p + 1 == pattern.size()) return i < path.size();
        for (std::size_t k = i; k <= path.size(); ++k) {
            if (match_folders(pattern, p + 1, path, k, steps)) return true;
        }
        return false;
    }
    return i < path.size() && ::fnmatch(pattern[p].c_str(), path[i].c_str(), 0) == 0 &&
           match_folders(pattern, p + 1, path, i + 1, steps);
}

std::vector<std::string> folders_of(std::string_view path) {
    std::vector<std::string> out;
    for (std::string_view part : base::split(path, '/')) {
        if (!part.empty()) out.emplace_back(part);
    }
    return out;
}

std::vector<Ignore> read_ignores(const std::string& text) {
    std::vector<Ignore> out;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t eol = rest.find('\n');
        std::string_view row = rest.substr(0, eol);
        rest = eol == std::string_view::npos ? std::string_view{} : rest.substr(eol + 1);
        while (row.ends_with('\r')) row.remove_suffix(1);
        // A trailing blank is significant only after a backslash.
        while (row.ends_with(' ') && !row.ends_with("\\ ")) row.remove_suffix(1);
        if (row.empty() || row[0] == '#') continue;
        Ignore i;
        if (row[0] == '!') {
            i.negated = true;
            row.remove_prefix(1);
        }
        if (row.ends_with('/')) {
            i.folders_only = true;
            row.remove_suffix(1);
        }
        i.anchored = row.find('/') != std::string_view::npos;
        if (row.starts_with('/')) row.remove_prefix(1);
        i.parts = folders_of(row);
        if (!i.parts.empty()) out.push_back(std::move(i));
    }
    return out;
}

bool ignored(const std::vector<Ignore>& all, const std::string& path, bool folder) {
    bool out = false;
    const std::vector<std::string> parts = folders_of(path);
    for (const Ignore& i : all) {
        if (i.folders_only && !folder) continue;
        int steps = 0;
        const std::size_t from = i.anchored ? 0 : parts.size() - 1;
        if (match_folders(i.parts, 0, parts, from, steps)) out = !i.negated;
    }
    return out;
}

Result<void> gather(sys::FileSystem& fs, const std::string& root, const std::string& at,
                    const std::vector<Ignore>& ignores, std::vector<PackedFile>& files, int depth) {
    if (depth > 100) return failure("the folders are nested too deeply: " + at);
    for (const std::string& name : BUNRAKU_TRY(fs.list(root + (at.empty() ? "" : "/" + at)))) {
        if (is_artifact(name)) continue;
        const std::string path = at.empty() ? name : at + "/" + name;
        const sys::FileStatus status = BUNRAKU_TRY(fs.lstat(root + "/" + path));
        const bool folder = status.kind == sys::FileKind::Directory;
        if (ignored(ignores, path, folder)) continue;
        if (status.kind == sys::FileKind::Link) {
            return failure(fmt::format(
                "Symlinks in modules are unsupported. Please investigate symlink {}->{}.", path,
                fs.read_link(root + "/" + path).value_or("")));
        }
        if (folder) {
            BUNRAKU_TRY_VOID(gather(fs, root, path, ignores, files, depth + 1));
        } else if (status.kind == sys::FileKind::File) {
            files.push_back(
                {path, BUNRAKU_TRY(fs.read(root + "/" + path)), (status.mode & 0111) != 0});
        }
    }
    return {};
}

}  // namespace

Result<std::string> build_module(const std::string& folder) {
    auto& fs = sys::disk();
    auto text = fs.read(folder + "/metadata.json");
    if (!text) {
        return failure(fmt::format(
            "Unable to find metadata.json in module root at {} See "
            "https://puppet.com/docs/puppet/latest/modules_publishing.html for required file "
            "format.",
            folder));
    }
    const Metadata metadata = BUNRAKU_TRY(parse_metadata(*text));
    std::string ignore;
    for (const char* name : {"/.pdkignore", "/.pmtignore", "/.gitignore"}) {
        if (auto found = fs.read(folder + name)) {
            ignore = *found;
            break;
        }
    }
    std::vector<PackedFile> files;
    BUNRAKU_TRY_VOID(gather(fs, folder, "", read_ignores(ignore), files, 0));
    std::sort(files.begin(), files.end(),
              [](const PackedFile& a, const PackedFile& b) { return a.path < b.path; });
    std::string sums = "{";
    for (const PackedFile& f : files) {
        sums +=
            fmt::format("{}\n  {}: \"{}\"", sums.size() > 1 ? "," : "", codec::json_string(f.path),
                        codec::hex_digest(codec::DigestKind::Md5, f.content));
    }
    files.push_back({"checksums.json", sums + "\n}\n", false});
    const std::string slug = metadata.slug();
    const std::string bytes = BUNRAKU_TRY(pack_tarball(slug, files));
    // Verify that a forge would accept the archive.
    auto good = inspect_tarball(bytes);
    if (!good) return failure("the archive would be refused: " + good.error().message);
    BUNRAKU_TRY_VOID(fs.make_directories(folder + "/pkg", 0777));
    const std::string path = folder + "/pkg/" + slug + ".tar.gz";
    BUNRAKU_TRY_VOID(fs.replace(path, bytes, {.mode = 0644}));
    return path;
}

Result<std::vector<std::string>> init_module(const std::string& full_name,
                                             const std::string& parent) {
    auto name = parse_module_name(full_name);
    if (!name) {
        return failure(
            fmt::format("'{}' is not a full module name: AUTHOR-NAME is needed", full_name));
    }
    for (char c : name->name) {
        if (c >= 'A' && c <= 'Z') {
            return failure(
                fmt::format("'{}': the names of modules are written in lower case", full_name));
        }
    }
    auto& fs = sys::disk();
    const std::string folder = parent + "/" + name->name;
    if (fs.exists(folder)) return failure(folder + " already exists.");
    const std::string& n = name->name;
    const std::vector<std::pair<std::string, std::string>> files = {
        {"metadata.json",
         fmt::format("{{\n  \"name\": \"{}-{}\",\n  \"version\": \"0.1.0\",\n  \"author\": "
                     "\"{}\",\n  \"summary\": \"\",\n  \"license\": \"Apache-2.0\",\n  "
                     "\"source\": \"\",\n  \"project_page\": null,\n  \"issues_url\": null,\n  "
                     "\"dependencies\": [],\n  \"operatingsystem_support\": [],\n  "
                     "\"requirements\": [\n    {{\n      \"name\": \"puppet\",\n      "
                     "\"version_requirement\": \">= 7.0.0 < 9.0.0\"\n    }}\n  ]\n}}\n",
                     name->author, n, name->author)},
        {"README.md", fmt::format("# {0}\n\nWhat this module manages.\n\n## Usage\n\n```puppet\n"
                                  "include {0}\n```\n",
                                  n)},
        {"CHANGELOG.md", "# Changelog\n\n## 0.1.0\n\n* First version.\n"},
        {"hiera.yaml",
         "---\nversion: 5\ndefaults:\n  datadir: data\n  data_hash: yaml_data\n"
         "hierarchy:\n  - name: common\n    path: common.yaml\n"},
        {"data/common.yaml", "--- {}\n"},
        {"manifests/init.pp",
         fmt::format("# @summary What this class manages.\n#\n# @example\n#   include {0}\nclass "
                     "{0} {{\n}}\n",
                     n)},
        {"examples/init.pp", fmt::format("include {}\n", n)},
    };
    std::vector<std::string> made{n};
    BUNRAKU_TRY_VOID(fs.make_directories(folder, 0777));
    for (const auto& [path, content] : files) {
        const std::string full = folder + "/" + path;
        BUNRAKU_TRY_VOID(fs.make_directories(std::string(sys::directory_name(full)), 0777));
        BUNRAKU_TRY_VOID(fs.write(full, content));
        made.push_back(n + "/" + path);
    }
    return made;
}

}  // namespace bunraku::module
