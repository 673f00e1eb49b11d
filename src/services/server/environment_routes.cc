// SPDX-License-Identifier: Apache-2.0
// Information about environments, and requests to reload them: /puppet/v3/ environments,
// environment_classes, environment_modules, environment_transports, and /puppet-admin-api/v1
// (puppetserver's documentation; responses of 7.9.5).
#include <algorithm>
#include <fmt/format.h>

#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/environment.h"
#include "language/syntax/ast.h"
#include "language/types/type.h"
#include "services/server/compiler.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

using http::Request;
using http::Response;
using value::HashBuilder;
using value::Value;

namespace {

/// Returns the value of a literal expression in the JSON format. Returns nullopt if it must be
/// evaluated or JSON cannot represent it.
std::optional<Value> literal_of(base::Arena& arena, const syntax::Node& node) {
    using namespace syntax;
    if (const auto* n = as<LiteralBoolean>(&node)) return Value::boolean(n->value);
    if (const auto* n = as<LiteralInteger>(&node)) return Value::integer(n->value);
    if (const auto* n = as<LiteralFloat>(&node)) return Value::floating(n->value);
    if (const auto* n = as<LiteralString>(&node)) return value::make_string(arena, n->value);
    if (const auto* n = as<QualifiedName>(&node)) return value::make_string(arena, n->value);
    if (const auto* n = as<ConcatenatedString>(&node)) {
        if (n->segments.size() != 1) return std::nullopt;
        return literal_of(arena, *n->segments[0]);
    }
    if (const auto* n = as<LiteralList>(&node)) {
        std::vector<Value> items;
        for (const auto* item : n->values) {
            auto value = literal_of(arena, *item);
            if (!value) return std::nullopt;
            items.push_back(*value);
        }
        return value::make_array(arena, items);
    }
    if (const auto* n = as<LiteralHash>(&node)) {
        HashBuilder out(arena);
        for (const auto* entry : n->entries) {
            const auto key = literal_of(arena, *entry->key), v = literal_of(arena, *entry->value);
            if (!key || !key->is_string() || !v) return std::nullopt;
            out.set(*key, *v);
        }
        return out.build();
    }
    return std::nullopt;
}

class Environments {
public:
    explicit Environments(Compiler& compiler) : compiler_(compiler) {}

    Response list(const Request&) {
        base::Arena arena;
        std::vector<Value> paths;
        const auto& settings = compiler_.settings();
        for (const auto& folder : settings.list("environmentpath"))
            paths.push_back(value::make_string(arena, "file://" + folder));
        HashBuilder environments(arena);
        for (const auto& name : names()) {
            const auto found = compiler_.base_environment(name);
            std::vector<Value> modulepath;
            for (const auto& folder : found->modulepath())
                modulepath.push_back(value::make_string(arena, folder));
            HashBuilder shown(arena, 4);
            shown.set("modulepath", value::make_array(arena, modulepath));
            shown.set("manifest", value::make_string(arena, found->manifest()));
            shown.set("environment_timeout", timeout(arena, *found));
            shown.set("config_version", value::make_string(arena, found->config_version()));
            HashBuilder one(arena, 1);
            one.set("settings", shown.build());
            environments.set(value::make_string(arena, name), one.build());
        }
        HashBuilder out(arena, 2);
        out.set("search_paths", value::make_array(arena, paths));
        out.set("environments", environments.build());
        return Response::json(200, value::to_json(out.build()));
    }

    Response modules(const Request& request) {
        base::Arena arena;
        std::vector<Value> all;
        const auto* asked = request.query_value("environment");
        const auto wanted = asked ? std::vector{environment_name(request)} : names();
        for (const auto& name : wanted) {
            const auto found = compiler_.base_environment(name);
            std::vector<Value> modules;
            for (const auto& module : found->modules()) {
                HashBuilder one(arena, 2);
                one.set("name",
                        value::make_string(
                            arena, module.forge_name.empty() ? module.name : module.forge_name));
                one.set("version", module.version.empty()
                                       ? Value::undef()
                                       : value::make_string(arena, module.version));
                modules.push_back(one.build());
            }
            HashBuilder shown(arena, 2);
            shown.set("modules", value::make_array(arena, modules));
            shown.set("name", value::make_string(arena, name));
            all.push_back(shown.build());
        }
        return Response::json(200,
                              value::to_json(asked ? all.at(0) : value::make_array(arena, all)));
    }

    Response classes(const Request& request) {
        base::Arena arena;
        const auto name = environment_name(request);
        const auto found = compiler_.base_environment(name);
        std::vector<std::string> paths;
        collect(found->files(), found->manifest(), paths);
        for (const auto& module : found->modules())
            collect(found->files(), sys::join(module.path, "manifests"), paths);
        std::ranges::sort(paths);
        std::vector<Value> files;
        for (const auto& path : paths) files.push_back(file(arena, *found, path));
        HashBuilder out(arena, 2);
        out.set("files", value::make_array(arena, files));
        out.set("name", value::make_string(arena, name));
        const std::string json = value::to_json(out.build());
        const std::string tag = '"' + codec::short_digest(json) + '"';
        Response answer = request.headers.get("If-None-Match") == tag ? Response{.status = 304}
                                                                      : Response::json(200, json);
        answer.headers.set("Etag", tag);
        return answer;
    }

    Response transports(const Request& request) {
        const auto name = environment_name(request);
        (void)compiler_.base_environment(name);
        return Response::json(
            200, fmt::format(R"({{"name":{},"transports":[]}})", codec::json_string(name)));
    }

    Response flush(const Request&) {
        compiler_.flush();
        return Response{.status = 204};
    }

private:
    std::vector<std::string> names() {
        std::vector<std::string> out;
        for (const auto& folder : compiler_.settings().list("environmentpath")) {
            const auto found = files_.list(folder);
            if (!found) continue;
            for (const auto& name : *found)
                if (environment::valid_environment_name(name) &&
                    files_.is_directory(sys::join(folder, name)) &&
                    std::ranges::find(out, name) == out.end())
                    out.push_back(name);
        }
        return out;
    }

    Value timeout(base::Arena& arena, const environment::Environment& environment) {
        const auto own = environment.conf("environment_timeout");
        const std::string text = own ? *own : compiler_.settings().text("environment_timeout");
        if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
            return Value::integer(std::atoll(text.c_str()));
        return value::make_string(arena, text);
    }

    /// Collects the manifests at and below a path.
    void collect(const environment::Files& files, const std::string& path,
                 std::vector<std::string>& out) {
        const auto place = files.place(path);
        if (files_.is_file(place)) {
            if (path.ends_with(".pp")) out.push_back(path);
            return;
        }
        const auto names = files_.list(place);
        if (!names) return;
        for (const auto& name : *names) collect(files, sys::join(path, name), out);
    }

    static Value file(base::Arena& arena, const environment::Environment& environment,
                      const std::string& path) {
        HashBuilder out(arena, 2);
        const auto parsed = environment.parse_file(path);
        const auto failed = [&](const std::string& text) {
            out.set("error", value::make_string(arena, text));
        };
        if (!parsed) {
            failed("Could not read " + path);
        } else if (parsed->error) {
            failed(parsed->error->full_text());
        } else {
            std::vector<Value> classes;
            for (const auto* definition : parsed->tree->program->definitions) {
                if (definition->kind != syntax::NodeKind::HostClassDefinition) continue;
                const auto& c = static_cast<const syntax::HostClassDefinition&>(*definition);
                std::vector<Value> params;
                for (const auto* p : c.parameters) params.push_back(parameter(arena, *p));
                HashBuilder one(arena, 2);
                one.set("name", value::make_string(arena, c.name));
                one.set("params", value::make_array(arena, params));
                classes.push_back(one.build());
            }
            out.set("classes", value::make_array(arena, classes));
        }
        out.set("path", value::make_string(arena, path));
        return out.build();
    }

    /// Returns the type in Puppet's format, such as Enum['a'], regardless of the spelling.
    static std::string type_text(base::Arena& arena, const syntax::Parameter& p) {
        try {
            types::Context context{.arena = arena};
            std::string out;
            types::interpret(context, p.type_expr)->print(out);
            return out;
        } catch (const base::PuppetError&) {
            return std::string(p.type_expr->text());
        }
    }

    static Value parameter(base::Arena& arena, const syntax::Parameter& p) {
        HashBuilder out(arena, 4);
        out.set("name", value::make_string(arena, p.name));
        if (p.type_expr) out.set("type", value::make_string(arena, type_text(arena, p)));
        if (p.value) {
            out.set("default_source", value::make_string(arena, p.value->text()));
            if (const auto literal = literal_of(arena, *p.value))
                out.set("default_literal", *literal);
        }
        return out.build();
    }

    Compiler& compiler_;
    sys::FileSystem& files_ = sys::disk();
};

}  // namespace

void mount_environments(http::Router& router, Compiler& compiler) {
    auto environments = std::make_shared<Environments>(compiler);
    const auto add = [&](std::string_view method, std::string_view pattern, http::Access access,
                         Response (Environments::*handler)(const Request&)) {
        router.add(method, pattern, std::move(access),
                   [environments, &compiler, handler](Request& request) {
                       return answered(compiler.log(), request, [&] {
                           try {
                               return ((*environments).*handler)(request);
                           } catch (const ApiError& e) {
                               // puppetserver answers these without Ruby, so their errors are plain
                               // text.
                               return e.plain();
                           }
                       });
                   });
    };
    add("GET", "/puppet/v3/environments", compiler.authorization().access(), &Environments::list);
    // The rest of the path is ignored (puppetserver 7.9.5).
    for (const auto& [name, handler] : {std::pair("modules", &Environments::modules),
                                        {"classes", &Environments::classes},
                                        {"transports", &Environments::transports}}) {
        const auto path = fmt::format("/puppet/v3/environment_{}", name);
        add("GET", path, administrators(compiler.authorization()), handler);
        add("GET", path + "/{rest*}", administrators(compiler.authorization()), handler);
    }
    add("DELETE", "/puppet-admin-api/v1/environment-cache",
        administrators(compiler.authorization()), &Environments::flush);
    // Ruby child processes have the same lifetime as the snapshots of their environments, so both
    // requests do the same.
    add("DELETE", "/puppet-admin-api/v1/jruby-pool", administrators(compiler.authorization()),
        &Environments::flush);
}

}  // namespace bunraku::server
