// bunraku describe: what a resource type is, from the same table that validates it.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "restype/spec.h"

namespace bunraku::cli {
namespace {

std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out, line;
    std::string pad(indent, ' ');
    while (!text.empty()) {
        std::size_t space = text.find(' ');
        std::string_view word = text.substr(0, space);
        text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
        if (!line.empty() && indent + line.size() + word.size() + 1 > 76) {
            out += pad + line + "\n";
            line.clear();
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    return line.empty() ? out : out + pad + line + "\n";
}

std::string describe(const restype::Attribute& a) {
    std::string out = fmt::format("- **{}**\n", a.name) + wrapped(a.doc, 4);
    std::string values;
    std::string_view rest = a.values;
    while (!rest.empty()) {
        std::size_t bar = rest.find('|');
        std::string_view one = rest.substr(0, bar);
        values += fmt::format("{}`{}`", values.empty() ? "" : ", ", one.substr(0, one.find('=')));
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
    }
    if (!values.empty()) out += wrapped(fmt::format("Valid values are {}.", values), 4);
    if (!a.patterns.empty()) out += wrapped(fmt::format("Values can match `{}`.", a.patterns), 4);
    if (!a.feature.empty()) out += wrapped(fmt::format("Requires features {}.", a.feature), 4);
    return out + "\n";
}

int run_describe(Invocation& invocation) {
    OptionParser options(invocation);
    std::vector<std::string> names;
    bool list = false, brief = false, meta = false, providers = false;
    options.flag("list", &list);
    options.flag("l", &list);
    options.flag("short", &brief);
    options.flag("s", &brief);
    options.flag("meta", &meta);
    options.flag("m", &meta);
    options.flag("providers", &providers);
    options.flag("p", &providers);
    if (!options.parse(&names)) return options.exit_code();
    std::string out;
    if (list) {
        out = "These are the types known to puppet:\n";
        for (const auto* t : restype::all_types()) {
            if (t->name == "component" || t->name == "whit") continue;
            std::string doc(t->doc.substr(0, t->doc.find(". ")));
            if (doc.size() > 50) {
                doc.resize(45);
                doc += " ...";
            }
            out += fmt::format("{:<15} - {}\n", t->name, doc);
        }
        std::fputs(out.c_str(), stdout);
        return 0;
    }
    if (names.empty()) {
        std::fputs("Error: Could not run: You must specify a type\n", stderr);
        return 1;
    }
    for (const std::string& name : names) {
        const auto* t = restype::find_type(name);
        if (!t) {
            out += fmt::format("Unknown type {}\n", name);
            continue;
        }
        out += fmt::format("\n{}\n{}\n", t->name, std::string(t->name.size(), '='));
        out += wrapped(t->doc, 0) + "\n\nParameters\n----------\n";
        std::vector<const restype::Attribute*> attributes;
        for (const auto& a : t->attributes) attributes.push_back(&a);
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
            out += wrapped(line, 4);
        } else {
            out += "\n";
            for (const auto* a : attributes) out += describe(*a);
        }
    }
    std::fputs(out.c_str(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(describe){.name = "describe",
                          .summary = "Show what resource types there are and what they take.",
                          .run = run_describe};

}  // namespace bunraku::cli
