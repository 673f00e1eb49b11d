// SPDX-License-Identifier: Apache-2.0
// The tasks and plans of an environment's modules: /puppet/v3/tasks, /puppet/v3/plans and their
// details (puppetserver's documentation of both; responses of 7.9.5).
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>

#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/environment.h"
#include "services/server/compiler.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

using http::Request;
using http::Response;
using value::HashBuilder;
using value::Value;

namespace {

bool task_word(std::string_view name) {
    return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
           std::ranges::all_of(name, [](unsigned char c) {
               return (std::islower(c) != 0 && c < 128) || (c >= '0' && c <= '9') || c == '_';
           });
}

class TasksAndPlans {
public:
    explicit TasksAndPlans(Compiler& compiler) : compiler_(compiler) {}

    Response tasks(const Request& request) {
        base::Arena arena;
        const auto name = environment_name(request);
        const auto environment = compiler_.environment(request, name, RunStep::Looks);
        std::vector<Value> all;
        for (const auto& module : environment->modules()) {
            const auto found = tasks_of(place_of(*environment, module));
            for (const auto& [task, names] : found) {
                const auto about = metadata(arena, place_of(*environment, module), task);
                // Unreadable metadata is reported only in the details of the task.
                if (!about) continue;
                HashBuilder one(arena, 4);
                const Value* hidden = value::at(*about, "private");
                one.set("name", full_name(arena, module.name, task));
                one.set("private", Value::boolean(hidden && hidden->truthy()));
                if (const Value* text = value::at(*about, "description"))
                    one.set("description", *text);
                one.set("environment", environment_list(arena, name));
                all.push_back(one.build());
            }
        }
        return Response::json(200, value::to_json(value::make_array(arena, all)));
    }

    Response plans(const Request& request) {
        base::Arena arena;
        const auto name = environment_name(request);
        const auto environment = compiler_.environment(request, name, RunStep::Looks);
        std::vector<Value> all;
        for (const auto& module : environment->modules()) {
            for (const auto& plan : plans_of(place_of(*environment, module))) {
                HashBuilder one(arena, 2);
                one.set("name", full_name(arena, module.name, plan));
                one.set("environment", environment_list(arena, name));
                all.push_back(one.build());
            }
        }
        return Response::json(200, value::to_json(value::make_array(arena, all)));
    }

    Response task(const Request& request) {
        base::Arena arena;
        const auto name = environment_name(request);
        const auto environment = compiler_.environment(request, name, RunStep::Looks);
        const auto& module = module_of(*environment, request);
        const std::string task(request.param("name"));
        const auto known = tasks_of(place_of(*environment, module));
        const auto found = known.find(task);
        if (found == known.end())
            throw ApiError(404, fmt::format("Could not find task '{}'", task));
        const auto about = metadata(arena, place_of(*environment, module), task);
        if (!about) {
            return Response::json(
                500, fmt::format(R"({{"kind":"puppet.tasks/unparseable-metadata","msg":{},)"
                                 R"("details":{{}}}})",
                                 codec::json_string(about.error().message)));
        }
        std::vector<Value> shown;
        for (const auto& file : found->second)
            shown.push_back(file_facts(arena, *environment, module, file));
        HashBuilder out(arena, 3);
        out.set("metadata", *about);
        out.set("name", full_name(arena, module.name, task));
        out.set("files", value::make_array(arena, shown));
        return Response::json(200, value::to_json(out.build()));
    }

    Response plan(const Request& request) {
        base::Arena arena;
        const auto environment =
            compiler_.environment(request, environment_name(request), RunStep::Looks);
        const auto& module = module_of(*environment, request);
        const std::string plan(request.param("name"));
        if (!is_plan(place_of(*environment, module), plan))
            throw ApiError(404, fmt::format("Could not find plan '{}'", plan));
        HashBuilder out(arena, 2);
        out.set("metadata", HashBuilder(arena).build());
        out.set("name", full_name(arena, module.name, plan));
        return Response::json(200, value::to_json(out.build()));
    }

private:
    /// Returns the files of each task without the metadata.
    std::map<std::string, std::vector<std::string>> tasks_of(const std::string& module) const {
        std::map<std::string, std::vector<std::string>> out;
        auto names = files_.list(module + "/tasks");
        if (!names) return out;
        std::ranges::sort(*names);
        for (const auto& name : *names) {
            const auto dot = name.find('.');
            const auto task = name.substr(0, dot);
            const auto ending = dot == std::string::npos ? "" : name.substr(dot);
            if (!task_word(task) || ending == ".md" || ending == ".conf") continue;
            if (!files_.is_file(sys::join(module + "/tasks", name))) continue;
            auto& files = out[task];
            if (ending != ".json") files.push_back(name);
        }
        return out;
    }

    bool is_plan(const std::string& module, const std::string& plan) const {
        return task_word(plan) && (files_.is_file(fmt::format("{}/plans/{}.pp", module, plan)) ||
                                   files_.is_file(fmt::format("{}/plans/{}.yaml", module, plan)));
    }

    std::vector<std::string> plans_of(const std::string& module) const {
        std::vector<std::string> out;
        const auto names = files_.list(module + "/plans");
        if (!names) return out;
        for (const auto& name : *names) {
            const auto plan = name.substr(0, name.rfind('.'));
            if ((name.ends_with(".pp") || name.ends_with(".yaml")) && is_plan(module, plan))
                out.push_back(plan);
        }
        std::ranges::sort(out);
        const auto twice = std::ranges::unique(out);
        out.erase(twice.begin(), twice.end());
        return out;
    }

    /// Returns the metadata of a task, or an empty object if it has none. Fails if the metadata is
    /// not valid JSON.
    base::Result<Value> metadata(base::Arena& arena, const std::string& module,
                                 const std::string& task) const {
        const auto text = files_.read(fmt::format("{}/tasks/{}.json", module, task));
        if (!text) return HashBuilder(arena).build();
        auto data = value::parse_json(arena, *text);
        if (data && !data->is_hash()) return base::failure("The metadata is not an object");
        return data;
    }

    static const environment::Module& module_of(const environment::Environment& environment,
                                                const Request& request) {
        const auto* module = environment.module(request.param("module"));
        if (!module)
            throw ApiError(404, fmt::format("Could not find module '{}'", request.param("module")));
        return *module;
    }

    static Value full_name(base::Arena& arena, const std::string& module, const std::string& name) {
        return value::make_string(arena,
                                  name == "init" ? module : fmt::format("{}::{}", module, name));
    }

    static Value environment_list(base::Arena& arena, const std::string& name) {
        HashBuilder one(arena, 2);
        one.set("name", value::make_string(arena, name));
        one.set("code_id", Value::undef());
        const std::vector<Value> list{one.build()};
        return value::make_array(arena, list);
    }

    /// Returns the folder of a module on the disk.
    static std::string place_of(const environment::Environment& environment,
                                const environment::Module& module) {
        return environment.files().place(module.path);
    }

    Value file_facts(base::Arena& arena, const environment::Environment& environment,
                     const environment::Module& module, const std::string& file) {
        const auto path = fmt::format("{}/tasks/{}", place_of(environment, module), file);
        const auto status = files_.stat(path);
        const auto digest = status ? compiler_.files().digests().of("sha256", path, *status)
                                   : base::Result<std::string>(std::unexpected(status.error()));
        if (!digest) throw ApiError(500, digest.error().message);
        HashBuilder params(arena, 1), uri(arena, 2), out(arena, 4);
        params.set("environment", value::make_string(arena, environment.name()));
        uri.set("path", value::make_string(arena, fmt::format("/puppet/v3/file_content/tasks/{}/{}",
                                                              module.name, file)));
        uri.set("params", params.build());
        out.set("filename", value::make_string(arena, file));
        out.set("sha256", value::make_string(arena, *digest));
        out.set("size_bytes", Value::integer(static_cast<std::int64_t>(status->size)));
        out.set("uri", uri.build());
        return out.build();
    }

    Compiler& compiler_;
    sys::FileSystem& files_ = sys::disk();
};

}  // namespace

void mount_tasks(http::Router& router, Compiler& compiler) {
    auto all = std::make_shared<TasksAndPlans>(compiler);
    const auto add = [&](std::string_view pattern,
                         Response (TasksAndPlans::*handler)(const Request&)) {
        router.add("GET", pattern, compiler.authorization().access(),
                   [all, &compiler, handler](Request& request) {
                       return answered(compiler.log(), request, [&] {
                           try {
                               return ((*all).*handler)(request);
                           } catch (const ApiError& e) {
                               return e.plain();
                           }
                       });
                   });
    };
    add("/puppet/v3/tasks", &TasksAndPlans::tasks);
    add("/puppet/v3/plans", &TasksAndPlans::plans);
    add("/puppet/v3/tasks/{module}/{name}", &TasksAndPlans::task);
    add("/puppet/v3/plans/{module}/{name}", &TasksAndPlans::plan);
}

}  // namespace bunraku::server
