// SPDX-License-Identifier: Apache-2.0
// The type file_line: a line in a file (puppetlabs-stdlib 4.24.0 to 9.7.0).
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool file_line_suitable(Context&) { return true; }
constexpr ProviderClass kFileLineRuby{.name = "ruby", .suitable = file_line_suitable};
constexpr const ProviderClass* kFileLineProviders[] = {&kFileLineRuby};

/// From this level on, a missing file is not an error in noop mode.
constexpr int kNoopWithoutFile = 1;

class FileLine final : public ModuleResource {
public:
    using ModuleResource::ModuleResource;
    std::span<const ProviderClass* const> provider_classes() const override {
        return kFileLineProviders;
    }

    bool does(const Given& given) const override {
        const Value encoding = given("encoding"), line = given("line");
        if (!encoding.is_undef() &&
            !(encoding.is_string() && base::same_ignoring_case(encoding.as_string(), "utf-8")))
            return false;
        const bool secret = line.is(value::Kind::Sensitive);
        return text_or_nothing(secret ? line.unwrap() : line) &&
               all_texts_or_nothing(given, {"path", "match", "after"});
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "path") return check_absolute(v);
        Resource::validate_value(a, v);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "encoding") return Value::string("UTF-8");
        if (a.name == "replace" || a.name == "append_on_no_match") return Value::string("true");
        if (a.name == "match_for_absence" || a.name == "replace_all_matches_not_matching_line")
            return Value::string("false");
        return {};
    }
    void validate() override {
        constexpr std::string_view kAll = "replace_all_matches_not_matching_line";
        for (const std::string_view other : {"multiple", "replace"}) {
            if (is(kAll, "true") && is(other, "false"))
                throw PuppetError(fmt::format("{} must be true when {} is true", other, kAll));
        }
        const bool by_match =
            is("ensure", "absent") && is("match_for_absence", "true") && find("match");
        if (!has("line") && !by_match) throw PuppetError("line is a required attribute");
        if (!find("path")) throw PuppetError("path is a required attribute");
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        out.push_back({Relation::Require, "file", text("path")});
    }

    Value retrieve_property(const Param& p) override {
        if (p.spec->name == "line") return get("line");
        return Value::string(exists() ? "present" : "absent");
    }

    void sync(Param& p) override {
        const std::string wanted = plain(should(p));
        call_value(*this, wanted, p.spec->name, [&] {
            if (wanted == "absent") {
                destroy();
            } else {
                create();
            }
        });
    }

private:
    bool is(std::string_view attribute, std::string_view word) const {
        return text(attribute) == word;
    }
    bool is_line(std::string_view line) const {
        return has("line") && chomped(line) == text("line");
    }

    const std::vector<std::string>& lines() {
        if (!lines_) {
            const std::string path = text("path");
            if (noop() && module_level(context_, spec_.name) >= kNoopWithoutFile &&
                !unwrap(context_.system.files.look(path, true))) {
                lines_.emplace();
            } else {
                lines_ = file_lines(context_, path);
            }
        }
        return *lines_;
    }

    bool exists() {
        const auto equal = std::ranges::count_if(lines(), [&](auto& l) { return is_line(l); });
        if (!has("match")) return equal > 0;
        const auto matching = count(pattern_of(text("match")));
        if (!is("ensure", "present"))
            return equal > 0 || (matching > 0 && is("match_for_absence", "true"));
        if (matching == 0) return equal > 0 || is("append_on_no_match", "false");
        if (is("replace_all_matches_not_matching_line", "true")) return false;
        return equal > 0 || is("replace", "false");
    }

    std::size_t count(const Pattern& by) {
        const bool others = is("replace_all_matches_not_matching_line", "true");
        std::size_t found = 0;
        for (const std::string& line : lines()) {
            if (others && is_line(line)) continue;
            if (!by) ruby_error("wrong argument type nil (expected Regexp)");
            if (match_of(by, line)) ++found;
        }
        return found;
    }
    Pattern pattern(std::string_view attribute) const {
        return has(attribute) ? pattern_of(text(attribute)) : nullptr;
    }
    void one_match(std::size_t found) const {
        if (found > 1 && !is("multiple", "true"))
            throw PuppetError(fmt::format("More than one line in file '{}' matches pattern '{}'",
                                          text("path"), text("match")));
    }

    void create() {
        if (!is("replace", "true") && count(pattern("match")) > 0) return;
        const Pattern match = pattern("match"), after = pattern("after");
        const std::string line = text("line");
        std::string out;
        std::size_t found = 0;
        if (match) {
            found = count(match);
            one_match(found);
            for (const std::string& old : lines()) {
                put_line(out, match_of(match, old) ? line : old);
                if (found == 0 && after && match_of(after, old)) {
                    put_line(out, line);
                    ++found;
                }
            }
        } else if (after) {
            found = count(after);
            if (found > 1 && !is("multiple", "true"))
                throw PuppetError(
                    fmt::format("{} lines match pattern '{}' in file '{}'. One or no line must "
                                "match the pattern.",
                                found, text("after"), text("path")));
            for (const std::string& old : lines()) {
                put_line(out, old);
                if (match_of(after, old)) put_line(out, line);
            }
        } else {
            for (const std::string& old : lines()) put_line(out, old);
        }
        if (found == 0) put_line(out, line);
        rewrite(context_, text("path"), out);
    }

    void destroy() {
        const Pattern match = is("match_for_absence", "true") ? pattern("match") : nullptr;
        if (match) one_match(count(match));
        std::string out;
        for (const std::string& old : lines()) {
            const bool gone = match ? match_of(match, old).has_value() : is_line(old);
            if (!gone) out += old;
        }
        rewrite(context_, text("path"), out);
    }

    std::optional<std::vector<std::string>> lines_;  ///< as first read
};

}  // namespace

std::unique_ptr<Resource> make_file_line(Context& context, const TypeSpec& spec) {
    return std::make_unique<FileLine>(context, spec);
}

}  // namespace bunraku::apply
