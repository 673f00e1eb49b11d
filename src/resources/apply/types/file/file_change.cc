// SPDX-License-Identifier: Apache-2.0
// The type file: making changes.
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <limits>

#include "core/sys/guarded_file_system.h"
#include "resources/apply/execution.h"
#include "resources/apply/ruby_text.h"
#include "resources/apply/types/file/checksum.h"
#include "resources/apply/types/file/file.h"
#include "resources/apply/types/file/mode.h"

namespace bunraku::apply {

using base::PuppetError;
using sys::FileKind;

namespace {

// Returns the number as chown takes it, if it fits in 32 bits; -1 keeps its meaning for chown.
base::Result<std::uint32_t> system_id(const Value& id) {
    if (!id.is_integer()) return base::failure("bignum too big to convert into `unsigned long'");
    const std::int64_t n = id.as_integer();
    if (n > std::numeric_limits<std::uint32_t>::max() ||
        n < std::numeric_limits<std::int32_t>::min()) {
        return base::failure(fmt::format("integer {} too {} to convert to `unsigned int'", n,
                                         n < 0 ? "small" : "big"));
    }
    return static_cast<std::uint32_t>(n);
}

}  // namespace

void File::sync(Param& p) {
    std::string_view name = p.spec->name;
    if (name == "ensure") {
        std::string wanted = plain(should(p));
        remove_existing(wanted);
        if (wanted == "absent") return;
        call_value(*this, wanted, "ensure", [&] { sync_ensure(wanted); });
        return;
    }
    if (name == "content" || name == "checksum_value") {
        write(true);
    } else if (name == "target") {
        if (is_word(should(p), "notlink")) return;
        if (should("ensure").is_undef()) set("ensure", Value::string("link"));
        Param* ensure = find("ensure");
        if (ensure && insync(*ensure, retrieve_property(*ensure))) make_link(false);
    } else if (name == "owner" || name == "group") {
        sync_owner(p, name == "group");
    } else if (name == "mode") {
        const sys::FileStatus* s = stat();
        std::uint32_t mode = wanted_mode(p.should[0].as_string(), s ? s->mode : 0644);
        if (auto r = context_.system.files.set_mode(where(), mode); !r) {
            throw PuppetError(fmt::format("failed to set mode {} on {}: {}",
                                          s ? fmt::format("{:04o}", s->mode) : "absent", where(),
                                          r.error().message));
        }
        forget_stat();
    } else {
        Resource::sync(p);
    }
}

void File::sync_ensure(const std::string& wanted) {
    if (wanted == "file" || wanted == "present") {
        const Param* content = find("content");
        const Param* sum = find("checksum_value");
        bool body = (content && content->has_should) || (sum && sum->has_should && find("source"));
        write(body);
    } else if (wanted == "directory") {
        make_directory();
    } else if (wanted == "link") {
        make_link(true);  // called by sync()
    }
}

void File::sync_owner(Param& p, bool group) {
    const Value wanted = id_of(p.should[0], group);
    if (wanted.is_undef()) {
        throw PuppetError(
            fmt::format("Could not find {} {}", group ? "group" : "user", plain(p.should[0])));
    }
    bool follow = !is_word(get("links"), "manage");
    auto none = std::optional<std::uint32_t>();
    auto id = system_id(wanted);
    auto r = !id ? base::Result<void>(std::unexpected(id.error()))
                 : context_.system.files.set_owner(where(), group ? none : std::optional(*id),
                                                   group ? std::optional(*id) : none, follow);
    if (!r) {
        throw PuppetError(fmt::format("Failed to set {} to '{}': {}", group ? "group" : "owner",
                                      plain(wanted), r.error().message));
    }
    forget_stat();
}

void File::make_directory() {
    std::string path = where();
    std::string above(sys::directory_name(path));
    if (!unwrap(context_.system.files.there(above))) {
        throw PuppetError(
            fmt::format("Cannot create {}; parent directory {} does not exist", path, above));
    }
    unwrap(context_.system.files.make_directory(path, 0777));
    Value mode = should("mode");
    if (mode.is_string()) {
        unwrap(context_.system.files.set_mode(path, apply_mode(mode.as_string(), 0755, true)));
    }
    forget_stat();
    fix_properties();
}

void File::make_link(bool cleared) {
    Value target = should("target");
    if (target.is_undef()) fail("Cannot create a symlink without a target");
    sys::FileSystem& files = context_.system.files;
    // sync() has already removed an existing file, but it may have left a folder.
    const auto is_folder = [&] {
        const auto now = unwrap(files.look(where(), follows()));
        return now && now->kind == FileKind::Directory;
    };
    if (!cleared || is_folder()) remove_existing("link");
    // With `links => follow`, a dangling link counts as absent and is not replaced.
    if (const auto old = unwrap(files.look(where(), follows()))) {
        if (old->kind == FileKind::Directory) fail("Could not remove existing file");
        unwrap(files.replace_link(plain(target), where()));
    } else {
        unwrap(files.make_link(plain(target), where()));
    }
    forget_stat();
    fix_properties();
}

sys::Fill File::body(bool check) {
    if (find("source")) {
        return [this, check](const sys::Write& write) -> base::Result<void> {
            const std::string& uri = source_info().uri;
            auto reader = BUNRAKU_TRY(content_of(uri).open(uri));
            Checksum sum{std::string(checksum_type())};
            BUNRAKU_TRY_VOID(sys::pump(*reader, [&](std::string_view part) {
                sum.update(part);
                return write(part);
            }));
            if (check) check_body(sum.text());
            return {};
        };
    }
    std::string text;
    if (body_) {
        text = body_->as_string();
        if (check) check_body(checksum_of_text(checksum_type(), text));
    } else if (std::string sum = plain(should("content")); looks_like_checksum(sum)) {
        // Reads the bucket only when the file can be written, as Puppet does.
        return [this, sum = std::move(sum)](const sys::Write& write) {
            return write(bucket_body(sum));
        };
    }
    return [text = std::move(text)](const sys::Write& write) { return write(text); };
}

std::string File::bucket_body(const std::string& sum) {
    try {
        Bucket* b = bucket();
        if (!b) throw PuppetError("Could not get filebucket from file");
        return b->get(checksum_data(sum));
    } catch (const PuppetError& e) {
        throw PuppetError(
            fmt::format("Could not retrieve content for {} from filebucket: {}", sum, e.message()));
    }
}

void File::write(bool with_body) {
    remove_existing("file");
    Value mode = should("mode");
    std::uint32_t bits = mode.is_string() ? apply_mode(mode.as_string(), 0644, false) : 0644;
    // A file without a body is created in place, as in Puppet. Any other file is renamed into
    // place.
    const Value content = should("content");
    const bool bucket = content.is_string() && looks_like_checksum(content.as_string());
    if (find("source") || bucket || (body_ && !body_->as_string().empty())) {
        replace_file(
            with_body ? body(true) : [](const sys::Write&) { return base::Result<void>(); }, bits);
    } else {
        // The umask does not affect the mode of a new file.
        const bool there = unwrap(context_.system.files.there(where()));
        unwrap(context_.system.files.write(where(), "", bits));
        if (mode.is_string() || !there) unwrap(context_.system.files.set_mode(where(), bits));
    }
    forget_stat();
    fix_properties();
}

// Throws if the body does not match the expected checksum. A source may change while it is read.
void File::check_body(const std::string& have) {
    const std::string_view kind = checksum_type();
    if (kind == "none" || kind == "mtime" || kind == "ctime") return;
    const Value fixed = fixed_sum();
    std::string want = !fixed.is_undef() ? fmt::format("{{{}}}{}", kind, plain(fixed))
                       : find("source")  ? source_checksum()
                                         : std::string();
    if (want.empty() || have == want) return;
    fail(
        fmt::format("File written to disk did not match desired checksum; discarding changes "
                    "({} vs {})",
                    have, want));
}

// Returns the desired mode and owner as far as they can be set before the file gets its name.
// fix_properties reports the rest.
sys::WriteOptions File::file_options(std::uint32_t mode) const {
    // Sync the content to disk before the rename, as Puppet does, so that it survives a power
    // failure.
    sys::WriteOptions options{.mode = mode, .sync = true};
    const bool root = context_.system.users.is_root();
    const auto old = unwrap(context_.system.files.look(where()));
    // A dangling link does not count as a file.
    if (old && (old->kind != FileKind::Link || unwrap(context_.system.files.there(where())))) {
        options.mode = old->mode;
        if (root) {
            options.uid = old->uid;
            options.gid = old->gid;
        }
        if (const Param* p = find("mode");
            p && p->has_should && !p->should.empty() && old->kind == FileKind::File) {
            options.mode = wanted_mode(p->should[0].as_string(), old->mode);
        }
    }
    for (const char* name : {"owner", "group"}) {
        const Param* p = find(name);
        if (!root || !p || p->should.empty()) continue;
        const bool group = p->spec->name == "group";
        auto& now = group ? options.gid : options.uid;
        // Any value of the list is acceptable.
        std::optional<std::uint32_t> first;
        bool good = false, known = false;
        for (const Value& v : p->should) {
            auto id = system_id(id_of(v, group));
            known = known || id;
            if (!id || *id == static_cast<std::uint32_t>(-1)) continue;
            good = good || now == *id;
            if (!first) first = *id;
        }
        if (!known) break;  // setting it fails, and later properties are not tried
        if (first && !good) now = first;
    }
    return options;
}

void File::replace_file(const sys::Fill& fill, std::uint32_t mode) {
    sys::FileSystem& files = context_.system.files;
    std::string path = where();
    if (const auto old = unwrap(files.look(path)); old && old->kind == FileKind::Directory) {
        throw PuppetError(fmt::format("Is a directory - Is a directory: {}", path), "SYSTEM_CALL");
    }
    const sys::WriteOptions options = file_options(mode);
    std::string folder = text("staging_location");
    if (folder.empty()) folder = std::string(sys::directory_name(path));
    const std::string prefix(sys::base_name(path));
    const std::string temporary = sys::join(folder, temporary_name(context_, prefix));
    const auto stage = files.stat(folder);
    // Puppet first creates a lock next to the temporary file.
    if (stage ? stage->kind != FileKind::Directory : stage.error().code == ENOTDIR) {
        throw PuppetError(fmt::format("Not a directory @ dir_s_mkdir - {}.lock", temporary),
                          "SYSTEM_CALL");
    }
    if (!stage && stage.error().code != ENOENT) throw_system(stage.error());
    if (!stage) {
        throw PuppetError(
            fmt::format("No such file or directory - A directory component in {} does not exist "
                        "or is a dangling symbolic link",
                        temporary),
            "SYSTEM_CALL");
    }
    Value check = get("validate_cmd");
    bool staged = !text("staging_location").empty();
    if (check.is_undef() && !staged) {
        unwrap(files.replace_from(path, fill, options));
        return;
    }
    remove_leftovers(context_, folder, prefix);
    unwrap(files.replace_from(temporary, fill, options));
    try {
        if (!check.is_undef()) {
            std::string command = plain(check);
            std::string mark = text("validate_replacement");
            for (std::size_t at = command.find(mark); !mark.empty() && at != std::string::npos;
                 at = command.find(mark, at + temporary.size())) {
                command.replace(at, mark.size(), temporary);
            }
            Executed done = execute_line(context_, command);
            if (debugging()) {
                std::string_view rest = done.output;
                while (!rest.empty()) {
                    std::size_t nl = rest.find('\n');
                    debug(std::string(rest.substr(0, nl)));
                    if (nl == std::string_view::npos) break;
                    rest.remove_prefix(nl + 1);
                }
            }
        }
        auto moved = files.rename(temporary, path);
        if (!moved && moved.error().code == EXDEV) {
            unwrap(files.copy(temporary, path, options));
            (void)files.remove(temporary);
        } else {
            unwrap(std::move(moved));
        }
    } catch (...) {
        (void)files.remove(temporary);
        throw;
    }
}

// Applies owner, group and mode to a new file immediately, so that they are not reported as
// separate changes.
void File::fix_properties() {
    for (Param* p : properties()) {
        std::string_view name = p->spec->name;
        if (name != "mode" && name != "owner" && name != "group") continue;
        if (!p->has_should) continue;
        forget_stat();
        Value is = retrieve_property(*p);
        bool ok = false;
        try {
            ok = insync(*p, is);
        } catch (const PuppetError& e) {
            // Inside `ensure`, Puppet wraps this like a failed system call.
            throw PuppetError(e.message(), "SYSTEM_CALL");
        }
        if (!ok) sync(*p);
    }
}

bool File::remove_existing(const std::string& wanted) {
    // Check the file again. Otherwise a file whose earlier check failed would be replaced without a
    // backup.
    forget_stat();
    const auto now = unwrap(context_.system.files.look(where(), follows()));
    if (!now) return false;
    FileKind kind = now->kind;
    std::string current(sys::file_kind_name(kind));
    Value backup = get("backup");
    if (backup.is_string()) {
        bool can = kind == FileKind::File || kind == FileKind::Link ||
                   (kind == FileKind::Directory && flag("force"));
        if (can) {
            back_up();
        } else {
            warning(fmt::format("Could not back up file of type {}", current));
        }
    }
    if (wanted != "link" && current == wanted) return false;
    sys::FileSystem& files = context_.system.files;
    if (kind == FileKind::Directory) {
        if (!flag("force")) {
            notice("Not removing directory; use 'force' to override");
            return false;
        }
        debug(fmt::format("Removing existing directory for replacement with {}", wanted));
        unwrap(sys::remove_tree(files, where()));
        forget_stat();
        return true;
    }
    if (kind == FileKind::File || kind == FileKind::Link || kind == FileKind::Fifo ||
        kind == FileKind::Socket) {
        debug(fmt::format("Removing existing {} for replacement with {}", current, wanted));
        // A link replaces the existing file atomically, so do not remove it before.
        if (wanted != "link") unwrap(files.remove(where()));
        forget_stat();
        return true;
    }
    fail(fmt::format("Could not remove files of type {}", current));
}

void File::back_up() {
    sys::FileSystem& files = context_.system.files;
    std::string path = where();
    // If the file cannot be examined, this throws, so a file without a backup is not replaced.
    if (!unwrap(files.look(path, true))) return;
    Bucket* b = bucket();
    if (!b) {
        back_up_with_suffix(text("backup"));
        return;
    }
    auto store = [&](const std::string& f) {
        std::string sum = b->backup(f);
        info(fmt::format("Filebucketed {} to {} with sum {}", f, b->name(), sum));
    };
    auto before = unwrap(files.lstat(path));
    if (before.kind == FileKind::File) {
        store(path);
    } else if (before.kind == FileKind::Directory) {
        if (recurses()) return;
        info("Recursively backing up to filebucket");
        ContentSearch all;
        all.max_files = -1;
        auto found = walk_files(context_, context_.system.files, path, all);
        if (!found) return;
        for (const std::string& relative : *found) {
            std::string f = relative == "." ? path : sys::join(path, relative);
            const auto there = unwrap(files.look(f, true));
            if (there && there->kind == FileKind::File) store(f);
        }
    }
}

void File::back_up_with_suffix(const std::string& suffix) {
    sys::FileSystem& files = context_.system.files;
    std::string path = where();
    std::string copy = path + suffix;
    if (const auto old = unwrap(files.look(copy, follows()))) {
        if (old->kind == FileKind::Directory) {
            throw PuppetError(
                fmt::format("Will not remove directory backup {}; use a filebucket", copy));
        }
        info(fmt::format("Removing old backup of type {}", sys::file_kind_name(old->kind)));
        if (auto r = files.remove(copy); !r) {
            std::string text = fmt::format("Could not remove old backup: {}", r.error().message);
            err(text);
            throw PuppetError(text);
        }
    }
    try {
        // Back up the target of a link.
        if (unwrap(files.lstat(path)).kind == FileKind::Link) path = unwrap(files.real_path(path));
        ContentSearch all;
        all.max_files = -1;
        auto found = walk_files(context_, context_.system.files, path, all);
        if (!found) return;
        for (const std::string& relative : *found) {
            std::string from = relative == "." ? path : sys::join(path, relative);
            std::string to = relative == "." ? copy : sys::join(copy, relative);
            auto s = unwrap(files.lstat(from));
            if (s.kind == FileKind::Directory) {
                unwrap(files.make_directory(to, s.mode));
            } else if (s.kind == FileKind::Link) {
                unwrap(files.make_link(unwrap(files.read_link(from)), to));
            } else if (s.kind == FileKind::File) {
                sys::WriteOptions options{.mode = s.mode};
                if (context_.system.users.is_root()) {
                    options.uid = s.uid;
                    options.gid = s.gid;
                }
                unwrap(files.copy(from, to, options));
                (void)files.set_mtime(to, s.mtime_ns);
            }
        }
    } catch (const PuppetError& e) {
        throw PuppetError(fmt::format("Could not back {} up: {}", path, e.message()));
    }
}

}  // namespace bunraku::apply
