// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/nagios/naginator.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/registry.h"
#include "resources/apply/types/nagios/definitions.h"

namespace bunraku::apply {
namespace {

bool naginator_suitable(Context&) { return true; }
constexpr ProviderClass kNaginator{
    .name = "naginator", .suitable = naginator_suitable, .prefetches = true};
constexpr const ProviderClass* kNaginators[] = {&kNaginator};

constexpr std::string_view kNamePlace =
    "## --PUPPET_NAME-- (called '_naginator_name' in the manifest)";

/// Reports whether the field is internal and does not appear in a file.
bool is_ours(std::string_view field) {
    return field == "ensure" || field == "target" || field == "name";
}

bool is_directive(const TypeSpec& type, std::string_view name) {
    if (name == "2d_coords" || name == "3d_coords") {
        return type.name == "nagios_host" || type.name == "nagios_hostextinfo";
    }
    const Attribute* a = type.find(name);
    return a && !is_ours(name) && (a->namevar || a->kind == AttributeKind::Property);
}

std::string with_replacements(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
    return text;
}
void replace_first(std::string& text, std::string_view what, std::string_view by) {
    if (const auto at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
}

}  // namespace

std::span<const ProviderClass* const> Naginator::provider_classes() const { return kNaginators; }

std::string_view Naginator::kind() const {
    BUNRAKU_ASSERT(spec_.name.starts_with("nagios_"));
    return spec_.name.substr(std::string_view("nagios_").size());
}

std::string Naginator::default_target() const {
    return fmt::format("/etc/nagios/{}.cfg", spec_.name);
}

bool Naginator::has_field(std::string_view field) const { return is_directive(spec_, field); }

std::vector<std::unique_ptr<Resource>> Naginator::generate() {
    std::vector<std::unique_ptr<Resource>> out;
    ResourceData d;
    d.title = text("target");
    for (const char* attribute : {"owner", "group", "mode"}) {
        if (const Value v = get(attribute); !v.is_undef()) d.parameters.emplace_back(attribute, v);
    }
    if (d.parameters.empty()) return out;
    out.push_back(make_resource(context_, *restype::find_type("file")));
    out.back()->catalog = catalog;
    out.back()->initialize(std::move(d));
    return out;
}

std::vector<RecordPtr> Naginator::parse(const std::string& text, const std::string&) const {
    std::vector<RecordPtr> out;
    const auto failed = [&](std::string_view why) {
        return base::plain_error(
            fmt::format("Could not parse configuration for {}: {}", spec_.name, why));
    };
    std::vector<NagiosDefinition> definitions;
    try {
        definitions = parse_nagios(with_replacements(text, kNamePlace, "_naginator_name"));
    } catch (const base::PuppetError& e) {
        throw failed(e.message());
    }
    for (NagiosDefinition& d : definitions) {
        const TypeSpec* type = restype::find_type("nagios_" + d.kind);
        if (!type) throw failed(fmt::format("Unknown type {}", d.kind));
        RecordPtr r = entry_record();
        r->kind = d.kind;
        for (const auto& [name, value] : d.directives) {
            // A template has its name in the directive `name`.
            const std::string_view field =
                name == "name" ? type->namevar() : std::string_view(name);
            if (!is_directive(*type, field)) {
                throw failed(fmt::format("undefined method `{}=' for #<Nagios::Base::{}>", name,
                                         base::capitalized(d.kind)));
            }
            r->set(field, context_.string(value));
        }
        if (r->kind == kind()) {
            if (const Value name = r->value(spec_.namevar()); !name.is_undef()) {
                r->set("name", name);
            }
        }
        out.push_back(std::move(r));
    }
    return out;
}

// Writes directives sorted by name. Only the first semicolon of each value is escaped, as in the
// module, so that it does not start a comment.
std::string Naginator::render(const Record& record) const {
    const std::string kind = record.kind.empty() ? std::string(this->kind()) : record.kind;
    std::vector<std::pair<std::string, std::string>> directives;
    for (const auto& [name, v] : record.values) {
        if (is_ours(name) || v.is_undef()) continue;
        std::string text = plain(v);
        replace_first(text, ";", "\\;");
        directives.emplace_back(name, std::move(text));
    }
    std::ranges::sort(directives);
    std::string out = fmt::format("define {} {{\n", kind);
    for (const auto& [name, text] : directives) out += fmt::format("\t{:<30} {}\n", name, text);
    out += "}\n";
    if (line_match("register\\s+0", out)) {
        replace_first(out, "_naginator_name", "name");
        replace_first(out, kind + "_name", "name");
    } else {
        replace_first(out, "_naginator_name", kNamePlace);
    }
    return out;
}

std::string Naginator::compose(const std::vector<RecordPtr>& records) const {
    std::string out;
    for (const RecordPtr& r : records) out += (out.empty() ? "" : "\n") + render(*r);
    return out;
}

}  // namespace bunraku::apply
