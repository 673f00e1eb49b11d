// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/metadata_checks.h"

#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>

#include "compile/checks/file_places.h"
#include "core/base/semver.h"
#include "core/codec/json_cursor.h"
#include "modules/module/names.h"

namespace bunraku::checks {

using codec::JsonCursor;

namespace {

constexpr std::string_view kCheck = "metadata_json";

/// Members without which Puppet does not accept a module that has a metadata.json.
constexpr std::string_view kRequired[] = {"name",   "version", "author",
                                          "source", "license", "dependencies"};

class MetadataCheck {
public:
    MetadataCheck(std::string_view text, Problems& problems)
        : text_(text), cursor_(text), problems_(problems) {}

    void run() {
        if (cursor_.kind() != JsonCursor::Kind::Object) {
            report(0, "metadata.json must be an object");
            return;
        }
        std::set<std::string> seen;
        std::string_view view;
        for (cursor_.enter_object(); cursor_.next_key(&view);) {
            const std::string key(view);
            const std::size_t at = value_offset();
            if (!seen.insert(key).second)
                warn(at, fmt::format("'{}' appears twice; the last value is used", key));
            member(key, at);
        }
        cursor_.finish();
        for (const std::string_view key : kRequired)
            if (!seen.contains(std::string(key))) report(0, fmt::format("'{}' is missing", key));
    }

private:
    void report(std::size_t at, std::string message) {
        problems_.error(kCheck, location_of(text_, at), std::move(message));
    }
    void warn(std::size_t at, std::string message) {
        problems_.warning(kCheck, location_of(text_, at), std::move(message));
    }
    /// Returns the offset of the next value.
    std::size_t value_offset() {
        cursor_.kind();  // skips blanks
        return cursor_.offset();
    }

    /// Reads a text. Reports and skips any other value.
    std::optional<std::string> text_member(std::string_view key, std::size_t at) {
        if (cursor_.kind() == JsonCursor::Kind::String) return std::string(cursor_.string());
        report(at, fmt::format("'{}' must be a string", key));
        cursor_.skip();
        return std::nullopt;
    }

    void member(const std::string& key, std::size_t at) {
        if (key == "name") {
            name_ = text_member(key, at);
            const auto parsed = name_ ? module::parse_module_name(*name_) : std::nullopt;
            if (name_ && !parsed)
                report(at,
                       fmt::format("'{}' is not the full name of a module (AUTHOR-NAME)", *name_));
        } else if (key == "version") {
            const auto version = text_member(key, at);
            if (version && !base::SemVer::parse(*version))
                report(at, fmt::format("'{}' is not a semantic version", *version));
        } else if (key == "author" || key == "source" || key == "license" || key == "summary") {
            text_member(key, at);
        } else if (key == "dependencies" || key == "requirements") {
            each_object(key, at, [&] { requirement(key); });
        } else if (key == "operatingsystem_support") {
            each_object(key, at, [&] { system(); });
        } else {
            if (key == "types" || key == "checksums")
                warn(at, fmt::format("'{}' is no longer used", key));
            cursor_.skip();
        }
    }

    template <class Read>
    void each_object(std::string_view key, std::size_t at, const Read& read) {
        if (cursor_.kind() != JsonCursor::Kind::Array) {
            report(at, fmt::format("'{}' must be an array", key));
            cursor_.skip();
            return;
        }
        for (cursor_.enter_array(); cursor_.next_element();) {
            const std::size_t element = value_offset();
            if (cursor_.kind() == JsonCursor::Kind::Object) {
                read();
            } else {
                report(element, fmt::format("'{}' must contain objects", key));
                cursor_.skip();
            }
        }
    }

    /// Reads an element of `dependencies` or `requirements`.
    void requirement(std::string_view list) {
        const std::size_t start = value_offset();
        std::optional<std::string> name;
        bool has_range = false;
        std::string_view view;
        for (cursor_.enter_object(); cursor_.next_key(&view);) {
            const std::string key(view);
            const std::size_t at = value_offset();
            if (key == "name") {
                name = text_member(key, at);
                if (name && list == "dependencies") dependency(*name, at);
            } else if (key == "version_requirement") {
                const auto range = text_member(key, at);
                has_range = true;
                if (range && !base::SemVerRange::parse(*range))
                    report(at, fmt::format("'{}' is not a range of versions", *range));
            } else {
                cursor_.skip();
            }
        }
        if (!name) report(start, fmt::format("an element of '{}' has no name", list));
        if (name && !has_range) warn(start, fmt::format("'{}' has no version_requirement", *name));
    }

    void dependency(const std::string& name, std::size_t at) {
        const auto parsed = module::parse_module_name(name);
        if (!parsed) {
            report(at, fmt::format("'{}' is not the full name of a module (AUTHOR/NAME)", name));
        } else if (!dependencies_.insert(parsed->slug()).second) {
            report(at, fmt::format("the dependency '{}' appears twice", name));
        } else if (name_ && module::parse_module_name(*name_) &&
                   module::parse_module_name(*name_)->slug() == parsed->slug()) {
            report(at, "the module depends on itself");
        }
    }

    /// Reads an element of `operatingsystem_support`.
    void system() {
        const std::size_t start = value_offset();
        bool named = false;
        std::string_view view;
        for (cursor_.enter_object(); cursor_.next_key(&view);) {
            const std::string key(view);
            const std::size_t at = value_offset();
            if (key == "operatingsystem") {
                named = true;
                text_member(key, at);
            } else {
                if (key == "operatingsystemrelease" && cursor_.kind() != JsonCursor::Kind::Array)
                    report(at, "'operatingsystemrelease' must be an array");
                cursor_.skip();
            }
        }
        if (!named) report(start, "an element of 'operatingsystem_support' has no operatingsystem");
    }

    std::string_view text_;
    JsonCursor cursor_;
    Problems& problems_;
    std::optional<std::string> name_;
    std::set<std::string> dependencies_;
};

}  // namespace

void check_metadata(std::string_view text, Problems& problems) {
    try {
        if (const std::string error = codec::check_utf8(text); !error.empty()) {
            problems.error("syntax", base::Location{"", 1, 1}, error);
            return;
        }
        // A syntax error hides all other problems.
        JsonCursor syntax(text);
        std::string ignored;
        syntax.canonical(ignored);
        syntax.finish();
        MetadataCheck(text, problems).run();
    } catch (const codec::JsonError& error) {
        problems.error("syntax", {"", static_cast<int>(error.line), static_cast<int>(error.column)},
                       error.what.empty() ? error.message : error.what);
    }
}

}  // namespace bunraku::checks
