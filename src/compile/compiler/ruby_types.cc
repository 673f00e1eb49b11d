// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/ruby_types.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>

#include "core/value/value.h"
#include "language/ruby/process.h"
#include "language/syntax/ast.h"
#include "language/template/ruby_session.h"

namespace bunraku::compiler {

using base::PuppetError;
using templates::RubySession;

namespace {

/// Parses titles in Ruby, once per title. Thread-safe.
class RubyTitles final : public restype::TitleReader {
public:
    using Parts = std::optional<std::vector<std::pair<std::string_view, std::string>>>;

    /// The environment owns it.
    RubyTitles(const ruby::TypeInfo& type, const environment::Environment& environment,
               std::weak_ptr<ruby::Pool> pool)
        : type_(type), environment_(environment), pool_(std::move(pool)) {}

    Parts read(std::string_view title) const override {
        {
            const std::lock_guard lock(mutex_);
            if (auto it = known_.find(title); it != known_.end()) {
                it->second.reads.note();
                return it->second.parts;
            }
        }
        const auto pool = pool_.lock();
        // The type may be cached although Ruby is not installed. Titles are then not
        // parsed.
        if (!pool || ruby::find_ruby(pool->options().program).empty()) return std::nullopt;
        base::Arena arena(4096);
        value::Value answer;
        Known known;
        {
            const environment::DependencyRecorder::Collecting collecting(known.reads);
            auto host = pool->take();
            host->on_read(
                [this](const ruby::ReadNote& note) { templates::note_read(environment_, note); });
            answer = host->parse_title(type_.file, type_.name, title, arena);
        }
        Parts& parts = known.parts;
        if (answer.is_hash()) {
            parts.emplace();
            for (const auto& pattern : type_.title_patterns) {
                for (const auto& name : pattern.attributes) {
                    const auto* found = answer.as_hash().find(name);
                    if (!found || found->is_undef()) continue;
                    const bool twice = std::any_of(parts->begin(), parts->end(),
                                                   [&](const auto& p) { return p.first == name; });
                    if (!twice) parts->emplace_back(name, value::to_text(*found));
                }
            }
        }
        const std::lock_guard lock(mutex_);
        return known_.emplace(std::string(title), std::move(known)).first->second.parts;
    }

private:
    struct Known {
        Parts parts;
        environment::DependencyRecorder reads;
    };
    const ruby::TypeInfo& type_;
    const environment::Environment& environment_;
    std::weak_ptr<ruby::Pool> pool_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, Known, std::less<>> known_;
};

/// A spec that owns the data it points to.
struct OwnedSpec {
    ruby::TypeInfo info;
    restype::TypeSpec spec;
    std::vector<restype::Attribute> attributes;
    std::vector<std::string> values, patterns;
    std::vector<std::vector<std::string_view>> pattern_attributes;
    std::vector<restype::TitlePattern> title_patterns;
    std::unique_ptr<RubyTitles> titles;
};

std::unique_ptr<OwnedSpec> make_spec(ruby::TypeInfo info) {
    auto out = std::make_unique<OwnedSpec>();
    out->info = std::move(info);
    const auto& type = out->info;
    out->values.reserve(type.attributes.size());
    out->patterns.reserve(type.attributes.size());
    int namevars = 0;
    for (const auto& a : type.attributes) {
        using Kind = ruby::TypeInfo::Attribute::Kind;
        out->values.push_back(fmt::format("{}", fmt::join(a.values, "|")));
        out->patterns.push_back(fmt::format("{}", fmt::join(a.patterns, ", ")));
        restype::Attribute attribute;
        attribute.name = a.name;
        attribute.kind = a.kind == Kind::Property ? restype::AttributeKind::Property
                                                  : restype::AttributeKind::Parameter;
        // Puppet looks for name variables among the parameters only.
        attribute.namevar = a.kind == Kind::Parameter && (a.namevar || a.name == "name");
        if (attribute.namevar) ++namevars;
        attribute.doc = a.doc;
        attribute.values = out->values.back();
        attribute.patterns = out->patterns.back();
        attribute.array_matching_all = a.array_matching_all;
        attribute.feature = a.feature;
        out->attributes.push_back(attribute);
    }
    for (const auto& p : type.title_patterns) {
        std::vector<std::string_view> names(p.attributes.begin(), p.attributes.end());
        out->pattern_attributes.push_back(std::move(names));
    }
    for (std::size_t i = 0; i < type.title_patterns.size(); ++i) {
        out->title_patterns.push_back({type.title_patterns[i].regexp,
                                       type.title_patterns[i].options, out->pattern_attributes[i]});
    }
    auto& spec = out->spec;
    spec.name = type.name;
    spec.doc = type.doc;
    spec.attributes = out->attributes;
    spec.isomorphic = type.isomorphic;
    spec.composite_namevar = namevars > 1;
    spec.title_patterns = out->title_patterns;
    return out;
}

struct Table {
    std::mutex mutex;
    struct Known {
        std::unique_ptr<OwnedSpec> spec;  // null if the type does not exist
        environment::DependencyRecorder reads;
    };
    std::map<std::string, Known, std::less<>> types;
};

// ---- .resource_types ----

using syntax::as;

std::string text_of(const syntax::Node* node) {
    if (const auto* s = as<syntax::LiteralString>(node)) return std::string(s->value);
    if (const auto* n = as<syntax::QualifiedName>(node)) return std::string(n->value);
    return {};
}

bool true_literal(const syntax::Node* node) {
    const auto* b = as<syntax::LiteralBoolean>(node);
    return b && b->value;
}

/// `Puppet::Resource::Param(TYPE, NAME[, true])`
void read_attributes(const syntax::Node* list, ruby::TypeInfo::Attribute::Kind kind,
                     ruby::TypeInfo& out) {
    const auto* items = as<syntax::LiteralList>(list);
    if (!items) return;
    for (const auto* item : items->values) {
        const auto* call = as<syntax::CallNamedFunctionExpression>(item);
        if (!call || call->arguments.size() < 2) continue;
        ruby::TypeInfo::Attribute attribute;
        attribute.name = text_of(call->arguments[1]);
        attribute.kind = kind;
        attribute.namevar = call->arguments.size() > 2 && true_literal(call->arguments[2]);
        out.attributes.push_back(std::move(attribute));
    }
}

std::optional<ruby::TypeInfo> read_generated(const environment::Environment& environment,
                                             std::string_view name) {
    if (environment.directory().empty() || name.find_first_of("/.") != std::string_view::npos)
        return std::nullopt;
    const auto path = fmt::format("{}/.resource_types/{}.pp", environment.directory(), name);
    if (!environment.depends_on(path).exists) return std::nullopt;
    const auto file = environment.parse_file(path);
    if (!file) return std::nullopt;
    if (file->error) throw PuppetError(*file->error);
    const syntax::Node* body = file->tree->program->body;
    if (const auto* block = as<syntax::BlockExpression>(body);
        block && block->statements.size() == 1)
        body = block->statements[0];
    const auto* call = as<syntax::CallMethodExpression>(body);
    const auto* made =
        call && call->functor ? as<syntax::QualifiedReference>(call->functor->left) : nullptr;
    if (!made || made->value != "puppet::resource::resourcetype3") {
        throw PuppetError(
            fmt::format("The code loaded from {} does not contain a call to "
                        "'Puppet::Resource::ResourceType3.new'",
                        path));
    }
    ruby::TypeInfo info;
    info.file = path;
    const auto& args = call->arguments;
    if (!args.empty()) info.name = text_of(args[0]);
    if (info.name != name) {
        throw PuppetError(
            fmt::format("The code loaded from {} produced resource type with the "
                        "wrong name, expected '{}', actual '{}'",
                        path, name, info.name));
    }
    using Kind = ruby::TypeInfo::Attribute::Kind;
    if (args.size() > 1) read_attributes(args[1], Kind::Property, info);
    if (args.size() > 2) read_attributes(args[2], Kind::Parameter, info);
    if (const auto* hash = args.size() > 3 ? as<syntax::LiteralHash>(args[3]) : nullptr) {
        for (const auto* entry : hash->entries) {
            const auto* regexp = as<syntax::LiteralRegularExpression>(entry->key);
            const auto* names = as<syntax::LiteralList>(entry->value);
            if (!regexp || !names) continue;
            ruby::TypeInfo::TitlePattern pattern;
            pattern.regexp = regexp->pattern;
            for (const auto* n : names->values) pattern.attributes.push_back(text_of(n));
            info.title_patterns.push_back(std::move(pattern));
        }
    }
    if (args.size() > 4) info.isomorphic = true_literal(args[4]);
    return info;
}

// Reports whether the cause of the error is a part of Puppet's Ruby API that share/ruby lacks. Such
// a gap must not make the type unusable.
bool unknown_to_shim(const std::string& message) {
    const auto mentions = [&](std::string_view text) { return message.find(text) != message.npos; };
    // The API of Puppet 0.x; newer versions of Puppet fail too. The second text is that of
    // Ruby 3.3. Ruby 3.4 has another quotation mark before the name.
    if (mentions("newtype' for Puppet:Module") || mentions("newtype' for module Puppet")) {
        return false;
    }
    return mentions("undefined method ") || mentions("undefined local variable or method ") ||
           mentions("uninitialized constant ");
}

}  // namespace

const restype::TypeSpec* find_ruby_type(const environment::Environment& environment,
                                        std::string_view name, evaluator::Interpreter* in,
                                        RubySession* session) {
    auto table = environment.attached<Table>([] { return std::make_shared<Table>(); });
    {
        const std::lock_guard lock(table->mutex);
        if (auto it = table->types.find(name); it != table->types.end()) {
            it->second.reads.note();
            if (it->second.spec) templates::note_reads(environment, it->second.spec->info.reads);
            return it->second.spec ? &it->second.spec->spec : nullptr;
        }
    }
    environment::DependencyRecorder reads;
    std::unique_ptr<OwnedSpec> made;
    std::optional<environment::DependencyRecorder::Collecting> collecting(std::in_place, reads);
    if (auto generated = read_generated(environment, name)) {
        made = make_spec(std::move(*generated));
    } else if (auto file = environment.ruby_type_file(name)) {
        if (!restype::find_module_type(name)) {
            environment.depends_on(*file);
            auto pool = session ? nullptr : RubySession::pool_of(environment, in);
            ruby::Pool& from = session ? session->pool(*in) : *pool;
            try {
                ruby::Host* via = session ? &session->host(*in) : nullptr;
                made = make_spec(from.type_info(*file, name, via));
                const auto& patterns = made->info.title_patterns;
                if (std::any_of(patterns.begin(), patterns.end(),
                                [](const auto& p) { return p.transforms; })) {
                    made->titles = std::make_unique<RubyTitles>(
                        made->info, environment, RubySession::pool_of(environment, in));
                    made->spec.title_reader = made->titles.get();
                }
            } catch (const PuppetError& error) {
                const bool missing = ruby::find_ruby(from.options().program).empty();
                if (!missing && !unknown_to_shim(error.message())) {
                    // Puppet's autoloader logs the error before it raises it.
                    auto message =
                        fmt::format("Could not autoload puppet/type/{}: {}", name, error.message());
                    if (in) in->log().log(base::Level::Err, message);
                    throw PuppetError(std::move(message));
                }
                if (in) {
                    in->log().log(base::Level::Debug,
                                  fmt::format("Type {} of {} is known by its name alone: {}", name,
                                              *file, error.message()));
                }
            }
        } else {
            return restype::find_module_type(name);
        }
    }
    collecting.reset();
    const std::lock_guard lock(table->mutex);
    auto [it, fresh] =
        table->types.emplace(std::string(name), Table::Known{std::move(made), std::move(reads)});
    if (it->second.spec) templates::note_reads(environment, it->second.spec->info.reads);
    return it->second.spec ? &it->second.spec->spec : nullptr;
}

namespace {

/// Returns a regular expression in Puppet syntax, with its options as a group.
std::string with_options(std::string_view source, std::uint32_t options) {
    if (options == 0) return fmt::format("/{}/", source);
    std::string on, off;
    for (const auto& [bit, letter] : {std::pair(4u, 'm'), std::pair(1u, 'i'), std::pair(2u, 'x')})
        (options & bit ? on : off) += letter;
    return fmt::format("/(?{}{}{}:{})/", on, off.empty() ? "" : "-", off, source);
}

/// Like with_options, for Ruby's "/source/options".
std::string pattern_text(std::string_view inspected) {
    const auto end = inspected.rfind('/');
    if (end == std::string_view::npos || end == 0) return std::string(inspected);
    std::uint32_t options = 0;
    for (char c : inspected.substr(end + 1))
        options |= c == 'i' ? 1u : c == 'x' ? 2u : c == 'm' ? 4u : 0u;
    return with_options(inspected.substr(1, end - 1), options);
}

/// Returns the type of a property or parameter, derived from its allowed values.
std::string value_type(const ruby::TypeInfo::Attribute& a) {
    std::vector<std::string> strings;
    bool boolean = false;
    for (const auto& value : a.values) {
        std::string_view rest = value;
        while (true) {
            const auto at = rest.find('=');
            const auto one = rest.substr(0, at);
            if (one == "true" || one == "false") boolean = true;
            strings.push_back(value::quote(one));
            if (at == std::string_view::npos) break;
            rest = rest.substr(at + 1);
        }
    }
    std::vector<std::string> parts;
    if (boolean) parts.emplace_back("Boolean");
    if (!strings.empty()) parts.push_back(fmt::format("Enum[{}]", fmt::join(strings, ", ")));
    std::vector<std::string> patterns;
    for (const auto& pattern : a.patterns) patterns.push_back(pattern_text(pattern));
    if (!patterns.empty()) parts.push_back(fmt::format("Pattern[{}]", fmt::join(patterns, ", ")));
    if (parts.empty()) return "Any";
    if (parts.size() == 1) return parts[0];
    return fmt::format("Variant[{}]", fmt::join(parts, ", "));
}

void write_doc(std::string& out, std::string_view doc, std::string_view prefix) {
    while (!doc.empty()) {
        const auto nl = doc.find('\n');
        out += prefix;
        out += doc.substr(0, nl);
        out += '\n';
        doc = nl == std::string_view::npos ? std::string_view() : doc.substr(nl + 1);
    }
}

void write_attributes(std::string& out, const ruby::TypeInfo& type,
                      ruby::TypeInfo::Attribute::Kind kind) {
    std::vector<const ruby::TypeInfo::Attribute*> list;
    for (const auto& a : type.attributes)
        if (a.kind == kind) list.push_back(&a);
    out += "  [\n";
    for (std::size_t i = 0; i < list.size(); ++i) {
        write_doc(out, list[i]->doc, "    # ");
        out += fmt::format("    Puppet::Resource::Param({}, {}{})", value_type(*list[i]),
                           value::quote(list[i]->name), list[i]->namevar ? ", true" : "");
        if (i + 1 < list.size()) out += ",\n\n";
    }
    out += "\n  ],\n";
}

}  // namespace

std::string resource_type_text(const ruby::TypeInfo& type, std::string_view now) {
    using AttributeKind = ruby::TypeInfo::Attribute::Kind;
    std::string out = fmt::format(
        "# This file was automatically generated on {}.\n"
        "# Use the 'puppet generate types' command to regenerate this file.\n\n",
        now);
    write_doc(out, type.doc, "# ");
    out += fmt::format("Puppet::Resource::ResourceType3.new(\n  {},\n", value::quote(type.name));
    write_attributes(out, type, AttributeKind::Property);
    write_attributes(out, type, AttributeKind::Parameter);
    out += "  {\n";
    for (std::size_t i = 0; i < type.title_patterns.size(); ++i) {
        const auto& p = type.title_patterns[i];
        std::vector<std::string> names;
        for (const auto& n : p.attributes) names.push_back(value::quote(n));
        std::string source;
        for (std::size_t k = 0; k < p.regexp.size(); ++k) {
            if (p.regexp[k] == '\\' && k + 1 < p.regexp.size()) {
                source += p.regexp.substr(k++, 2);
            } else if (p.regexp[k] == '/') {
                source += "\\/";
            } else {
                source += p.regexp[k];
            }
        }
        out += fmt::format("    {} => [{}]{}\n", with_options(source, p.options),
                           fmt::join(names, ", "), i + 1 < type.title_patterns.size() ? "," : "");
    }
    out += fmt::format("  }},\n  {},\n  {})\n", type.isomorphic, type.capability);
    return out;
}

}  // namespace bunraku::compiler
