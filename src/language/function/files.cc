// SPDX-License-Identifier: Apache-2.0
// Functions that read files, templates and commands.
#include <algorithm>

#include "language/function/support.h"

namespace bunraku::function {
namespace {

evaluator::TemplateHost& templates(const Call& call, std::string_view name) {
    auto* host = call.interpreter.hosts().templates;
    if (!host) argument_error("{}() needs an environment with modules", name);
    return *host;
}
evaluator::Inputs& inputs(const Call& call) {
    auto* in = call.interpreter.hosts().inputs;
    if (!in) argument_error("Reading files is not supported in this context");
    return *in;
}

/// Returns the first reference that names an existing file of `folder`.
std::optional<std::string> find_existing(const Call& call, std::span<const Value> references,
                                         std::string_view folder) {
    auto& host = templates(call, "file");
    for (const Value& r : references) {
        if (auto path = host.find_file(ruby_to_s(r), folder);
            path && inputs(call).file_exists(*path))
            return path;
    }
    return std::nullopt;
}

Value path_or_undef(const Call& call, const std::optional<std::string>& path) {
    return path ? text(call, *path) : Value::undef();
}
Value find_file(const Call& call) {
    return path_or_undef(call, find_existing(call, call.args, "files"));
}
Value find_template(const Call& call) {
    return path_or_undef(call, find_existing(call, call.args, "templates"));
}
template <Value (*F)(const Call&)>
Value of_arrays(const Call& call) {
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    Call inner = call;
    inner.args = flat;
    return F(inner);
}

Value module_directory(const Call& call) {
    for (const Value& name : call.args) {
        if (auto dir = templates(call, "module_directory").module_directory(name.as_string()))
            return text(call, *dir);
    }
    return Value::undef();
}

Value file(const Call& call) {
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    const auto path = find_existing(call, flat, "files");
    const auto content = path ? inputs(call).read_file(*path) : std::nullopt;
    if (content) return text(call, *content);
    std::string names;
    for (const Value& v : flat) names += (names.empty() ? "" : ", ") + ruby_to_s(v);
    argument_error("Could not find any files from {}", names);
}

Value binary_file(const Call& call) {
    const auto path = find_existing(call, call.args.first(1), "files");
    const auto content = path ? inputs(call).read_file(*path) : std::nullopt;
    if (!content)
        argument_error("binary_file(): The given file '{}' does not exist", call[0].as_string());
    return value::make_binary(call.arena(), *content);
}

Value epp(const Call& call) {
    return templates(call, "epp")
        .epp(call.interpreter, call.scope, call[0].as_string(),
             call.size() > 1 ? &call[1] : nullptr);
}
Value inline_epp(const Call& call) {
    return templates(call, "inline_epp")
        .inline_epp(call.interpreter, call.scope, call[0].as_string(),
                    call.size() > 1 ? &call[1] : nullptr);
}

void no_erb_in_scripts(const Call& call, std::string_view feature) {
    auto* in = call.interpreter.hosts().inputs;
    if (in && in->setting("tasks").value_or("false") == "true") {
        throw base::PuppetError(
            fmt::format("The feature '{}' is only available when compiling a catalog", feature),
            "FEATURE_NOT_SUPPORTED_WHEN_SCRIPTING");
    }
}
Value erb_template(const Call& call) {
    no_erb_in_scripts(call, "ERB template");
    std::vector<Value> flat;
    flatten_into(flat, call.args);
    value::JoinedText out;
    for (const Value& v : flat) {
        append_to_s(out,
                    templates(call, "template").erb(call.interpreter, call.scope, ruby_to_s(v)));
    }
    return text(call, out);
}
Value inline_template(const Call& call) {
    no_erb_in_scripts(call, "ERB inline_template");
    value::JoinedText out;
    for (const Value& v : call.args) {
        append_to_s(out, templates(call, "inline_template")
                             .inline_erb(call.interpreter, call.scope, ruby_to_s(v)));
    }
    return text(call, out);
}

/// Runs a command on the compiling machine and returns its output, including standard error.
Value generate(const Call& call) {
    std::vector<std::string> argv;
    for (const Value& v : call.args) argv.push_back(ruby_to_s(v));
    const std::string& command = argv[0];
    if (!command.starts_with('/')) argument_error("Generators must be fully qualified");
    const bool valid = std::all_of(command.begin(), command.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) ||
               std::string_view("-/_.+").find(c) != std::string_view::npos;
    });
    if (!valid)
        argument_error("Generators can only contain alphanumerics, file separators, and dashes");
    if (command.find("..") != std::string::npos)
        argument_error("Can not use generators with '..' in them.");
    const auto result = inputs(call).run_command(
        argv, command.substr(0, std::max<std::size_t>(command.rfind('/'), 1)));
    std::string shown;
    for (const auto& a : argv) shown += (shown.empty() ? "" : " ") + a;
    if (!result) {
        argument_error("Failed to execute generator {}: Execution of '{}' returned 1: {}", command,
                       shown, result.error().message);
    }
    if (result->status != 0) {
        argument_error("Failed to execute generator {}: {}", command,
                       failed_execution(shown, result->status, result->output));
    }
    return text(call, result->output);
}

const Builtin kFunctions[] = {
    {"file",
     "The content of the first file that exists, of a module or by absolute path.",
     {{"", file}},
     false,
     -2},
    {"find_file",
     "The path of the first file that exists.",
     {{"String *paths", find_file}, {"Array[String] *paths_array", of_arrays<find_file>}}},
    {"find_template",
     "The path of the first template that exists.",
     {{"String *paths", find_template}, {"Array[String] *paths_array", of_arrays<find_template>}}},
    {"module_directory",
     "The folder of the first module that exists.",
     {{"String *names", module_directory}, {"Array[String] *names", of_arrays<module_directory>}}},
    {"binary_file", "The content of a file as a Binary.", {{"String path", binary_file}}},
    {"epp",
     "Renders a template of a module in Puppet's template language.",
     {{"String path, Hash[Pattern[/^\\w+$/], Any] parameters? >> Variant[String, "
       "Sensitive[String]]",
       epp}}},
    {"inline_epp",
     "Renders a string in Puppet's template language.",
     {{"String template, Hash[Pattern[/^\\w+$/], Any] parameters? >> Variant[String, "
       "Sensitive[String]]",
       inline_epp}}},
    {"template", "Renders ERB templates and joins the results.", {{"", erb_template}}, false, -2},
    {"inline_template",
     "Renders ERB strings and joins the results.",
     {{"", inline_template}},
     false,
     -2},
    {"generate",
     "Runs a command on the compiling machine and returns its output.",
     {{"", generate}},
     false,
     -2},
};

}  // namespace

std::span<const Builtin> file_functions() { return kFunctions; }

}  // namespace bunraku::function
