// SPDX-License-Identifier: Apache-2.0
#include "services/server/file_serving.h"

#include <cctype>
#include <cerrno>
#include <deque>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/sys/system.h"
#include "modules/module/deploy_folder.h"
#include "resources/apply/types/file/fileset.h"

namespace bunraku::server {

using base::Result;
using sys::FileKind;

namespace {

/// Reports whether a key could lead outside its root.
bool leads_outside(std::string_view key) {
    for (const auto part : base::words(key, "/"))
        if (part == "..") return true;
    return key.find('\0') != std::string_view::npos;
}

/// Returns the path at which a file of the environment is read.
std::string place_of(const FileRequest& wanted, const std::string& path) {
    return wanted.files ? wanted.files->place(path) : path;
}

/// Returns an error with the paths of the environment's own folder.
base::Error named(const FileRequest& wanted, base::Error error) {
    const auto* moved = wanted.files ? wanted.files->moved() : nullptr;
    if (moved) error.message = moved->named(error.message);
    return error;
}

/// Returns the folder of a module that a mount contains.
std::string_view folder_of(std::string_view mount) {
    if (mount == "plugins") return "lib";
    if (mount == "pluginfacts") return "facts.d";
    if (mount == "locales") return "locales";
    return {};
}

}  // namespace

void write_json(std::string& out, const FileFacts& f) {
    const auto text = [&](std::string_view name, const std::string* value) {
        out += fmt::format(R"("{}":{})", name, value ? codec::json_string(*value) : "null");
    };
    out += '{';
    text("path", &f.path);
    out += ',';
    text("relative_path", f.relative ? &*f.relative : nullptr);
    out += ',';
    text("links", &f.links);
    out +=
        fmt::format(R"(,"owner":{},"group":{},"mode":{},"checksum":{{)", f.owner, f.group, f.mode);
    text("type", &f.checksum_type);
    out += ',';
    text("value", f.checksum ? &*f.checksum : nullptr);
    out += "},";
    text("type", &f.type);
    out += ',';
    text("destination", f.destination ? &*f.destination : nullptr);
    if (!f.content_uri.empty()) {
        out += ',';
        text("content_uri", &f.content_uri);
    }
    if (!f.source.empty()) {
        out += ',';
        text("source", &f.source);
    }
    out += '}';
}

Result<std::string> Digests::of(std::string_view kind, const std::string& path,
                                const sys::FileStatus& status) {
    const std::string key = fmt::format("{}:{}", kind, path);
    {
        const std::lock_guard lock(mutex_);
        const auto it = known_.find(key);
        if (it != known_.end() && it->second.inode == status.inode &&
            it->second.size == status.size && it->second.mtime == status.mtime_ns &&
            it->second.ctime == status.ctime_ns)
            return it->second.digest;
    }
    const bool lite = kind.ends_with("lite");
    const auto algorithm = codec::digest_kind(lite ? kind.substr(0, kind.size() - 4) : kind);
    if (!algorithm) return base::failure(fmt::format("Unsupported checksum type {}", kind));
    codec::Digest digest(*algorithm);
    std::size_t left = lite ? 512 : SIZE_MAX;
    BUNRAKU_TRY_VOID(sys::disk().read_chunks(path, [&](std::string_view bytes) {
        digest.update(bytes.substr(0, left));
        left -= std::min(left, bytes.size());
        return left > 0;
    }));
    std::string hex = digest.hex();
    // A file that changed a moment ago may change again without a new timestamp, so its digest is
    // not cached.
    const auto now = sys::make_real_clock()->now_ns();
    const std::lock_guard lock(mutex_);
    if (now - std::max(status.mtime_ns, status.ctime_ns) > 2'000'000'000) {
        if (known_.size() > 200'000) known_.clear();
        known_[key] = {status.inode, status.size, status.mtime_ns, status.ctime_ns, hex};
    }
    return hex;
}

std::optional<std::string> FileMounts::custom_mount(std::string_view name,
                                                    std::string_view node) const {
    const auto text = environment::read_file(settings_.text("fileserverconfig"));
    if (!text) return std::nullopt;
    std::string_view section, rest = *text;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        const auto line = base::trim(rest.substr(0, end), " \t\r");
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (line.starts_with('[') && line.ends_with(']')) {
            section = line.substr(1, line.size() - 2);
        } else if (section == name && line.starts_with("path")) {
            const auto value = base::trim(line.substr(4), " \t=");
            std::string path;
            for (std::size_t i = 0; i < value.size(); ++i) {
                if (value[i] != '%' || i + 1 == value.size()) {
                    path += value[i];
                    continue;
                }
                const auto dot = node.find('.');
                switch (value[++i]) {
                    case 'H': path += node; break;
                    case 'h': path += node.substr(0, dot); break;
                    case 'd':
                        path += dot == std::string_view::npos ? "" : node.substr(dot + 1);
                        break;
                    case '%': path += '%'; break;
                    default: path += value.substr(i - 1, 2);
                }
            }
            return path;
        }
    }
    return std::nullopt;
}

std::vector<std::string> FileMounts::places(const environment::Environment& environment,
                                            std::string_view key, std::string_view node) const {
    std::vector<std::string> out;
    if (leads_outside(key)) return out;
    const auto slash = key.find('/');
    const auto mount = key.substr(0, slash);
    std::string_view rest = slash == std::string_view::npos ? "" : key.substr(slash + 1);
    while (rest.starts_with('/')) rest.remove_prefix(1);
    while (rest.ends_with('/')) rest.remove_suffix(1);
    const auto below = [&](std::string folder) {
        if (!rest.empty()) folder = sys::join(folder, rest);
        out.push_back(std::move(folder));
    };
    if (const auto folder = folder_of(mount); !folder.empty()) {
        for (const auto& module : environment.modules()) below(sys::join(module.path, folder));
        return out;
    }
    if (mount == "modules" || mount == "scripts" || mount == "tasks") {
        const auto next = rest.find('/');
        const auto* module = environment.module(rest.substr(0, next));
        if (!module) return out;
        rest = next == std::string_view::npos ? "" : rest.substr(next + 1);
        below(sys::join(module->path, mount == "modules" ? "files" : mount));
        return out;
    }
    if (const auto folder = custom_mount(mount, node)) below(*folder);
    return out;
}

std::optional<std::string> FileMounts::find(const environment::Environment& environment,
                                            std::string_view key, std::string_view node) const {
    // A broken link counts as missing.
    for (auto& path : places(environment, key, node))
        if (sys::disk().stat(environment.files().place(path))) return std::move(path);
    return std::nullopt;
}

void FileMounts::check(std::string_view key, std::string_view node, std::string_view verb,
                       std::string_view indirection) const {
    const auto mount = key.substr(0, key.find('/'));
    if (mount == "modules" || mount == "scripts" || mount == "tasks") {
        if (base::words(key, "/").size() < 2) throw base::plain_error("No module specified");
        return;
    }
    if (!folder_of(mount).empty() || custom_mount(mount, node)) return;
    const auto is_word = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
    };
    if (!std::ranges::all_of(mount, is_word))
        throw base::plain_error(fmt::format("Cannot find file: Invalid mount '{}'", mount));
    throw base::plain_error(fmt::format("Not authorized to call {} on /{}/{} with {{:rest=>{}}}",
                                        verb, indirection, key, codec::json_string(key)));
}

std::vector<std::string> FileMounts::search(const environment::Environment& environment,
                                            std::string_view key, std::string_view node,
                                            bool watch) const {
    std::vector<std::string> out;
    // A search of plugins always covers all plugins (Puppet 8.11, file_serving/mount/plugins.rb).
    const auto mount = key.substr(0, key.find('/'));
    const bool plugins = !folder_of(mount).empty();
    if (plugins && !leads_outside(key)) key = mount;
    const auto& files = environment.files();
    for (auto& path : places(environment, key, node)) {
        if (watch) (void)files.stat(path);
        if (sys::disk().stat(files.place(path))) out.push_back(std::move(path));
    }
    // For a module's folder, only the first match is searched.
    if (plugins || out.size() < 2) return out;
    out.resize(1);
    return out;
}

std::vector<std::string> FileMounts::roots(const environment::Environment& environment) const {
    for (const auto& folder : environment.modulepath())
        if (sys::disk().stat(environment.files().place(folder))) return {folder};
    // The machine has no code folder yet, so any existing folder is sufficient.
    for (auto& folder : {settings_.text("codedir"), settings_.text("statedir")})
        if (sys::disk().stat(folder)) return {folder};
    return {"/"};
}

Result<FileFacts> FileMounts::look(const std::string& base, std::optional<std::string> relative,
                                   const FileRequest& wanted) {
    const std::string known = !relative || *relative == "." ? base : sys::join(base, *relative);
    if (wanted.watch && wanted.files) (void)wanted.files->stat(known);
    auto out = look_at(place_of(wanted, known), base, std::move(relative), wanted);
    if (!out) return std::unexpected(named(wanted, std::move(out).error()));
    return out;
}

Result<FileFacts> FileMounts::look_at(const std::string& full, const std::string& base,
                                      std::optional<std::string> relative,
                                      const FileRequest& wanted) {
    const auto status =
        BUNRAKU_TRY(wanted.follow_links ? sys::disk().stat(full) : sys::disk().lstat(full));
    FileFacts out;
    out.path = base;
    out.relative = std::move(relative);
    out.links = wanted.follow_links ? "follow" : "manage";
    out.owner = wanted.real_owner ? status.uid : ::geteuid();
    out.group = wanted.real_owner ? status.gid : ::getegid();
    out.mode = wanted.real_owner ? status.mode : 0644;
    // Deployed versions are read-only. Agents get the mode from the repository, as with r10k.
    if (wanted.real_owner && status.kind == FileKind::File && (status.mode & 0222) == 0 &&
        module::in_version(sys::disk(), full))
        out.mode |= 0200;
    out.type = sys::file_kind_name(status.kind);
    out.checksum_type = wanted.checksum;
    const auto digest = [&](const sys::FileStatus& of) -> Result<std::string> {
        if (wanted.checksum == "none") return std::string("{none}");
        if (wanted.checksum == "mtime" || wanted.checksum == "ctime") {
            return fmt::format(
                "{{{}}}{}", wanted.checksum,
                sys::local_text(wanted.checksum == "mtime" ? of.mtime_ns : of.ctime_ns));
        }
        return fmt::format("{{{}}}{}", wanted.checksum,
                           BUNRAKU_TRY(digests_.of(wanted.checksum, full, of)));
    };
    switch (status.kind) {
        case FileKind::File: out.checksum = BUNRAKU_TRY(digest(status)); break;
        case FileKind::Directory:
            out.checksum_type = "ctime";
            out.checksum = "{ctime}" + sys::local_text(status.ctime_ns);
            break;
        case FileKind::Link: {
            out.destination = BUNRAKU_TRY(sys::disk().read_link(full));
            const auto target = sys::disk().stat(full);
            if (target && target->kind == FileKind::File)
                if (auto sum = digest(*target)) out.checksum = std::move(*sum);
            break;
        }
        case FileKind::Fifo:
        case FileKind::Socket:
            out.checksum_type = "none";
            out.checksum = "{none}";
            break;
        default: return base::failure(fmt::format("Cannot manage files of type {}", out.type));
    }
    return out;
}

std::vector<FileFacts> FileMounts::walk(const std::vector<std::string>& folders,
                                        const FileRequest& wanted,
                                        std::vector<std::string>* broken) {
    std::vector<FileFacts> out;
    std::set<std::string> seen;
    const auto& search = wanted.search;
    const auto ignored = [&](const std::string& name) {
        for (const auto& pattern : search.ignore)
            if (apply::fnmatch(pattern, name)) return true;
        return false;
    };
    for (const auto& folder : folders) {
        std::int64_t count = 0;
        std::deque<std::pair<std::string, std::int64_t>> waiting;
        const auto add = [&](const std::string& relative, std::int64_t depth) {
            auto facts = look(folder, relative, wanted);
            if (!facts) {
                const auto code = facts.error().code;
                if (broken && (code == ENOENT || code == ELOOP))
                    return broken->push_back(sys::join(folder, relative));
                throw base::plain_error(facts.error().message);
            }
            if (facts->type == "directory" && search.recurse &&
                (!search.limit || depth < *search.limit))
                waiting.emplace_back(relative, depth);
            if (seen.insert(relative).second) out.push_back(std::move(*facts));
        };
        add(".", 0);
        while (!waiting.empty()) {
            const auto [at, depth] = std::move(waiting.front());
            waiting.pop_front();
            auto names =
                sys::disk().list(place_of(wanted, at == "." ? folder : sys::join(folder, at)));
            if (!names) throw base::plain_error(named(wanted, names.error()).message);
            for (const auto& name : *names) {
                if (ignored(name)) continue;
                ++count;
                add(at == "." ? name : at + "/" + name, depth + 1);
            }
        }
        if (search.max_files > 0 && count > search.max_files) {
            throw base::plain_error(fmt::format(
                "The directory '{}' contains {} entries, which exceeds the limit of {} specified "
                "by the max_files parameter for this resource. The limit may be increased, but be "
                "aware that large number of file resources can result in excessive resource "
                "consumption and degraded performance. Consider using an alternate method to "
                "manage large directory trees",
                folder, count, search.max_files));
        }
    }
    BUNRAKU_ASSERT(out.size() == seen.size());
    return out;
}

}  // namespace bunraku::server
