// SPDX-License-Identifier: Apache-2.0
// bunraku resource: shows resources of this machine as Puppet code, and changes single resources.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "cli/node_options.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/process.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "resources/apply/registry.h"
#include "resources/apply/storage.h"
#include "services/agent/apply_session.h"

namespace bunraku::cli {

using base::PuppetError;
using value::Value;

namespace {

struct Shown {
    std::string title;
    std::vector<std::pair<std::string, Value>> attributes;  ///< ensure first, then by name
    /// names of the attributes that cannot be set
    std::set<std::string> read_only;
};

struct Request {
    std::vector<std::string> words, parameters;
    bool yaml = false, json = false, fail_on_error = false, edit = false, types = false;
};

// Adds the parameters that `--param` requests in addition to the properties.
void add_parameters(const apply::Resource& resource, const std::vector<std::string>& names,
                    Shown& out) {
    for (const apply::Param* p : resource.params()) {
        const std::string name(p->name());
        const bool wanted = std::find(names.begin(), names.end(), name) != names.end();
        if (!wanted || p->is_property() || name == "provider" || p->spec->namevar) continue;
        const Value& v = p->value;
        const bool empty = v.is_undef() || (v.is(value::Kind::Boolean) && !v.as_boolean()) ||
                           (v.is_string() && v.as_string().empty()) ||
                           (v.is_array() && v.as_array().empty());
        if (!empty) out.attributes.emplace_back(name, v);
    }
}

// Adds the parts of a composite name that the title does not show, as Puppet does.
void add_names(const apply::Resource& resource, Shown& out) {
    for (const apply::Param* p : resource.params()) {
        if (!p->spec->namevar || p->name() == "provider") continue;
        const Value v = resource.get(p->name());
        const bool shown = std::ranges::any_of(out.attributes,
                                               [&](const auto& a) { return a.first == p->name(); });
        if (shown || v.is_undef() || apply::plain(v).empty() || apply::plain(v) == out.title)
            continue;
        out.attributes.emplace_back(std::string(p->name()), v);
    }
}

// Calls `f`, and ends the command if a module's code raises an error.
template <class F>
auto asking(F&& f) {
    try {
        return f();
    } catch (const PuppetError& e) {
        throw base::plain_error("Could not run: " + e.message());
    }
}

// Reads a resource. `all` includes every property, not only the given ones.
Shown read(apply::Resource& resource, const Request& request, bool all) {
    for (const auto& a : resource.spec().attributes) {
        if (a.kind == restype::AttributeKind::Property && (all || a.name == "ensure")) {
            resource.watch(a.name);
        }
    }
    apply::CurrentValues current;
    resource.retrieve(current);
    Shown out{resource.title(), {}, {}};
    for (const auto& [attribute, v] : current.all()) {
        // A provider of the resource API also returns the name, which is shown as the title.
        if (attribute->namevar && !resource.spec().composite_namevar) continue;
        if (attribute->read_only) out.read_only.emplace(attribute->name);
        bool empty = v.is_undef() || (v.is_string() && v.as_string().empty()) ||
                     (v.is_array() && v.as_array().empty());
        if (empty || (apply::is_absent(v) && attribute->name != "ensure") ||
            apply::is_word(v, "notlink")) {
            continue;
        }
        out.attributes.emplace_back(std::string(attribute->name), v);
    }
    add_parameters(resource, request.parameters, out);
    if (resource.spec().composite_namevar) add_names(resource, out);
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
        const bool read_only = r.read_only.contains(name);
        out += fmt::format("{} {:<{}} => {},{}\n", read_only ? '#' : ' ', name, width,
                           apply::display(v), read_only ? " # Read Only" : "");
    }
    return out + "}\n";
}

std::string as_yaml(const Shown& r) {
    auto scalar = [](const Value& v) {
        return v.is_string() ? apply::yaml_scalar(v.as_string()) : apply::plain(v);
    };
    std::string out = "  " + apply::yaml_scalar(r.title) + ":\n";
    for (const auto& [name, v] : r.attributes) {
        out += "    " + apply::yaml_scalar(name) + ":";
        if (v.is_array()) {
            out += "\n";
            for (const Value& item : v.as_array()) out += "    - " + scalar(item) + "\n";
        } else {
            out += " " + scalar(v) + "\n";
        }
    }
    return out;
}

// Marks attributes that `resource file` shows but that cannot be set. An edited resource with them
// would be refused, as in Puppet.
void mark_the_read_only(const std::string& type, Shown& r) {
    if (type != "file") return;
    for (const char* name : {"ctime", "mtime", "type"}) r.read_only.emplace(name);
}

// {"user": {"root": {"ensure": "present", ..}}}
std::string as_json(const std::string& type, const std::vector<Shown>& found) {
    base::Arena arena;
    value::HashBuilder titles(arena);
    for (const Shown& r : found) {
        value::HashBuilder attributes(arena);
        for (const auto& [name, v] : r.attributes)
            attributes.set(value::make_string(arena, name), v);
        titles.set(value::make_string(arena, r.title), attributes.build());
    }
    value::HashBuilder out(arena, 1);
    out.set(value::make_string(arena, type), titles.build());
    return value::to_pretty_json(value::to_rich_data(arena, out.build(), {})) + "\n";
}

// Returns the error for a type whose resources cannot be listed.
PuppetError no_list(const apply::Resource& sample) {
    if (sample.provider_classes().empty()) {
        return base::plain_error(
            fmt::format("Could not run: {} has no providers and has not overridden 'instances'",
                        sample.type_name()));
    }
    return base::plain_error(fmt::format(
        "Could not run: To support listing resources of this type the '{}' provider needs to "
        "implement an 'instances' class method returning the current set of resources. We "
        "recommend porting your module to the simpler Resource API instead: "
        "https://puppet.com/search/docs?keys=resource+api",
        sample.provider_classes().front()->name));
}

std::vector<Shown> list(apply::Context& context, const restype::TypeSpec& spec,
                        const Request& request) {
    if (spec.name == "file") {
        throw base::plain_error(
            "Could not run: Listing all file instances is not supported.  Please specify a "
            "file or directory, e.g. puppet resource file /etc");
    }
    auto sample = apply::make_resource(context, spec.name);
    std::vector<Shown> found;
    // Like Puppet, lists only with suitable providers. Without one, nothing is listed.
    if (!sample->provider_classes().empty() && !sample->default_provider()) return found;
    if (!sample->can_list()) throw no_list(*sample);
    for (auto& r : asking([&] { return sample->instances(); }))
        found.push_back(asking([&] { return read(*r, request, true); }));
    std::sort(found.begin(), found.end(),
              [](const Shown& a, const Shown& b) { return a.title < b.title; });
    return found;
}

// Handles one resource: applies the requested changes in a separate catalog, then reads the
// resource again.
Shown find_or_save(agent::ApplySession& session, const restype::TypeSpec& spec,
                   const Request& request) {
    apply::Context& context = session.context();
    context.options.default_schedules = false;
    apply::RalCatalog catalog(context);
    apply::ResourceData data;
    data.title = request.words[1];
    const std::string tag(spec.name);
    data.tags = std::span(&tag, 1);
    for (std::size_t i = 2; i < request.words.size(); ++i) {
        const std::string& word = request.words[i];
        std::size_t eq = word.find('=');
        if (eq == std::string::npos || eq == 0 || eq + 1 == word.size()) {
            throw base::plain_error(
                fmt::format("Could not run: Invalid parameter setting {}", word));
        }
        data.parameters.emplace_back(std::string_view(word).substr(0, eq),
                                     context.string(word.substr(eq + 1)));
    }
    auto make = [&] {
        auto made = apply::make_resource(context, spec.name);
        for (const auto& [name, v] : data.parameters) {
            if (name != "provider" || !context.ruby_types) continue;
            if (auto other = context.ruby_types->instead_of(*made, v)) made = std::move(other);
        }
        made->catalog = &catalog;
        try {
            made->initialize(data);
        } catch (const PuppetError& e) {
            throw base::plain_error("Could not run: " + e.message());
        }
        return made;
    };
    auto made = make();
    const bool save = request.words.size() > 2;
    if (save) {
        apply::Resource* saved = catalog.add(std::move(made));
        catalog.finalize();
        apply::RunSettings run;
        run.announce = false;
        run.puppet_version = session.run_settings().puppet_version;
        auto result = apply::run_catalog(context, session.sink(), catalog, run);
        if (request.fail_on_error && (result.exit_status < 0 || (result.exit_status & 4))) {
            throw base::plain_error(fmt::format("Could not run: Failed to manage resource {}[{}]",
                                                base::capitalized_segments(spec.name),
                                                request.words[1]));
        }
        // The Ruby object that made the change knows the current state.
        if (dynamic_cast<apply::RubyResource*>(saved)) return read(*saved, request, false);
        made = make();
    }
    if (spec.find("ensure") && !made->provider_classes().empty() && !made->suitable()) {
        throw base::plain_error(
            fmt::format("Could not run: No ability to determine if {} exists", spec.name));
    }
    if (made->provider_classes().empty() && !made->can_list() && !save) throw no_list(*made);
    // Like Puppet, looks for a resource of a module's type among all instances.
    if (dynamic_cast<apply::RubyResource*>(made.get())) {
        for (auto& r : asking([&] { return made->instances(); }))
            if (r->title() == request.words[1])
                return asking([&] { return read(*r, request, true); });
        return asking([&] { return read(*made, request, true); });
    }
    // A record in a file is found among all records, regardless of the file that contains it.
    if (!save && spec.name != "package" && made->can_list() && made->provider() &&
        made->provider()->prefetches) {
        for (auto& r : made->instances())
            if (r->title() == made->title()) return read(*r, request, true);
    }
    return read(*made, request, !save);
}

std::string show(agent::ApplySession& session, const Request& request) {
    apply::Context& context = session.context();
    std::string type = base::lower(request.words[0]);
    const auto sample = apply::make_resource(context, type);
    if (!sample)
        throw base::plain_error(
            fmt::format("Could not run: Could not find type {}", request.words[0]));
    const restype::TypeSpec* spec = &sample->spec();
    std::vector<Shown> found = request.words.size() == 1
                                   ? list(context, *spec, request)
                                   : std::vector{find_or_save(session, *spec, request)};
    if (request.json) return as_json(type, found);
    std::string out;
    if (request.edit)
        for (Shown& r : found) mark_the_read_only(type, r);
    if (request.yaml) {
        out = "---\n" + type + ":\n";
        for (const Shown& r : found) out += as_yaml(r);
    } else {
        for (const Shown& r : found) out += as_code(type, r);
        if (out.empty()) out = "\n";
    }
    return out;
}

// Writes the code to a file, starts the user's editor, and applies the edited file.
int edit(const std::string& code) {
    std::string path = sys::expand_path("x2puppet-XXXXXX");
    const int fd = ::mkstemp(path.data());
    if (fd < 0) {
        throw base::plain_error(fmt::format("Could not run: {} - {}", std::strerror(errno), path));
    }
    ::close(fd);
    struct Remove {
        const std::string& path;
        ~Remove() { ::unlink(path.c_str()); }
    } remove{path};
    auto& files = sys::disk();
    if (auto written = files.write(path, code); !written) {
        throw base::plain_error("Could not run: " + written.error().message);
    }
    const char* own = std::getenv("EDITOR");
    // EDITOR is a command line, as for Ruby's system(). Its exit status is ignored, as in Puppet.
    const auto command = fmt::format("{} {}", own ? own : "vi", sys::shell_text({path}));
    if (std::system(command.c_str()) == -1)
        throw base::plain_error(
            fmt::format("Could not run: {} - {}", std::strerror(errno), command));
    std::string program = files.real_path("/proc/self/exe").value_or("bunraku");
    return std::system(sys::shell_text({program, "apply", "-v", path}).c_str()) == 0 ? 0 : 1;
}

// If the environment has no folder, uses the default environment.
void resolve_environment(config::Settings& settings, base::LogSink& log) {
    const std::string asked = settings.text("environment");
    if (asked.empty() || asked == "production") return;
    auto& files = sys::disk();
    for (const std::string& folder : settings.list("environmentpath"))
        if (files.is_directory(sys::join(folder, asked))) return;
    log.log(base::Level::Debug, fmt::format("Specified environment '{}' does not exist on the "
                                            "filesystem, defaulting to 'production'",
                                            asked));
    settings.set("environment", "production");
}

// Lists the native types and those of the modules.
std::string type_list(const Invocation& invocation, bool json, base::LogSink& log) {
    std::set<std::string, std::less<>> names{"whit"};
    for (const restype::TypeSpec* t : restype::all_types()) names.emplace(t->name);
    auto& files = sys::disk();
    std::vector<std::string> folders = invocation.settings.list("modulepath");
    try {
        if (!invocation.settings.is_set("modulepath"))
            folders =
                site::Site(invocation.settings, site_options(log)).environment({})->modulepath();
    } catch (const PuppetError&) {
        folders = invocation.settings.list("basemodulepath");
    }
    for (const std::string& folder : folders) {
        for (const std::string& module : files.list(folder).value_or(std::vector<std::string>())) {
            const std::string types = sys::join(sys::join(folder, module), "lib/puppet/type");
            for (const std::string& file : files.list(types).value_or(std::vector<std::string>())) {
                if (file.ends_with(".rb")) names.insert(file.substr(0, file.size() - 3));
            }
        }
    }
    std::string out;
    for (const std::string& name : names)
        out += json ? fmt::format("{}\"{}\"", out.empty() ? "" : ",\n ", name) : name + "\n";
    return json ? "[" + out + "]\n" : out;
}

int run_resource(Invocation& invocation) {
    OptionParser options(invocation);
    Request request;
    options.flag("json", &request.json);
    options.flag("to_yaml", &request.yaml);
    options.flag("y", &request.yaml);
    options.flag("fail", &request.fail_on_error);
    options.flag("f", &request.fail_on_error);
    options.flag("edit", &request.edit);
    options.flag("e", &request.edit);
    options.flag("types", &request.types);
    options.flag("t", &request.types);
    options.list("param", &request.parameters);
    options.list("p", &request.parameters);
    if (!options.parse(&request.words)) return options.exit_code();
    auto console = make_console_sink(options, Streams::Puppet);
    try {
        resolve_environment(invocation.settings, *console);
        if (request.types) {
            std::fputs(type_list(invocation, request.json, *console).c_str(), stdout);
            return 0;
        }
        if (request.words.empty()) {
            throw base::plain_error("Could not run: You must specify the type to display");
        }
        if (request.edit && request.yaml) {
            throw base::plain_error("Could not run: Editing with Yaml output is not supported");
        }
        if (request.edit && request.json)
            throw base::plain_error("Could not run: Editing with JSON output is not supported");
        agent::ApplySession session(invocation.settings, *console);
        std::unique_ptr<site::Site> site;
        std::unique_ptr<site::Session> node;
        apply::RubyTypes ruby_types(session.context(), [&] {
            site = std::make_unique<site::Site>(invocation.settings, site_options(*console));
            site::NodeRequest asked;
            asked.sources.code = std::string();
            if (invocation.settings.is_set("modulepath"))
                asked.sources.modulepath = invocation.settings.list("modulepath");
            asked.facts.kind = site::FactSource::Kind::Machine;
            node = site->session(std::move(asked), *console);
            auto parts = agent::ruby_parts(*node, invocation.settings);
            parts.from_command = true;
            return parts;
        });
        session.context().ruby_types = &ruby_types;
        const std::string out = show(session, request);
        if (request.edit) return edit(out);
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
                          .run = run_resource,
                          .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
