#include "cli/compile_setup.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unistd.h>

#include "base/number.h"
#include "cli/fact_sources.h"
#include "cli/paths.h"
#include "sys/process.h"
#include "sys/system.h"
#include "template/ruby_session.h"
#include "types/rich_data.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::cli {

using base::PuppetError;
using value::Value;

namespace {

PuppetError plain(std::string message) {
    return PuppetError(std::move(message), "", PuppetError::Class::Plain);
}

Value fixed_server_facts(base::Arena& arena) {
    value::HashBuilder b(arena);
    b.set("serverversion", Value::string(kPuppetVersion));
    b.set("servername", Value::string("puppet.example.org"));
    b.set("serverip", Value::string("192.0.2.10"));
    return b.build();
}

/// Puppet::Node::ServerFacts of 8.11.
Value own_server_facts(base::Arena& arena) {
    sys::RealSystem real;
    facts::Options wanted;
    wanted.names = {"networking"};
    const Value networking = facts::collect(arena, real.system(), wanted);
    value::HashBuilder b(arena);
    b.set("serverversion", Value::string(kPuppetVersion));
    for (const auto& [name, fact] :
         {std::pair("servername", "networking.fqdn"), std::pair("serverip", "networking.ip"),
          std::pair("serverip6", "networking.ip6")}) {
        if (const Value v = facts::dig(networking, fact); !v.is_undef()) b.set(name, v);
    }
    return b.build();
}

/// Puppet's TrustedInformation.local.
Value local_trust(base::Arena& arena, const Value& clientcert) {
    const std::string_view name = clientcert.is_string() ? clientcert.as_string() : "";
    const auto dot = name.find('.');
    value::HashBuilder b(arena);
    b.set("authenticated", Value::string("local"));
    b.set("certname", name.empty() ? Value::undef() : Value::string(name));
    b.set("extensions", value::HashBuilder(arena).build());
    b.set("hostname", name.empty() ? Value::undef() : Value::string(name.substr(0, dot)));
    b.set("domain", dot == name.npos ? Value::undef() : Value::string(name.substr(dot + 1)));
    b.set("external", value::HashBuilder(arena).build());
    return b.build();
}

/// Puppet makes the folder of `production` where there is a place for it; without one, who named no
/// place wants none.
bool may_be_missing(const config::Settings& settings) {
    if (const auto name = settings.text("environment"); !name.empty() && name != "production")
        return false;
    if (!settings.is_set("environmentpath")) return true;
    const auto folders = split_path(settings.text("environmentpath"));
    return std::ranges::any_of(folders, [](const std::string& folder) {
        return sys::make_real_file_system()->is_directory(folder);
    });
}

/// ENVIRONMENT/manifests, what the setting `manifest` is by default: Puppet takes it for empty
/// where it is missing.
bool is_main_manifest(std::string_view path, std::string_view environment) {
    while (path.ends_with('/')) path.remove_suffix(1);
    return sys::base_name(path) == "manifests" &&
           sys::base_name(sys::directory_name(path)) == environment;
}

}  // namespace

std::string environment_missing(const config::Settings& settings) {
    return fmt::format(
        "Could not find a directory environment named '{}' anywhere in the path: {}. Does the "
        "directory exist?",
        settings.text("environment"), settings.text("environmentpath"));
}

CompileSetup::CompileSetup(Invocation& invocation) : invocation_(invocation) {}
CompileSetup::~CompileSetup() = default;

void CompileSetup::add_options(OptionParser& parser) {
    parser.value("node", &options.node);
    parser.value("facts", &options.facts);
    parser.value("enc", &options.enc);
    parser.value("trusted", &options.trusted);
    parser.value("server-facts", &options.server_facts);
    parser.value("vars", &options.vars);
    parser.value("environment", &options.environment);
    parser.value("environmentpath", &options.environmentpath);
    parser.value("modulepath", &modulepath_);
    parser.value("hiera-config", &options.hiera_config);
    parser.value("code-id", &options.code_id);
    parser.flag("storeconfigs", &options.storeconfigs);
    parser.value("puppetdb-url", &puppetdb_url_);
}

Value CompileSetup::read_json(const std::string& path) {
    auto text = environment::read_file(path);
    if (!text) throw plain(fmt::format("Could not read {}", path));
    auto data = value::parse_json(*arena, *text);
    if (!data) throw plain(fmt::format("Could not parse {}: {}", path, data.error().message));
    if (!data->is_hash()) throw plain(fmt::format("{} is not a JSON object", path));
    return *data;
}

store::Store& CompileSetup::opened_store() { return store_->embedded(); }

void CompileSetup::store_catalog(const catalog::Catalog& catalog) {
    store_->store_catalog(options.node, catalog, request_.node.facts, *naming_);
}

std::optional<compiler::Classification> CompileSetup::classify() {
    if (!options.enc.empty()) return compiler::read_classification(read_json(options.enc));
    const auto& settings = invocation_.settings;
    if (settings.text("node_terminus") != "exec") return std::nullopt;
    const bool applies = invocation_.command == "apply";
    std::optional<compiler::Classification> answer;
    try {
        answer = compiler::ask_external_nodes(*arena, *sys::make_real_processes(),
                                              settings.text("external_nodes"), options.node);
    } catch (const PuppetError& e) {
        throw plain(applies ? "Could not run: " + e.message()
                            : fmt::format("Failed when searching for node {}: {}", options.node,
                                          e.message()));
    }
    if (!answer) {
        throw plain(applies
                        ? fmt::format("Could not run: Could not find node {}", options.node)
                        : fmt::format("Could not find node '{}'; cannot compile", options.node));
    }
    return answer;
}

compiler::Request& CompileSetup::prepare(base::LogSink& log, const std::string& manifest,
                                         const std::optional<std::string>& code, bool no_manifest) {
    auto& settings = invocation_.settings;
    std::string& node_name = options.node;
    if (modulepath_ != "\1") options.modulepath = modulepath_;
    if (!options.environment.empty()) settings.set("environment", options.environment);
    if (!manifest.empty() && ::access(manifest.c_str(), F_OK) != 0 &&
        (invocation_.command == "apply" ||
         !is_main_manifest(manifest, settings.text("environment"))))
        throw plain(fmt::format("Could not find file {}", manifest));
    if (!options.environmentpath.empty()) settings.set("environmentpath", options.environmentpath);
    if (!options.hiera_config.empty()) settings.set("hiera_config", options.hiera_config);
    if (options.storeconfigs) settings.set("storeconfigs", "true");
    storeconfigs_ = settings.boolean("storeconfigs");
    if (node_name.empty()) node_name = settings.text("node_name_value");
    if (node_name.empty()) node_name = "localhost";
    const auto classification = classify();
    // The classifier's choice counts more than what the caller wants.
    if (classification && !classification->environment.empty() &&
        classification->environment != settings.text("environment")) {
        settings.set("environment", classification->environment);
        snapshot = nullptr;
    }

    const auto strict = settings.text("strict");
    environment::Spec spec = environment_spec(settings);
    spec.directory = options.directory;
    if (options.modulepath) {
        spec.modulepath = split_path(*options.modulepath);
        spec.modulepath_given = true;
    }
    spec.manifest = manifest;
    spec.code = code;
    spec.no_manifest = no_manifest;
    if (auto dir = settings.text("default_manifest"); !dir.empty()) spec.default_manifest = dir;
    spec.disable_per_environment_manifest = settings.boolean("disable_per_environment_manifest");
    spec.tasks = settings.boolean("tasks");
    using Strict = syntax::ValidateOptions::Strict;
    spec.strict = strict == "off"       ? Strict::Off
                  : strict == "warning" ? Strict::Warning
                                        : Strict::Error;
    if (!snapshot) {
        auto opened = environment::Environment::open(spec, log);
        if (!opened) throw plain(opened.error().message);
        snapshot = std::move(*opened);
        // Described by options alone an environment needs no folder; Puppet's own commands want
        // one.
        const bool described =
            options.modulepath && options.environmentpath.empty() && invocation_.command != "apply";
        if (snapshot->directory().empty() && !described && !may_be_missing(settings)) {
            throw plain(classification && !classification->environment.empty() &&
                                invocation_.command != "apply"
                            ? fmt::format("Failed when searching for node {}: {}", node_name,
                                          environment_missing(settings))
                            : environment_missing(settings));
        }
    }
    env_ = snapshot;
    if (!data_cache) data_cache = std::make_shared<hiera::DataCache>();

    request_.environment = env_;
    request_.arena = arena;
    request_.log = &log;
    inputs_ = std::make_unique<compiler::SystemInputs>(
        spec.name, node_name, [&settings](std::string_view name) { return settings.get(name); });
    inputs_->runner = [](const std::vector<std::string>& argv,
                         const std::string& cwd) -> base::Result<evaluator::Inputs::CommandOutput> {
        sys::Command command;
        command.argv = argv;
        command.cwd = cwd;
        command.merge_errors = true;
        auto outcome = BUNRAKU_TRY(sys::make_real_processes()->run(command));
        return evaluator::Inputs::CommandOutput{outcome.status, std::move(outcome.output)};
    };
    request_.inputs = inputs_.get();
    // What a catalog shows must not depend on who compiles it; an apply is about this machine.
    request_.settings =
        settings_as_value(*arena, invocation_.command == "apply" ? settings : settings.as_root());
    request_.code_id = options.code_id;
    request_.options.strict = strict == "off"       ? evaluator::Strict::Off
                              : strict == "warning" ? evaluator::Strict::Warning
                                                    : evaluator::Strict::Error;
    request_.options.strict_variables = settings.boolean("strict_variables");
    request_.options.storeconfigs = storeconfigs_;
    request_.options.tasks = spec.tasks;

    auto& node = request_.node;
    node.name = node_name;
    if (machine_facts && options.facts.empty()) {
        facts::Options wanted;
        sys::RealSystem real;
        wanted.log = &log;
        wanted.environment = facts::environment_facts();
        wanted.external_directories =
            facts::default_external_directories(real.system().users.is_root());
        wanted.legacy = settings.boolean("include_legacy_facts");
        add_fact_folders(settings, env_.get(), wanted);
        default_facts = facts::with_local_facts(
            *arena, facts::collect(*arena, real.system(), wanted), settings);
    }
    node.facts = options.facts.empty() ? default_facts
                                       : read_fact_file(*arena, options.facts, node_name).values;
    if (!options.trusted.empty()) {
        node.trusted = read_json(options.trusted);
    } else if (trust_clientcert) {
        node.trusted = local_trust(*arena, facts::dig(node.facts, "clientcert"));
    }
    if (!options.server_facts.empty()) {
        node.server_facts = read_json(options.server_facts);
    } else if (server_facts != ServerFacts::None) {
        node.server_facts = server_facts == ServerFacts::Own ? own_server_facts(*arena)
                                                             : fixed_server_facts(*arena);
    }
    if (!options.vars.empty()) {
        const Value vars = read_json(options.vars);
        for (const auto& e : vars.as_hash())
            node.variables.emplace_back(value::to_text(e.key), e.value);
    }
    if (classification) classification->apply_to(node);

    hiera::LookupOptions lookup;
    lookup.hiera_config = settings.text("hiera_config");
    lookup.codedir = settings.text("codedir");
    lookup.strict_error = request_.options.strict == evaluator::Strict::Error;
    lookup.warn_deprecated = request_.options.strict != evaluator::Strict::Off;
    lookup.data_binding_terminus = settings.text("data_binding_terminus");
    if (lookup.data_binding_terminus.empty()) lookup.data_binding_terminus = "hiera";
    lookup.hiera3 = &templates::ask_hiera3;
    lookup_ = std::make_unique<hiera::Lookup>(env_, data_cache, lookup);
    templates_ = std::make_unique<templates::Templates>(env_);
    request_.services.lookup = lookup_.get();
    request_.services.templates = templates_.get();
    if (!puppetdb_url_.empty()) settings.set("puppetdb_url", puppetdb_url_);
    store_ = std::make_unique<StoreAccess>(settings, log);
    inputs_->querier = [this](const Value& query, base::Arena& a) {
        return store_->query(query, a);
    };
    if (storeconfigs_) request_.services.exported = &store_->exported();
    naming_ = std::make_unique<compiler::TypeNames>(env_);
    return request_;
}

void add_fact_folders(const config::Settings& settings, const environment::Environment* environment,
                      facts::Options& wanted) {
    wanted.custom_directories = facts::facterlib_directories();
    static const std::vector<environment::Module> kNone;
    for (const auto& module : environment ? environment->modules() : kNone) {
        wanted.custom_directories.push_back(module.path + "/lib/facter");
        wanted.library_directories.push_back(module.path + "/lib");
        wanted.external_directories.push_back(module.path + "/facts.d");
    }
    for (auto& dir : split_path(settings.text("factpath")))
        wanted.custom_directories.push_back(std::move(dir));
    if (auto dir = settings.text("pluginfactdest"); !dir.empty())
        wanted.external_directories.push_back(std::move(dir));
    if (auto program = settings.text("ruby_program"); !program.empty())
        wanted.ruby_program = std::move(program);
    wanted.setting = [settings](std::string_view name) { return settings.get(name); };
}

environment::Spec environment_spec(const config::Settings& settings) {
    environment::Spec spec;
    spec.name = settings.text("environment");
    if (spec.name.empty()) spec.name = "production";
    spec.environmentpath = split_path(settings.text("environmentpath"));
    spec.basemodulepath = split_path(settings.text("basemodulepath"));
    spec.setting = [text = settings](std::string_view name) { return text.get(name); };
    return spec;
}

namespace {

Value number_or_text(base::Arena& arena, const std::string& text) {
    if (auto n = base::parse_integer<std::int64_t>(text)) return Value::integer(*n);
    if (text == "unlimited") return Value::floating(std::numeric_limits<double>::infinity());
    return Value::string(arena.copy(text));
}

/// The items of a list; where they have a separator, each as its parts.
Value items_as_value(base::Arena& arena, const std::vector<std::string>& items, bool pairs) {
    std::vector<Value> out;
    for (const std::string& item : items) {
        if (!pairs) {
            out.push_back(value::make_string(arena, item));
            continue;
        }
        std::vector<Value> parts;
        for (const std::string& part : split_path(item)) {
            parts.push_back(value::make_string(arena, part));
        }
        out.push_back(value::make_array(arena, parts));
    }
    return value::make_array(arena, out);
}

Value setting_as_value(base::Arena& arena, const config::Settings& settings,
                       const config::SettingSpec* spec, const std::string& name) {
    using Kind = config::SettingSpec::Kind;
    if (settings.is_nil(name)) return Value::undef();
    const std::string text = settings.text(name);
    switch (spec ? spec->kind : Kind::String) {
        case Kind::Integer:
        case Kind::Port:
        case Kind::Duration:
        case Kind::Priority:
        case Kind::Ttl: return number_or_text(arena, text);
        case Kind::List: return items_as_value(arena, settings.list(name), false);
        case Kind::ServerList:
        case Kind::Headers: return items_as_value(arena, settings.list(name), true);
        default:
            // Text as well: puppet.conf knows no other true and false.
            if (text == "true" || text == "false") return Value::boolean(text == "true");
            return Value::string(arena.copy(text));
    }
}

}  // namespace

Value settings_as_value(base::Arena& arena, const config::Settings& settings) {
    value::HashBuilder out(arena, 512);
    for (const auto& name : settings.names()) {
        // Those of the plugin host are not Puppet's: catalogs do not see them. `$name` is a name of
        // the language's own.
        if (name.starts_with("ruby_") || name == "name") continue;
        out.set(arena.copy(name),
                setting_as_value(arena, settings, config::find_setting(name), name));
    }
    return out.build();
}

std::string store_path(const config::Settings& settings) {
    return settings.text("statedir") + "/store.sqlite3";
}

std::string database_of(const config::Settings& settings, std::string_view given) {
    if (given.starts_with("sqlite:")) given.remove_prefix(7);
    if (given.starts_with("///")) given.remove_prefix(2);
    return given.empty() ? store_path(settings) : std::string(given);
}

}  // namespace bunraku::cli
