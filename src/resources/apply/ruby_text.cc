// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/ruby_text.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/text.h"
#include "resources/catalog/line_diff.h"

namespace bunraku::apply {

void call_value(const Resource& resource, std::string_view word, std::string_view property,
                const std::function<void()>& method) {
    try {
        method();
    } catch (const WrappedError&) {
        throw;
    } catch (const base::PuppetError& e) {
        if (e.issue_code() != "SYSTEM_CALL") throw;
        WrappedError wrapped(
            fmt::format("Could not set '{}' on {}: {}", word, property, e.message()), e.message(),
            {resource.file(), resource.line(), 0});
        resource.context().message(Level::Err, error_text(wrapped));
        throw wrapped;
    }
}

void ruby_error(std::string text) { throw base::PuppetError(std::move(text), "SYSTEM_CALL"); }

Pattern pattern_of(std::string_view source) {
    auto made = regex::Regex::cached(source);
    if (!made) ruby_error(made.error().message);
    return std::move(*made);
}

std::optional<regex::Match> match_of(const Pattern& pattern, std::string_view text) {
    if (!codec::is_utf8(text)) throw BytesError("invalid byte sequence in UTF-8");
    return pattern->search(text);
}

std::string_view chomped(std::string_view line) {
    if (line.ends_with("\r\n")) return line.substr(0, line.size() - 2);
    if (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::string_view stripped(std::string_view text) {
    constexpr std::string_view kLeading("\t\n\v\f\r \0", 7);
    return base::trim(text, kLeading);
}

void put_line(std::string& out, std::string_view line) {
    out += line;
    if (!line.ends_with('\n')) out += '\n';
}

std::vector<std::string> file_lines(Context& context, const std::string& path) {
    const std::string text = unwrap(context.system.files.read(path));
    return base::texts(catalog::lines_with_ends(text));
}

void rewrite(Context& context, const std::string& path, std::string_view text) {
    sys::FileSystem& files = context.system.files;
    const auto old = files.look(path);
    if (old && *old && (*old)->kind == sys::FileKind::File && (*old)->links == 1) {
        sys::WriteOptions options{.mode = (*old)->mode};
        if (context.system.users.is_root()) {
            options.uid = (*old)->uid;
            options.gid = (*old)->gid;
        }
        const auto done = files.replace(path, text, options);
        // A file that is a mount point cannot be replaced, and some folders do not permit new
        // files.
        const int code = done ? 0 : done.error().code;
        if (done) return;
        if (code != EBUSY && code != EACCES && code != EPERM && code != EROFS)
            throw_system(done.error());
    }
    unwrap(files.write(path, text));
}

void check_absolute(const Value& path) {
    const std::string text = plain(path);
    if (text.starts_with('/') || text.find("\n/") != std::string::npos) return;
    throw base::PuppetError(fmt::format("File paths must be fully qualified, not '{}'", text));
}

Value coerced(const Value& v) {
    const std::string text = plain(v);
    if (text == "true" || text == "yes") return Value::boolean(true);
    if (text == "false" || text == "no") return Value::boolean(false);
    std::string shown;
    value::print_inspect(shown, v);
    throw base::PuppetError(
        fmt::format("Invalid value {}. Valid values are true, false, yes, no.", shown));
}

std::optional<bool> boolean_word(const Value& v) {
    const std::string text = base::lower(plain(v));
    if (text == "true" || text == "yes") return true;
    if (text == "false" || text == "no") return false;
    return std::nullopt;
}

Value munged_switch(const restype::Attribute& a, const Value& v) {
    if (const auto on = boolean_word(v)) return Value::boolean(*on);
    Resource::munging_failed(a, v, "expected a boolean value");
}

bool text_or_nothing(const Value& v) { return v.is_undef() || v.is_string(); }

bool all_texts_or_nothing(const ModuleResource::Given& given,
                          std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, [&](auto name) { return text_or_nothing(given(name)); });
}

}  // namespace bunraku::apply
