// SPDX-License-Identifier: Apache-2.0
// The type concat_file: a file assembled from fragments (puppetlabs-concat 7.0.2 to 10.0.1). It
// generates the file resource and sets the content of that resource when it is itself evaluated.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/shown_url.h"
#include "core/base/text.h"
#include "resources/apply/local_content.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/ruby_text.h"
#include "resources/apply/types/concat_fragment/concat_fragment.h"
#include "resources/apply/types/file/file.h"
#include "resources/apply/types/file/mode.h"
#include "resources/restype/specs/table.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

/// The sort key of a fragment: the two parts of "ORDER___NAME". A part that consists of digits is a
/// number.
struct SortKey {
    struct Part {
        std::string text;
        bool number = false;
    };
    Part parts[2];
};

SortKey::Part numeric_part(std::string_view text) {
    const bool digits = match_of(pattern_of("^\\d+$"), text).has_value();
    if (!digits) return {std::string(text), false};
    // Numbers may have any size. Without leading zeros they are compared first by length, then as
    // strings.
    text = text.substr(0, text.find_first_not_of("0123456789"));
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    BUNRAKU_ASSERT(text.find_first_not_of("0123456789") == std::string_view::npos &&
                   !text.starts_with('0'));
    return {std::string(text), true};
}

/// Splits like String#split with a limit of two.
std::pair<std::string_view, std::string_view> split_in_two(std::string_view text,
                                                           std::string_view by) {
    const std::size_t at = std::min(text.find(by), text.size());
    return {text.substr(0, at), text.substr(std::min(at + by.size(), text.size()))};
}

bool comes_before(const SortKey& a, const SortKey& b) {
    for (std::size_t i = 0; i < 2; ++i) {
        const auto &x = a.parts[i], &y = b.parts[i];
        if (x.number != y.number) ruby_error("comparison of Array with Array failed");
        if (x.text == y.text) continue;
        if (x.number && x.text.size() != y.text.size()) return x.text.size() < y.text.size();
        return x.text < y.text;
    }
    return false;
}

constexpr std::string_view kSwitches[] = {
    "replace",           "ensure_newline",          "force",
    "create_empty_file", "selinux_ignore_defaults", "show_diff"};
bool is_concat_switch(std::string_view name) {
    return std::ranges::find(kSwitches, name) != std::end(kSwitches);
}

class ConcatFile final : public ModuleResource {
public:
    using ModuleResource::ModuleResource;

    bool does(const Given& given) const override {
        const Value format = given("format");
        return (format.is_undef() || apply::is_word(format, "plain")) &&
               given("alias").is_undef() && given("audit").is_undef() &&
               !is_deferred(given("path"));
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name == "path") return check_absolute(v);
        if (a.name == "backup" && !v.is_string() && !v.is(value::Kind::Boolean))
            throw PuppetError("Backup must be a Boolean or String");
        if (!v.is_string()) {
            for (const std::string_view name :
                 {"validate_cmd", "selrange", "selrole", "seltype", "seluser"})
                if (a.name == name)
                    throw PuppetError(fmt::format("{} must be a String", base::capitalized(name)));
        }
        if (a.name == "mode") check_mode(v);
        if (!is_concat_switch(a.name)) Resource::validate_value(a, v);
    }
    Value munge(const Attribute& a, const Value& v) override {
        if (is_concat_switch(a.name)) return coerced(v);
        if (a.name == "mode") return context_.string(normalized_mode(v.as_string()));
        return Resource::munge(a, v);
    }
    Value default_for(const Attribute& a) override {
        if (a.name == "ensure") return Value::string("present");
        if (a.name == "order") return Value::string("numeric");
        if (a.name == "format") return Value::string("plain");
        if (a.name == "replace" || a.name == "create_empty_file") return Value::boolean(true);
        if (a.name == "ensure_newline" || a.name == "force") return Value::boolean(false);
        return {};
    }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override {
        out.push_back({Relation::Require, "file", text("path")});
    }
    Value retrieve_property(const Param&) override {
        return Value::string(is_absent(should("ensure")) ? "absent" : "present");
    }

    bool generates() const override { return true; }
    std::vector<std::unique_ptr<Resource>> generate() override {
        ResourceData data;
        data.title = text("path");
        data.parameters.emplace_back(
            "ensure", Value::string(is_absent(should("ensure")) ? "absent" : "file"));
        for (const std::string_view name :
             {"path", "owner", "group", "mode", "replace", "backup", "selinux_ignore_defaults",
              "selrange", "selrole", "seltype", "seluser", "validate_cmd", "show_diff", "schedule",
              "noop", "loglevel"}) {
            if (name == "noop" ? !noop_parameter() : get(name).is_undef()) continue;
            data.parameters.emplace_back(
                name, name == "noop" ? Value::boolean(*noop_parameter()) : get(name));
        }
        std::vector<std::unique_ptr<Resource>> out;
        out.push_back(new_file(std::move(data)));
        return out;
    }

    bool eval_generates() const override { return true; }
    std::vector<std::unique_ptr<Resource>> eval_generate() override {
        const std::string path = text("path");
        const std::string content = all_contents();
        auto* file = dynamic_cast<File*>(catalog->find("File", path));
        if (!file) ruby_error("undefined method `[]=' for nil:NilClass");
        file->set_generated_content(context_.string(content));
        const int level = module_level(context_, spec_.name);
        if (Param* p = file->find("content"); p && level >= kConcatSecretFile)
            p->sensitive = secret_;
        if (level >= kConcatSecretContent && !flag("create_empty_file") && content.empty())
            file->set("ensure", Value::string("absent"));
        // Only the title is needed. The run uses the resource with this name that is already in the
        // catalog.
        ResourceData named;
        named.title = path;
        std::vector<std::unique_ptr<Resource>> out;
        out.push_back(new_file(std::move(named)));
        return out;
    }

private:
    static void check_mode(const Value& v) {
        if (!v.is_string())
            throw PuppetError(fmt::format("The file mode specification must be a string, not '{}'",
                                          v.is_integer() ? "Integer" : "Object"));
        if (!valid_mode(v.as_string()))
            throw PuppetError(
                fmt::format("The file mode specification is invalid: \"{}\"", v.as_string()));
    }

    std::unique_ptr<Resource> new_file(ResourceData data) const {
        auto made = make_resource(context_, *restype::find_type("file"));
        made->catalog = catalog;
        made->initialize(std::move(data));
        return made;
    }

    std::string all_contents() {
        struct Piece {
            SortKey sort_key;
            const ConcatFragment* fragment;
        };
        std::vector<Piece> pieces;
        const bool numeric = text("order") == "numeric";
        secret_ = false;
        for (const Resource* r : catalog->resources()) {
            const auto* fragment = dynamic_cast<const ConcatFragment*>(r);
            if (!fragment || !fragment->belongs_to(*this)) continue;
            const std::string key =
                fmt::format("{}___{}", fragment->text("order"), fragment->name());
            const auto [first, second] = split_in_two(key, numeric ? "___" : "__");
            Piece& piece = pieces.emplace_back();
            piece.fragment = fragment;
            if (numeric) {
                piece.sort_key = {{numeric_part(first), numeric_part(second)}};
            } else {
                piece.sort_key = {{{std::string(first), false}, {std::string(second), false}}};
            }
            const Param* content = fragment->find("content");
            secret_ = secret_ || (content && content->sensitive);
        }
        std::vector<std::string> contents;
        for (const Piece& piece : pieces) contents.push_back(content_of(*piece.fragment));
        BUNRAKU_ASSERT(contents.size() == pieces.size());
        std::vector<std::size_t> order(pieces.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            return comes_before(pieces[a].sort_key, pieces[b].sort_key);
        });
        std::string out;
        for (const std::size_t i : order) out += contents[i];
        return out;
    }

    std::string content_of(const ConcatFragment& fragment) {
        std::string out;
        const Param* given = fragment.find("content");
        if (given && given->deferred && context_.resolve_deferred) {
            // The fragment itself may be evaluated later.
            const Value content = context_.resolve_deferred(given->value);
            secret_ = secret_ || content.is(value::Kind::Sensitive);
            out = plain(content.is(value::Kind::Sensitive) ? content.unwrap() : content);
        } else if (given) {
            out = plain(given->value);
        } else {
            out = source_of(fragment.get("source"));
        }
        if (flag("ensure_newline") && !out.ends_with('\n')) out += '\n';
        return out;
    }

    std::string source_of(const Value& source) {
        std::string all;
        const std::span<const Value> list =
            source.is_array() ? source.as_array() : std::span(&source, 1);
        for (const Value& one : list) {
            const std::string given = plain(one);
            const std::string uri = given.starts_with('/') ? "file://" + given : given;
            ContentSource& from = content_source(context_, uri);
            if (!unwrap(from.metadata(uri, {}))) {
                all += (all.empty() ? "" : ", ") + given;
                continue;
            }
            std::string text;
            auto reader = unwrap(from.open(uri));
            unwrap(sys::pump(*reader, [&](std::string_view part) -> base::Result<void> {
                text += part;
                return {};
            }));
            return text;
        }
        ruby_error(base::shown_text(fmt::format("Could not retrieve source(s) {}", all)));
    }

    bool secret_ = false;  ///< true if the content of a fragment is sensitive
};

}  // namespace

std::unique_ptr<Resource> make_concat_file(Context& context, const TypeSpec& spec) {
    return std::make_unique<ConcatFile>(context, spec);
}

}  // namespace bunraku::apply
