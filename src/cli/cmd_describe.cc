// SPDX-License-Identifier: Apache-2.0
// bunraku describe: documents a resource type from the table that also validates it, a module's
// type from its Ruby code, and everything else from its comment.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fmt/format.h>
#include <map>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/compiler/ruby_types.h"
#include "compile/reference/described.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "resources/restype/spec.h"

namespace bunraku::cli {
namespace {

/// The types of the language and of the environment's modules.
class KnownTypes {
public:
    KnownTypes(const config::Settings& settings, base::LogSink& log) : log_(log) {
        site::NodeRequest request;
        if (settings.is_set("modulepath")) request.sources.modulepath = settings.list("modulepath");
        request.sources.no_manifest = true;
        try {
            environment_ = site::Site(settings, site_options(log)).environment(request);
        } catch (const base::PuppetError&) {
            // The language's own types are available anyway.
        }
    }

    /// Returns null if the type is unknown.
    const restype::TypeSpec* find(const std::string& name) const {
        if (const auto* native = restype::find_type(name)) return native;
        if (!environment_ || !environment_->ruby_type_file(name)) return nullptr;
        try {
            return compiler::find_ruby_type(*environment_, name);
        } catch (const base::PuppetError& error) {
            log_.log(base::Level::Err,
                     fmt::format("Could not load type {}: {}", name, error.message()));
            return nullptr;
        }
    }

    const environment::Environment* environment() const { return environment_.get(); }

    /// Returns all types by name. The value is null if the file could not be loaded.
    std::map<std::string, const restype::TypeSpec*> all() const {
        std::map<std::string, const restype::TypeSpec*> out;
        for (const auto* t : restype::all_types()) {
            if (t->name != "component" && t->name != "whit") out.emplace(t->name, t);
        }
        static const std::vector<environment::Module> kNone;
        auto& files = sys::disk();
        for (const auto& module : environment_ ? environment_->modules() : kNone) {
            const auto names = files.list(module.path + "/lib/puppet/type");
            if (!names) continue;
            for (std::string name : *names) {
                if (!name.ends_with(".rb")) continue;
                name.resize(name.size() - 3);
                if (!out.contains(name)) out.emplace(name, find(name));
            }
        }
        return out;
    }

private:
    base::LogSink& log_;
    std::shared_ptr<const environment::Environment> environment_;
};

/// Returns the first sentence as a single short line, as in `puppet describe --list`.
std::string short_sentence(std::string_view doc) {
    std::string text = fmt::format("{}", fmt::join(base::words(doc), " "));
    const std::size_t end = text.find('.');
    if (end == std::string::npos) return ".. no documentation ..";
    return end > 45 ? text.substr(0, 45) + " ..." : text.substr(0, end);
}

std::string describe(const restype::Attribute& a) {
    std::string out = fmt::format("- **{}**\n", a.name) + reference::paragraphs(a.doc, 4);
    // The documentation of an attribute from Ruby ends with its values and features.
    const bool has_values = a.doc.find("Valid values are `") != std::string_view::npos ||
                            a.doc.find("Values can match `") != std::string_view::npos;
    std::string values;
    std::string_view rest = a.values;
    while (!rest.empty()) {
        std::size_t bar = rest.find('|');
        std::string_view one = rest.substr(0, bar);
        values += fmt::format("{}`{}`", values.empty() ? "" : ", ", one.substr(0, one.find('=')));
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
    }
    if (!values.empty() && !has_values)
        out += reference::wrapped(fmt::format("Valid values are {}.", values), 4);
    if (!a.patterns.empty() && !has_values) {
        out += reference::wrapped(fmt::format("Values can match `{}`.", a.patterns), 4);
    }
    if (!a.feature.empty() && a.doc.find("Requires features") == std::string_view::npos) {
        out += reference::wrapped(fmt::format("Requires features {}.", a.feature), 4);
    }
    return out + "\n";
}

/// Returns the documentation of a type and of its attributes, or only the names of the attributes
/// if `brief` is true. With `meta`, includes the metaparameters.
std::string type_text(const restype::TypeSpec& t, bool brief, bool meta) {
    std::string out;
    out += fmt::format("\n{}\n{}\n", t.name, std::string(t.name.size(), '='));
    out += reference::paragraphs(t.doc, 0) + "\n\nParameters\n----------\n";
    std::vector<const restype::Attribute*> attributes;
    for (const auto& a : t.attributes) attributes.push_back(&a);
    if (meta) {
        for (const auto& a : restype::metaparameters()) attributes.push_back(&a);
    }
    std::sort(attributes.begin(), attributes.end(),
              [](auto* a, auto* b) { return a->name < b->name; });
    if (brief) {
        std::string line;
        for (const auto* a : attributes) {
            line += (line.empty() ? "" : ", ") + std::string(a->name);
        }
        out += reference::wrapped(line, 4);
    } else {
        out += "\n";
        for (const auto* a : attributes) out += describe(*a);
    }
    return out;
}

int run_describe(Invocation& invocation) {
    OptionParser options(invocation);
    std::vector<std::string> names;
    std::string kind;
    bool list = false, brief = false, meta = false, providers = false, json = false;
    options.flag("list", &list);
    options.flag("l", &list);
    options.flag("short", &brief);
    options.flag("s", &brief);
    options.flag("meta", &meta);
    options.flag("m", &meta);
    options.flag("providers", &providers);
    options.flag("p", &providers);
    options.value("kind", &kind);
    options.flag("json", &json);
    if (!options.parse(&names)) return options.exit_code();
    auto sink = make_console_sink(options);
    const KnownTypes known(invocation.settings, *sink);
    std::string out;
    const reference::Described described(invocation.settings, known.environment(), *sink);
    const bool types = kind.empty() || kind == "type";
    if (json || !types) {
        if (!kind.empty() && !reference::Described::is_kind(kind)) {
            fmt::print(stderr, "Error: Unknown kind {}; expected one of {}\n", kind,
                       reference::Described::kinds());
            return 1;
        }
        reference::Described::Types found;
        if (list || names.empty()) {
            if (types)
                for (const auto& [name, type] : known.all())
                    if (type) found.push_back(type);
            out = json ? described.list_json(kind, found) : described.list(kind);
        } else if (json) {
            for (const auto& name : names)
                if (const auto* type = types ? known.find(base::lower(name)) : nullptr)
                    found.push_back(type);
            out = described.json(names, kind, found);
        } else {
            for (const auto& name : names) out += described.text(name, kind, brief);
        }
        if (out.empty()) {
            fmt::print(stderr, "Error: Nothing of that name is known: {}\n",
                       fmt::join(names, ", "));
            return 1;
        }
        std::fputs(out.c_str(), stdout);
        return 0;
    }
    if (list || (names.empty() && !kind.empty())) {
        out = "These are the types known to puppet:\n";
        for (const auto& [name, type] : known.all()) {
            out += fmt::format("{:<15} - {}\n", name, short_sentence(type ? type->doc : ""));
        }
        std::fputs(out.c_str(), stdout);
        return 0;
    }
    if (names.empty()) {
        std::fputs("Error: Could not run: You must specify a type\n", stderr);
        return 1;
    }
    for (std::string& name : names) {
        const std::string other = kind.empty() ? described.text(name, {}, brief) : "";
        base::make_lower(name);
        const auto* t = known.find(name);
        if (!t) {
            out += other.empty() ? fmt::format("Unknown type {}\n", name) : other;
            continue;
        }
        out += type_text(*t, brief, meta) + other;
    }
    std::fputs(out.c_str(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(describe){.name = "describe",
                          .summary = "List and describe types, classes, functions and facts.",
                          .run = run_describe};

}  // namespace bunraku::cli
