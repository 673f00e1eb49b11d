// SPDX-License-Identifier: Apache-2.0
// The type file: reads the current state and compares it with the desired state.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/redacted.h"
#include "core/base/shown_url.h"
#include "core/codec/base64.h"
#include "core/codec/json_text.h"
#include "resources/apply/content_memory.h"
#include "resources/apply/execution.h"
#include "resources/apply/local_content.h"
#include "resources/apply/types/file/checksum.h"
#include "resources/apply/types/file/file.h"
#include "resources/apply/types/file/mode.h"

namespace bunraku::apply {

using base::PuppetError;
using sys::FileKind;

namespace {

bool digits(std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_selinux(std::string_view name) {
    return name == "seluser" || name == "selrole" || name == "seltype" || name == "selrange";
}

// Parses "2026-11-21 01:02:03 +0000" to seconds. Returns nullopt if it is not a date.
std::optional<std::int64_t> date_of(std::string_view text) {
    return base::parse_iso_time(text, base::kBlankBeforeZone | base::kAnyShape)
        .transform(&base::CivilTime::seconds);
}

}  // namespace

const sys::FileStatus* File::stat() const {
    if (!stat_known_) {
        stat_known_ = true;
        stat_.reset();
        auto found = context_.system.files.look(where(), follows());
        if (found) {
            stat_ = *found;
        } else if (found.error().code == EACCES) {
            warning("Could not stat; permission denied");
        } else if (found.error().code == EINVAL) {
            warning("Could not stat; invalid pathname");
        } else {
            stat_known_ = false;
            throw_system(found.error());
        }
    }
    return stat_ ? &*stat_ : nullptr;
}

ContentSource& File::content_of(const std::string& uri) { return content_source(context_, uri); }

std::optional<ContentMetadata> File::find_source(std::span<const Value> sources) {
    for (const Value& v : sources) {
        const std::string uri = plain(v);
        auto found = content_of(uri).metadata(uri, {.follow_links = follows(),
                                                    .checksum = {},
                                                    .likely_checksum = source_checksum_type(uri)});
        if (!found) {
            fail(base::shown_text(fmt::format("Could not retrieve file metadata for {}: {}", uri,
                                              found.error().message)));
        }
        if (*found) return std::move(*found);
    }
    return std::nullopt;
}

ContentMetadata& File::source_info() {
    if (source_info_) return *source_info_;
    const Value sources = get("source");
    if (auto found = find_source(sources.as_array())) {
        use_source_info(std::move(*found));
        return *source_info_;
    }
    std::string list;
    for (const Value& v : sources.as_array()) {
        if (!list.empty()) list += ", ";
        list += base::shown_text(plain(v));
    }
    fail(fmt::format("Could not retrieve information from environment {} source(s) {}",
                     context_.options.environment, list));
}

std::string File::source_checksum() {
    ContentMetadata& info = source_info();
    if (info.checksum.empty() && info.status.kind != FileKind::Link) {
        auto found = unwrap(
            content_of(info.uri).metadata(info.uri, {.follow_links = follows(),
                                                     .checksum = source_checksum_type(info.uri),
                                                     .likely_checksum = {}}));
        if (found) info.checksum = std::move(found->checksum);
    }
    return info.checksum;
}

// Copies the desired kind of file from the source, and with source_permissions also owner, group
// and mode.
void File::copy_source_values() {
    ContentMetadata& info = source_info();
    bool link = info.status.kind == FileKind::Link;
    auto missing = [&](std::string_view name) {
        Value v = get(name);
        return v.is_undef() || is_absent(v);
    };
    if (info.status.kind != FileKind::Directory && !(link && !follows())) {
        if (missing("content")) {
            const std::string sum = source_checksum();
            // If the source cannot provide the requested kind of checksum, compare with the kind
            // that it provides.
            if (const auto kind = checksum_kind(sum);
                looks_like_checksum(sum) && kind != checksum_type())
                set("checksum", context_.string(kind));
            set("content", context_.string(sum));
        }
    }
    std::string permissions = text("source_permissions");
    bool use =
        info.has_owner && (permissions == "use" || (permissions == "use_when_creating" &&
                                                    !unwrap(context_.system.files.there(where()))));
    if (use) {
        bool root = context_.system.users.is_root();
        if (root && missing("owner")) set("owner", Value::integer(info.status.uid));
        if (missing("mode")) set("mode", context_.string(fmt::format("{:o}", info.status.mode)));
        if (root && missing("group")) set("group", Value::integer(info.status.gid));
    }
    if (is_absent(get("ensure"))) return;
    if (!link) {
        set("ensure", context_.string(sys::file_kind_name(info.status.kind)));
    } else if (follows()) {
        set("ensure", Value::string("present"));
    } else {
        set("ensure", Value::string("link"));
        set("target", context_.string(info.destination));
    }
}

void File::retrieve(CurrentValues& out) {
    if (find("source") && find("checksum_value") == nullptr) copy_source_values();
    Resource::retrieve(out);
}

Value File::retrieve_property(const Param& p) {
    std::string_view name = p.spec->name;
    const sys::FileStatus* s = stat();
    const Value absent = Value::string("absent");
    if (name == "ensure") return s ? Value::string(sys::file_kind_name(s->kind)) : absent;
    if (name == "checksum_value" && !find("source")) return Value::undef();
    if (!s) return absent;
    if (is_selinux(name)) return Value::undef();
    if (name == "content" || name == "checksum_value") {
        if (s->kind != FileKind::File && s->kind != FileKind::Character &&
            s->kind != FileKind::Block) {
            return Value::undef();
        }
        try {
            const std::string_view kind = checksum_type();
            const Value want = p.has_should ? should(p) : Value::undef();
            if (name == "content" && want.is_string() &&
                remembered(context_, kind, where(), *s, want.as_string()))
                return want;
            // A small file is compared with the text, which is cheaper than its digest.
            if (name == "content" && body_ && want.is_string() && s->kind == FileKind::File &&
                s->size < ContentMemory::kLarge && s->size == body_->as_string().size() &&
                want.as_string().starts_with(fmt::format("{{{}}}", kind)) &&
                same_content(context_, where(), body_->as_string()))
                return want;
            std::string expected = want.is_string() ? std::string(want.as_string()) : "";
            if (name == "checksum_value" && !expected.empty())
                expected = fmt::format("{{{}}}{}", kind, expected);
            std::string sum = checksum_of_file(context_, kind, where(), *s, expected);
            return context_.string(name == "content" ? sum : checksum_data(sum));
        } catch (const PuppetError& e) {
            throw PuppetError(fmt::format("Could not read {} {}: {}", sys::file_kind_name(s->kind),
                                          title(), e.message()));
        }
    }
    if (name == "target") {
        if (s->kind != FileKind::Link) return Value::string("notlink");
        return context_.string(unwrap(context_.system.files.read_link(where())));
    }
    if (name == "owner") return Value::integer(s->uid);
    if (name == "group") return Value::integer(s->gid);
    if (name == "mode") {
        if (const Param* m = find("mode"); m && m->has_should && !m->should.empty() &&
                                           s->kind == FileKind::Directory &&
                                           octal_mode(m->should[0].as_string())) {
            // Read permission for a directory implies execute permission.
            std::uint32_t mode =
                base::parse_integer<std::uint32_t>(m->should[0].as_string(), 8).value_or(0);
            mode |= (mode & 0444) >> 2;
            Value v = context_.string(fmt::format("{:o}", mode));
            const_cast<Param*>(m)->should = context_.arena.copy(std::span<const Value>(&v, 1));
        }
        return context_.string(octal_text(s->mode));
    }
    if (name == "type") return Value::string(sys::file_kind_name(s->kind));
    if (name == "ctime") return context_.string(sys::local_text(s->ctime_ns));
    if (name == "mtime") return context_.string(sys::local_text(s->mtime_ns));
    return absent;
}

// Returns the id for a name or a number. A number that is out of range is returned unchanged, and
// setting it fails.
Value File::id_of(const Value& v, bool group) const {
    if (v.is_integer()) return v;
    if (v.is(value::Kind::Float) && std::abs(v.as_number()) < 9e15) {
        return Value::integer(static_cast<std::int64_t>(v.as_number()));
    }
    const std::string name = plain(v);
    if (digits(std::string_view(name).substr(name.starts_with('-') ? 1 : 0))) {
        const auto id = base::parse_integer<std::int64_t>(name);
        return id ? Value::integer(*id) : context_.string(name);
    }
    auto& known = group ? context_.gids : context_.uids;
    if (auto it = known.find(name); it != known.end()) return Value::integer(it->second);
    std::optional<std::uint32_t> id;
    if (group) {
        if (auto found = context_.system.users.group(name)) id = found->gid;
    } else if (auto found = context_.system.users.user(name)) {
        id = found->uid;
    }
    if (!id) return Value::undef();
    known.emplace(name, *id);
    return Value::integer(*id);
}

bool File::should_be_file() const {
    Value ensure = get("ensure");
    if (is_word(ensure, "file")) return true;
    if (!ensure.is_undef() && !is_word(ensure, "present")) return false;
    const sys::FileStatus* s = stat();
    if (is_word(ensure, "present")) return !s || s->kind == FileKind::File;
    if (!get("content").is_undef()) return true;
    return s && s->kind == FileKind::File;
}

bool File::times_match(std::string_view kind, std::string_view is, std::string_view should) const {
    if (kind != "mtime" && kind != "ctime") return false;
    auto data = [](std::string_view t) {
        return looks_like_checksum(t) ? checksum_data(t) : std::string(t);
    };
    auto a = date_of(data(is));
    auto b = date_of(data(should));
    if (!a || !b) {
        throw PuppetError(
            fmt::format("Resource with checksum_type {} didn't contain a date in {} "
                        "or {}",
                        kind, is, should));
    }
    return *a >= *b;
}

void File::show_difference(const Param& p) {
    const Param* secret = find("source");
    if (p.sensitive || (secret && secret->sensitive)) {
        log(loglevel(), base::redacted("diff"), &p);
        return;
    }
    if (context_.options.diff.empty()) return;
    sys::FileSystem& files = context_.system.files;
    remove_leftovers(context_, "/tmp", "puppet-file");
    const std::string path = "/tmp/" + temporary_name(context_, "puppet-file");
    unwrap(files.replace_from(path, body(false), {.mode = 0600}));
    std::string diff_text = difference(context_, where(), path);
    (void)files.remove(path);
    if (!codec::is_utf8(diff_text))
        diff_text = fmt::format("Binary files {} and {} differ", where(), path);
    log(loglevel(), "\n" + diff_text, &p);
}

Value File::fixed_sum() const {
    const bool counts = find("source") || std::ranges::any_of(original_, [](const auto& p) {
                            return p.first == "checksum";
                        });
    return counts ? get("checksum_value") : Value::undef();
}

bool File::content_insync(Param& p, const Value& is) {
    std::string_view name = p.spec->name;
    if (name == "checksum_value" && !find("source")) return true;
    if (!should_be_file()) {
        const sys::FileStatus* s = stat();
        if (is_word(get("ensure"), "present") && !get("content").is_undef() && s) {
            warning(fmt::format(
                "Ensure set to :present but file type is {} so no content will be synced",
                sys::file_kind_name(s->kind)));
        }
        return true;
    }
    if (is_absent(is)) return false;
    if (!replaces()) return true;
    const std::string_view kind = checksum_type();
    Value want = should(p);
    if (name == "content") {
        if (const Value fixed = fixed_sum(); !fixed.is_undef()) {
            want = context_.string(fmt::format("{{{}}}{}", kind, plain(fixed)));
        } else if (find("checksum_value") && !find("source")) {
            // Without `checksum`, Puppet 8.11 compares with a checksum without a kind, even if
            // `checksum` is audited. Such a content is therefore written in every run.
            want = context_.string("{}" + plain(get("checksum_value")));
        }
    }
    bool equal = same(is, want);
    if (!equal && is.is_string() && want.is_string()) {
        equal = times_match(kind, is.as_string(), want.as_string());
    }
    if (!equal && context_.options.show_diff && flag("show_diff")) show_difference(p);
    return equal;
}

bool File::owner_insync(Param& p, const Value& is) {
    bool group = p.spec->name == "group";
    if (p.should.size() == 1 && p.should[0].is_integer() && same(is, p.should[0])) return true;
    std::vector<Value> ids;
    for (const Value& v : p.should) {
        const Value id = id_of(v, group);
        if (id.is_undef()) {
            if (noop()) return false;
            throw PuppetError(
                fmt::format("Could not find {} {}", group ? "group" : "user", plain(v)));
        }
        ids.push_back(id);
    }
    p.should = context_.arena.copy(ids);
    for (const Value& v : p.should) {
        if (same(is, v)) return true;
    }
    if (!group && !context_.system.users.is_root()) {
        if (context_.warned_once.insert("ownership").second) {
            warning("Cannot manage ownership unless running as root");
        }
        return true;
    }
    return false;
}

std::uint32_t File::wanted_mode(std::string_view desired, std::uint32_t current) const {
    const sys::FileStatus* s = stat();
    return apply_mode(desired, current, s && s->kind == FileKind::Directory);
}

bool File::mode_insync(Param& p, const Value& is) {
    const sys::FileStatus* s = stat();
    if (s && s->kind == FileKind::Link && !follows()) {
        log(Level::Debug, "Not managing symlink mode", &p);
        return true;
    }
    if (!is.is_string() || is_absent(is)) return false;
    const auto current = base::parse_integer<std::uint32_t>(is.as_string(), 8).value_or(0);
    return std::any_of(p.should.begin(), p.should.end(), [&](const Value& want) {
        return wanted_mode(want.as_string(), current) == current;
    });
}

bool File::insync(Param& p, const Value& is) {
    std::string_view name = p.spec->name;
    if (name == "ensure") {
        if (!is_absent(is) && !replaces()) return true;
        if (is_word(should(p), "present")) return !is.is_undef() && !is_absent(is);
        return Resource::insync(p, is);
    }
    if (name == "content" || name == "checksum_value") return content_insync(p, is);
    if (name == "target") {
        if (is_word(should(p), "notlink") || recurses()) return true;
        if (!replaces() && unwrap(context_.system.files.there(where()))) return true;
        return Resource::insync(p, is);
    }
    if (name == "owner" || name == "group") return owner_insync(p, is);
    if (name == "mode") return mode_insync(p, is);
    if (is_selinux(name)) {
        log(Level::Debug, "SELinux bindings not found. Ignoring parameter.", &p);
        return true;
    }
    return Resource::insync(p, is);
}

Value File::reported_should(const Param& p, const Value& should) const {
    if (p.spec->name != "content" || !should.is_string() || is_absent(should) || generated_content_)
        return should;
    return context_.string(codec::base64_encode(should.as_string()));
}

std::string File::is_text(const Param& p, const Value& is) const {
    std::string_view name = p.spec->name;
    if (is.is_integer() && (name == "owner" || name == "group") && is.as_integer() >= 0 &&
        is.as_integer() <= std::numeric_limits<std::uint32_t>::max()) {
        const auto id = static_cast<std::uint32_t>(is.as_integer());
        if (name == "owner") {
            if (auto user = context_.system.users.user(id)) {
                return display(context_.string(user->name));
            }
        } else if (auto group = context_.system.users.group(id)) {
            return display(context_.string(group->name));
        }
    }
    if (name == "mode" && is.is_string() && !is_absent(is)) {
        return "'" + shown_mode(is.as_string()) + "'";
    }
    return display(is);
}

std::string File::should_text(const Param& p, const Value& should) const {
    return is_text(p, should);
}

std::string File::change_text(const Param& p, const Value& is, const Value& should) const {
    std::string_view name = p.spec->name;
    auto content_text = [](const Value& from, std::string_view to) {
        if (is_absent(from)) return fmt::format("defined content as '{}'", to);
        if (to == "absent") return fmt::format("undefined content from '{}'", plain(from));
        return fmt::format("content changed '{}' to '{}'", plain(from), to);
    };
    auto new_sum = [&](const Value& given) {
        if (find("source")) {
            std::string sum = const_cast<File*>(this)->source_checksum();
            if (!sum.empty()) return sum;
        }
        return plain(given);
    };
    if (name == "content") return content_text(is, new_sum(should));
    if (name == "ensure" && (is_word(should, "file") || is_word(should, "present"))) {
        const Param* content = find("content");
        // A property that is only audited has no value.
        if (content) {
            return content_text(
                Value::string("absent"),
                new_sum(content->has_should ? Resource::should(*content) : Value::undef()));
        }
    }
    if (name == "mode" && is.is_string() && should.is_string() && !octal_mode(should.as_string()) &&
        !is_absent(is)) {
        auto current = static_cast<std::uint32_t>(std::strtoul(plain(is).c_str(), nullptr, 8));
        return fmt::format("mode changed '{:04o}' to '{:04o}' ({})", current,
                           wanted_mode(should.as_string(), current), should.as_string());
    }
    return Resource::change_text(p, is, should);
}

std::string File::event_name(const Param& p) const {
    if (p.spec->name == "ensure") {
        std::string want = plain(should(p));
        if (want == "file" || want == "present") return "file_created";
        if (want == "directory") return "directory_created";
        if (want == "link") return "link_created";
        return "file_removed";
    }
    return Resource::event_name(p);
}

}  // namespace bunraku::apply
