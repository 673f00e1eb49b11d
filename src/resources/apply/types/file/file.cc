// SPDX-License-Identifier: Apache-2.0
// Attributes of the type file: validation and munging.
#include "resources/apply/types/file/file.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/shown_url.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/types/file/checksum.h"
#include "resources/apply/types/file/mode.h"
#include "resources/apply/types/filebucket/filebucket.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool always(Context&) { return true; }

constexpr ProviderClass kPosix{.name = "posix", .suitable = always, .features = "manages_symlinks"};
constexpr const ProviderClass* kProviders[] = {&kPosix};

std::string ruby_class(const Value& v) {
    switch (v.kind()) {
        case value::Kind::Integer: return "Integer";
        case value::Kind::Float: return "Float";
        case value::Kind::Boolean: return v.as_boolean() ? "TrueClass" : "FalseClass";
        case value::Kind::Array: return "Array";
        case value::Kind::Hash: return "Hash";
        default: return "Object";
    }
}

bool digits(std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}

Value backup_value(const Value& v) {
    Value one = v.is_array() && !v.as_array().empty() ? v.as_array()[0] : v;
    std::string text = plain(one);
    if (text == "false") return Value::boolean(false);
    if (text == "true" || text == ".puppet-bak") return Value::string(".puppet-bak");
    if (one.is_string()) return one;
    throw PuppetError(fmt::format("Invalid backup type {}", plain(v)));
}

Value recurse_value(const Value& v) {
    std::string text = plain(v);
    if (text == "true") return Value::boolean(true);
    if (text == "false") return Value::boolean(false);
    if (text == "remote") return Value::string("remote");
    throw PuppetError(
        fmt::format("Invalid recurse value {}", v.is_string() ? "\"" + text + "\"" : text));
}

bool numeric(const Value& v) { return v.is_integer() || (v.is_string() && digits(v.as_string())); }

void validate_source(const Value& v) {
    std::string text = plain(v);
    if (text.starts_with('/')) return;
    std::size_t colon = text.find(':');
    bool scheme =
        colon != std::string::npos && colon > 0 &&
        std::isalpha(static_cast<unsigned char>(text[0])) &&
        std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
        });
    if (!scheme)
        throw PuppetError(fmt::format("Cannot use relative URLs '{}'", base::shown_text(text)));
    if (colon + 1 >= text.size() || text[colon + 1] != '/') {
        throw PuppetError(fmt::format("Cannot use opaque URLs '{}'", base::shown_text(text)));
    }
    std::string kind = text.substr(0, colon);
    if (kind != "file" && kind != "puppet" && kind != "http" && kind != "https") {
        throw PuppetError(
            fmt::format("Cannot use URLs of type '{}' as source for fileserving", kind));
    }
}

std::string path_of(std::string_view given) {
    std::string out = sys::expand_path(given);
    while (out.size() > 1 && out.back() == '/') out.pop_back();
    return out;
}

}  // namespace

std::span<const ProviderClass* const> File::provider_classes() const { return kProviders; }

void File::validate_value(const Attribute& a, const Value& v) {
    if (a.name == "path" || a.name == "staging_location") {
        if (!v.is_string() || !v.as_string().starts_with('/')) {
            throw PuppetError(
                fmt::format("File paths must be fully qualified, not '{}'", plain(v)));
        }
    } else if (a.name == "mode") {
        if (!v.is_string()) {
            throw PuppetError(fmt::format("The file mode specification must be a string, not '{}'",
                                          ruby_class(v)));
        }
        if (!valid_mode(v.as_string())) {
            throw PuppetError(
                fmt::format("The file mode specification is invalid: \"{}\"", v.as_string()));
        }
    } else if (a.name == "group") {
        if (is_word(v, "")) throw PuppetError("Invalid group name '\"\"'");
    } else if (a.name == "source") {
        if (v.is_array()) {
            for (const Value& one : v.as_array()) validate_source(one);
        } else {
            validate_source(v);
        }
    } else if (a.name == "ignore") {
        bool no = v.is(value::Kind::Boolean) && !v.as_boolean();
        if (!v.is_array() && !v.is_string() && !no) {
            throw PuppetError("Ignore must be a string or an Array");
        }
    } else if (a.name == "type" || a.name == "ctime" || a.name == "mtime") {
        throw PuppetError(fmt::format("{} is read-only", a.name));
    } else if (a.name != "recurse") {
        Resource::validate_value(a, v);
    }
}

void File::warn_of_checksum() {
    warn_once(
        "Using a checksum in a file's \"content\" property is deprecated. The ability "
        "to use a checksum to retrieve content from the filebucket using the "
        "\"content\" property will be removed in a future release. The literal value "
        "of the \"content\" property will be written to the file. The checksum "
        "retrieval functionality is being replaced by the use of static catalogs. See "
        "https://puppet.com/docs/puppet/latest/static_catalogs.html for more "
        "information.");
}

void File::warn_once(const std::string& text) {
    // Code on the command line has no file.
    const std::string message =
        text + "\n   " + base::format_location({file().empty() ? "unknown" : file(), line(), 0});
    if (context_.warned_once.insert(message).second) context_.message(Level::Warning, message);
}

Value File::munge_content(const Value& v) {
    if (is_absent(v)) return v;
    const bool fetched = !config::changed(context_.options.level, config::Change::ContentChecksum);
    const bool alone = !body_ && !find("source");
    if (v.is_string() && looks_like_checksum(v.as_string()) && (fetched || !alone)) {
        if (fetched && alone && line() > 0) warn_of_checksum();
        return v;
    }
    body_ = v.is_string() || v.is(value::Kind::Binary) ? v : context_.string(plain(v));
    // The digest is computed in validate, because `checksum` is set later.
    return Value::string("");
}

Value File::munge_ensure(const Attribute& a, const Value& v) {
    std::string text = plain(v);
    Value out = Resource::munge(a, v);
    bool known = text == "absent" || text == "false" || text == "file" || text == "present" ||
                 text == "directory" || text == "link";
    if (!known) {
        set("target", v);
        out = Value::string("link");
    }
    if (is_word(out, "link") && !follows()) set("links", Value::string("manage"));
    return out;
}

Value File::munge(const Attribute& a, const Value& v) {
    std::string_view name = a.name;
    if (name == "path" || name == "staging_location") {
        std::string path = path_of(v.as_string());
        return path == v.as_string() ? v : context_.string(path);
    }
    if (name == "content") return munge_content(v);
    if (name == "mode") return context_.string(normalized_mode(v.as_string()));
    if (name == "backup") return backup_value(v);
    if (name == "recurse") return recurse_value(v);
    if (name == "recurselimit" || name == "max_files") {
        return Value::integer(std::atoll(plain(v).c_str()));
    }
    if (name == "source") {
        std::vector<Value> out;
        auto one = [&](const Value& s) {
            std::string text = plain(s);
            while (text.size() > 1 && text.back() == '/') text.pop_back();
            out.push_back(context_.string(text.starts_with('/') ? "file://" + text : text));
        };
        if (v.is_array()) {
            for (const Value& s : v.as_array()) one(s);
        } else {
            one(v);
        }
        return Value::array(context_.arena.copy(out));
    }
    if (name == "ensure") return munge_ensure(a, v);
    if (name == "source_permissions") {
        Value out = Resource::munge(a, v);
        const bool warns =
            !config::changed(context_.options.level, config::Change::SourcePermissions);
        if (warns && !is_word(out, "ignore"))
            warn_once(
                "The `source_permissions` parameter is deprecated. Explicitly set "
                "`owner`, `group`, and `mode`.");
        return out;
    }
    return Resource::munge(a, v);
}

void File::set_generated_content(const Value& content) {
    generated_content_ = true;
    set("content", content);
    run_validation();  // computes the digest
}

Value File::default_for(const Attribute& a) {
    std::string_view name = a.name;
    if (name == "backup" || name == "force" || name == "purge") return Value::boolean(false);
    if (name == "replace" || name == "show_diff") return Value::boolean(true);
    if (name == "max_files") return Value::integer(0);
    if (name == "links") return Value::string("manage");
    if (name == "sourceselect") return Value::string("first");
    if (name == "validate_replacement") return Value::string("%");
    if (name == "checksum") return context_.string(context_.options.digest_algorithm);
    if (name == "source_permissions") return Value::string("ignore");
    if (name == "selinux_ignore_defaults") return Value::string("false");
    return Value::undef();
}

Value File::should_value(const Param& p) const {
    Value v = Resource::should_value(p);
    if (p.spec->name == "mode" && v.is_string()) {
        std::string shown = shown_mode(v.as_string());
        return shown == v.as_string() ? v : context_.string(shown);
    }
    return v;
}

std::string_view File::checksum_type() const {
    const Param* p = find("checksum");
    if (!p || !p->value.is_string()) return context_.options.digest_algorithm;
    return is_word(p->value, "etag") ? "md5" : p->value.as_string();
}

std::string File::source_checksum_type(std::string_view uri) const {
    const bool web = uri.starts_with("http:") || uri.starts_with("https:");
    return web && is_word(get("checksum"), "etag") ? "etag" : std::string(checksum_type());
}

const std::string& File::where() const {
    const Param* p = find("path");
    if (p && p->value.is_string() && p->value.as_string() == title()) return title();
    where_ = text("path");
    return where_;
}

void File::validate() {
    const Param* content = find("content");
    bool has_content = content && content->has_should;
    int creators = has_content ? 1 : 0;
    if (find("source")) ++creators;
    if (!should("target").is_undef()) ++creators;
    if (creators > 1) {
        throw PuppetError("You cannot specify more than one of content, source, target");
    }
    if (!find("source") && is_word(get("recurse"), "remote")) {
        throw PuppetError("You cannot specify a remote recursion without a source");
    }
    const std::string_view checksum = checksum_type();
    if (checksum == "none" && find("source")) {
        throw PuppetError("You cannot specify source when using checksum 'none'");
    }
    if (has_content && (checksum == "none" || checksum == "ctime" || checksum == "mtime")) {
        throw PuppetError(
            fmt::format("You cannot specify content when using checksum '{}'", checksum));
    }
    if (!get("recurselimit").is_undef() && !recurses()) {
        warning("Possible error: recurselimit is set but not recurse, no recursion will happen");
    }
    if (has_content && body_) {
        Param* p = find("content");
        Value sum = context_.string(checksum_of_text(checksum, body_->as_string()));
        p->should = context_.arena.copy(std::span<const Value>(&sum, 1));
    }
    Value wanted = get("checksum_value");
    if (!wanted.is_undef()) {
        const Value sum = has_content ? fixed_sum() : wanted;
        const bool given = !sum.is_undef() && !(sum.is(value::Kind::Boolean) && !sum.as_boolean());
        if (given && !valid_checksum(checksum, plain(sum))) {
            throw PuppetError(fmt::format("Checksum value '{}' is not a valid checksum type {}",
                                          plain(wanted), checksum));
        }
        if (!has_content && !find("source")) {
            warning("Checksum value is ignored unless content or source are specified");
        }
    }
}

void File::after_initialize() {
    if (!get("ensure").is_undef()) return;
    if (!get("target").is_undef()) {
        set("ensure", Value::string("link"));
    } else if (const Param* p = find("content"); p && (p->has_should || p->deferred)) {
        set("ensure", Value::string("file"));
    }
}

void File::finish() { bucket(); }

void File::set_sensitive(std::vector<std::string> names) {
    auto has = [&](std::string_view n) {
        return std::find(names.begin(), names.end(), n) != names.end();
    };
    auto mark = [&](std::string_view n) {
        if (Param* p = watch(n)) p->sensitive = true;
    };
    if (has("content")) mark("ensure");
    if (has("source")) {
        std::erase(names, "source");
        if (Param* p = find("source")) p->sensitive = true;
        mark("content");
        mark("ensure");
    }
    Resource::set_sensitive(std::move(names));
}

void File::collect_auto_relations(std::vector<AutoRelation>& out) const {
    const std::string& path = where();
    if (std::string above = catalog ? catalog->managed_above(path) : ""; !above.empty()) {
        out.push_back({Relation::Require, "file", std::move(above)});
    }
    if (Value target = get("target"); !target.is_undef()) {
        out.push_back({Relation::Require, "file", plain(target)});
    }
    for (auto [type, name] :
         {std::pair<std::string_view, std::string_view>{"user", "owner"}, {"group", "group"}}) {
        const Param* p = find(name);
        if (p && !p->given.empty() && !numeric(p->given[0])) {
            out.push_back({Relation::Require, type, plain(p->given[0])});
        }
    }
}

// For a file below another one (recursion), the path contains that file's container but not the
// file itself.
std::vector<std::string> File::path_elements() const {
    std::vector<std::string> out;
    if (const Resource* p = parent()) {
        out = p->path_elements();
        if (&p->spec() == &spec()) out.pop_back();
    }
    out.push_back(ref());
    return out;
}

void File::find_parent(const std::function<bool(std::string_view)>& is_parent) const {
    std::string_view path = where();
    while (path.size() > 1) {
        path = sys::directory_name(path);
        if (is_parent(path)) return;
    }
}

bool File::recurses() const {
    Value v = get("recurse");
    return is_word(v, "remote") || (v.is(value::Kind::Boolean) && v.as_boolean());
}

Bucket* File::bucket() {
    if (bucket_known_) return bucket_.get();
    bucket_known_ = true;
    Value backup = get("backup");
    if (!backup.is_string() || backup.as_string().starts_with('.')) return nullptr;
    std::string name = plain(backup);
    Resource* found = catalog ? catalog->find("Filebucket", name) : nullptr;
    if (!found && name != "puppet") {
        bucket_known_ = false;
        fail(fmt::format("Could not find filebucket {} specified in backup", name));
    }
    bucket_ = found ? bucket_of(*found, name)
                    : std::make_unique<Bucket>(context_, name, context_.options.clientbucketdir);
    return bucket_.get();
}

std::unique_ptr<Resource> make_file(Context& context, const TypeSpec& spec) {
    return std::make_unique<File>(context, spec);
}

}  // namespace bunraku::apply
