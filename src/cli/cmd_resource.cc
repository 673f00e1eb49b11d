// bunraku resource: shows resources of this machine as Puppet code, and changes single ones.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "apply/storage.h"
#include "cli/apply_setup.h"

namespace bunraku::cli {

using base::PuppetError;
using value::Value;

namespace {

PuppetError plain(std::string message) {
    return PuppetError(std::move(message), "", PuppetError::Class::Plain);
}

struct Shown {
    std::string title;
    std::vector<std::pair<std::string, Value>> attributes;  ///< ensure first, then by name
};

Shown read(apply::Resource& resource) {
    for (const auto& a : resource.spec().attributes) {
        if (a.kind == restype::AttributeKind::Property) resource.watch(a.name);
    }
    apply::CurrentValues current;
    resource.retrieve(current);
    Shown out{resource.title(), {}};
    for (const auto& [attribute, v] : current.all()) {
        bool empty = v.is_undef() || (v.is_string() && v.as_string().empty()) ||
                     (v.is_array() && v.as_array().empty());
        if (empty || (apply::is_absent(v) && attribute->name != "ensure") ||
            apply::is_word(v, "notlink")) {
            continue;
        }
        out.attributes.emplace_back(std::string(attribute->name), v);
    }
    if (!resource.provider_name().empty()) {
        out.attributes.emplace_back("provider", Value::string(resource.provider_name()));
    }
    std::sort(out.attributes.begin(), out.attributes.end(), [](const auto& a, const auto& b) {
        if ((a.first == "ensure") != (b.first == "ensure")) return a.first == "ensure";
        return a.first < b.first;
    });
    return out;
}

std::string as_code(const std::string& type, const Shown& r) {
    std::size_t width = 0;
    for (const auto& [name, v] : r.attributes) width = std::max(width, name.size());
    std::string title;
    for (char c : r.title) {
        if (c == '\'') title += '\\';
        title += c;
    }
    std::string out = fmt::format("{} {{ '{}':\n", type, title);
    for (const auto& [name, v] : r.attributes) {
        out += fmt::format("  {:<{}} => {},\n", name, width, apply::display(v));
    }
    return out + "}\n";
}

std::string as_yaml(const Shown& r) {
    auto scalar = [](const Value& v) {
        return v.is_string() ? apply::yaml_scalar(v.as_string()) : apply::plain(v);
    };
    std::string out = "  " + apply::yaml_scalar(r.title) + ":\n";
    for (const auto& [name, v] : r.attributes) {
        out += "    " + name + ":";
        if (v.is_array()) {
            out += "\n";
            for (const Value& item : v.as_array()) out += "    - " + scalar(item) + "\n";
        } else {
            out += " " + scalar(v) + "\n";
        }
    }
    return out;
}

std::string show(ApplySession& session, const std::vector<std::string>& words, bool yaml,
                 bool fail_on_error) {
    apply::Context& context = session.context();
    std::string type = apply::lowered(words[0]);
    const restype::TypeSpec* spec = restype::find_type(type);
    if (!spec) throw plain(fmt::format("Could not run: Could not find type {}", words[0]));
    std::vector<Shown> found;
    if (words.size() == 1) {
        if (type == "file") {
            throw plain(
                "Could not run: Listing all file instances is not supported.  Please specify a "
                "file or directory, e.g. puppet resource file /etc");
        }
        auto sample = apply::make_resource(context, *spec);
        if (!sample->can_list()) {
            throw plain(fmt::format("Could not run: {} resources cannot be listed", type));
        }
        for (auto& r : sample->instances()) found.push_back(read(*r));
        std::sort(found.begin(), found.end(),
                  [](const Shown& a, const Shown& b) { return a.title < b.title; });
    } else {
        // The engine's own catalog of one resource: what is asked for is applied, then read again.
        context.options.host_config = false;
        context.options.default_schedules = false;
        context.options.statefile.clear();
        apply::RalCatalog catalog(context);
        apply::ResourceData data;
        data.title = words[1];
        data.tags = {type};
        for (std::size_t i = 2; i < words.size(); ++i) {
            std::size_t eq = words[i].find('=');
            if (eq == std::string::npos || eq == 0) {
                throw plain(fmt::format("Could not run: Invalid parameter setting {}", words[i]));
            }
            data.parameters.emplace_back(words[i].substr(0, eq),
                                         context.string(words[i].substr(eq + 1)));
        }
        auto made = apply::make_resource(context, *spec);
        made->catalog = &catalog;
        made->initialize(data);
        if (words.size() > 2) {
            catalog.add(std::move(made));
            catalog.finalize();
            apply::RunSettings run;
            run.puppet_version = std::string(kPuppetVersion);
            auto result = apply::run_catalog(context, session.sink(), catalog, run);
            if (fail_on_error && (result.exit_status < 0 || (result.exit_status & 4))) {
                throw plain(fmt::format("Could not run: Failed to manage resource {}[{}]",
                                        apply::capitalized(type), words[1]));
            }
            data.parameters.clear();
            made = apply::make_resource(context, *spec);
            made->catalog = &catalog;
            made->initialize(data);
        }
        found.push_back(read(*made));
    }
    std::string out;
    if (yaml) {
        out = "---\n" + type + ":\n";
        for (const Shown& r : found) out += as_yaml(r);
    } else {
        for (const Shown& r : found) out += as_code(type, r);
    }
    return out;
}

int run_resource(Invocation& invocation) {
    OptionParser options(invocation);
    std::vector<std::string> words;
    bool yaml = false, fail_on_error = false;
    options.flag("to_yaml", &yaml);
    options.flag("y", &yaml);
    options.flag("fail", &fail_on_error);
    options.flag("f", &fail_on_error);
    if (!options.parse(&words)) return options.exit_code();
    auto console = make_console_sink(options, Streams::Puppet);
    if (words.empty()) {
        report_error(*console, plain("Could not run: You must specify the type to display"), "");
        return 1;
    }
    ApplySession session(invocation, *console);
    try {
        std::string out = show(session, words, yaml, fail_on_error);
        std::fwrite(out.data(), 1, out.size(), stdout);
    } catch (const PuppetError& e) {
        report_error(*console, e, "");
        return 1;
    }
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(resource){.name = "resource",
                          .summary = "Show or change resources of this machine.",
                          .run = run_resource};

}  // namespace bunraku::cli
