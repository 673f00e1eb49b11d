// SPDX-License-Identifier: Apache-2.0
// bunraku parser: validates and dumps Puppet code without running it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "core/base/plain_error.h"
#include "core/config/setting_lists.h"
#include "core/value/rich_data.h"
#include "language/syntax/parser.h"
#include "language/syntax/pn_format.h"
#include "language/syntax/tree_dump.h"

namespace bunraku::cli {

namespace {

using base::Level;
using base::PuppetError;

struct Input {
    std::string name;  ///< name as given, for headings
    std::string file;  ///< path for messages; may be empty
    std::string text;
    bool epp = false;
};

/// The options of both actions.
struct Request {
    std::vector<std::string> code;
    std::string source_name, format = "old", render_as;
    bool epp = false, pretty = false, check = false, json = false;
    std::vector<std::string> files;
};

std::string read_all(std::istream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

std::string absolute(const std::string& path) {
    std::error_code error;
    auto full = std::filesystem::absolute(path, error);
    return error ? path : full.lexically_normal().string();
}

/// Returns the manifests in a folder and its subfolders, ordered by path.
std::vector<std::string> manifests_of(const std::string& folder) {
    std::vector<std::string> out;
    std::error_code error;
    using Walk = std::filesystem::recursive_directory_iterator;
    for (Walk it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code unknown;
        if (it->path().extension() == ".pp" && it->is_regular_file(unknown)) {
            out.push_back(it->path().string());
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// Reads -e, files, or standard input. Adds the names of nonexistent files to `missing`.
std::vector<Input> read_inputs(const Request& request, bool absolute_names,
                               std::vector<std::string>* missing) {
    std::vector<Input> inputs;
    if (!request.code.empty()) {
        std::string text;
        for (const std::string& part : request.code) text += (text.empty() ? "" : "\n") + part;
        inputs.push_back({request.source_name, request.source_name, std::move(text), request.epp});
        return inputs;
    }
    if (request.files.empty()) {
        if (isatty(STDIN_FILENO) == 1) {
            throw base::plain_error("No input to parse given on command line or stdin");
        }
        inputs.push_back({"STDIN", request.source_name, read_stdin(), request.epp});
        return inputs;
    }
    auto add = [&](const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            missing->push_back(file);
            return;
        }
        inputs.push_back({file, absolute_names ? absolute(file) : file, read_all(in),
                          request.epp || file.ends_with(".epp")});
    };
    for (const std::string& file : request.files) {
        std::error_code unknown;
        if (std::filesystem::is_directory(file, unknown)) {
            for (const std::string& one : manifests_of(file)) add(one);
        } else {
            add(file);
        }
    }
    return inputs;
}

class ParserCommand {
public:
    ParserCommand(Invocation& invocation, Request request, base::LogSink& sink)
        : settings_(invocation.settings), request_(std::move(request)), sink_(sink) {
        const std::string strict = settings_.text("strict");
        using Strict = syntax::ValidateOptions::Strict;
        validate_.strict = strict == "off"       ? Strict::Off
                           : strict == "warning" ? Strict::Warning
                                                 : Strict::Error;
        validate_.tasks = settings_.boolean("tasks");
        if (settings_.is_set("modulepath"))
            validate_.modulepath = config::split_path(settings_.text("modulepath"));
        if (settings_.is_set("manifest")) {
            validate_.manifest = settings_.text("manifest");
        } else if (settings_.is_set("environmentpath")) {
            validate_.manifest =
                absolute(config::split_path(settings_.text("environmentpath")).front() + "/" +
                         settings_.text("environment") + "/manifests");
        }
    }

    int validate() {
        std::vector<std::string> missing;
        const bool from_files = request_.code.empty();
        const std::vector<Input> inputs = read_inputs(request_, true, &missing);
        if (!missing.empty()) {
            std::string text = "One or more file(s) specified did not exist:";
            for (const std::string& file : missing) text += "\n   " + file;
            throw base::plain_error(text);
        }
        std::string json;
        bool failed = false;
        for (const Input& input : inputs) {
            std::vector<base::Diagnostic> errors;
            try {
                auto tree = parse(input);
                syntax::ValidateOptions options = validate_;
                // A file given by name is treated as the main manifest, which may define anything.
                if (from_files) options.modulepath.clear();
                auto found = syntax::validate(*tree, options);
                for (const auto& d : found) {
                    if (d.level >= Level::Err) errors.push_back(d);
                }
                if (from_files) {
                    syntax::report_issues(found, sink_, limits());
                } else {
                    for (const auto& d : found) {
                        sink_.log(d);
                        failed = failed || d.level >= Level::Err;
                    }
                }
            } catch (const PuppetError& error) {
                failed = true;
                if (request_.render_as == "json") {
                    add_json(json, input, error, errors);
                } else {
                    report(error, from_files);
                }
            }
        }
        if (!json.empty())
            fmt::print("{{\n{}\n}}\n", json);
        else if (request_.json)
            fmt::print("{{}}\n");
        return failed ? 1 : 0;
    }

    int dump() {
        std::vector<std::string> missing;
        const bool headings = request_.code.empty() && !request_.files.empty();
        int status = 0;
        std::string out;
        for (const Input& input : read_inputs(request_, false, &missing)) {
            try {
                auto tree = parse(input);
                if (request_.check)
                    syntax::report_issues(syntax::validate(*tree, validate_), sink_, limits());
                if (headings) out += "--- " + input.name + "\n";
                out += dumped(*tree) + "\n";
            } catch (const PuppetError& error) {
                status = 1;
                if (headings) sink_.log(Level::Err, "--- " + input.name);
                report_error(sink_, error, "");
            }
        }
        std::fwrite(out.data(), 1, out.size(), stdout);
        if (!missing.empty()) {
            fmt::print("One or more file(s) specified did not exist:\n");
            for (const std::string& file : missing) fmt::print("   {}\n", file);
            status = 1;
        }
        return status;
    }

private:
    std::string dumped(const syntax::Tree& tree) const {
        if (request_.format == "old") return syntax::dump_lists(*tree.program);
        const std::string pn = syntax::dump_pn(tree.program);
        if (request_.format == "json") {
            return request_.pretty ? syntax::pn_to_pretty_json(pn) : syntax::pn_to_json(pn);
        }
        return request_.pretty ? syntax::pn_indented(pn) : pn;
    }

    std::shared_ptr<const syntax::Tree> parse(const Input& input) {
        return syntax::parse(input.file, input.text,
                             {.epp = input.epp, .tasks = validate_.tasks, .log = &sink_});
    }

    syntax::ReportLimits limits() const {
        const bool quiet =
            settings_.text("disable_warnings").find("deprecations") != std::string::npos;
        return {static_cast<int>(settings_.integer("max_errors")),
                static_cast<int>(settings_.integer("max_warnings")),
                quiet ? 0 : static_cast<int>(settings_.integer("max_deprecations"))};
    }

    std::string prefix() const {
        return fmt::format("Could not parse for environment {}: ", settings_.text("environment"));
    }

    /// Reports an error. Like Puppet, adds the environment for files, but not to the final error
    /// "Giving up".
    void report(const PuppetError& error, bool from_files) {
        if (!from_files) return report_error(sink_, error, "");
        const bool gave_up = error.issue_code().empty() && error.where().line == 0 &&
                             !error.shown_location().known();
        report_error(sink_, error, "", gave_up ? "" : prefix());
    }

    struct Fields {
        std::string_view issue_code, message;
        std::string full_message;
        const base::Location& where;
    };
    /// Returns Puppet's fields of one error; each line begins with `indent`.
    static std::string fields_json(const Fields& fields, std::string_view indent) {
        auto text = [](std::string_view value) {
            std::string quoted;
            value::write_json(quoted, value::Value::string(value));
            return quoted;
        };
        auto number = [](int value) {
            return value > 0 ? std::to_string(value) : std::string("null");
        };
        return fmt::format(
            "{0}\"issue_code\": {1},\n{0}\"message\": {2},\n{0}\"full_message\": {3},\n"
            "{0}\"file\": {4},\n{0}\"line\": {5},\n{0}\"pos\": {6}",
            indent, fields.issue_code.empty() ? "null" : text(fields.issue_code),
            text(fields.message), text(fields.full_message),
            fields.where.file.empty() ? "null" : text(fields.where.file), number(fields.where.line),
            number(fields.where.column));
    }

    /// Adds one entry per file, as in Puppet. If a file has several errors, Puppet only gives their
    /// number; here they follow, each with the same fields.
    void add_json(std::string& out, const Input& input, const PuppetError& error,
                  const std::vector<base::Diagnostic>& errors) const {
        std::string name;
        value::write_json(name, value::Value::string(input.name));
        if (!out.empty()) out += ",\n";
        out += fmt::format("  {}: {{\n{}", name,
                           fields_json({error.issue_code(), error.message(),
                                        prefix() + error.full_text(), error.where()},
                                       "    "));
        if (errors.size() > 1) {
            out += ",\n    \"errors\": [";
            for (std::size_t i = 0; i < errors.size(); ++i) {
                const auto& one = errors[i];
                const std::string place = base::format_location(one.where);
                out += fmt::format(
                    "{}\n      {{\n{}\n      }}", i ? "," : "",
                    fields_json(
                        {one.issue_code, one.message,
                         place.empty() ? one.message : one.message + " " + place, one.where},
                        "        "));
            }
            out += "\n    ]";
        }
        out += "\n  }";
    }

    const config::Settings& settings_;
    Request request_;
    base::LogSink& sink_;
    syntax::ValidateOptions validate_;
};

int run_parser(Invocation& invocation) {
    OptionParser options(invocation);
    Request request;
    std::vector<std::string> positional;
    options.list("e", &request.code);
    options.value("source-name", &request.source_name);
    options.value("format", &request.format);
    options.value("render-as", &request.render_as);
    options.flag("json", &request.json);
    options.flag("epp", &request.epp);
    options.flag("pretty", &request.pretty);
    options.flag("validate", &request.check);
    if (!options.parse(&positional)) return options.exit_code();
    if (request.json) request.format = request.render_as = "json";
    auto sink = make_console_sink(options);
    const std::string action = take_action(positional, request.files);
    try {
        if (action == "validate")
            return ParserCommand(invocation, std::move(request), *sink).validate();
        if (action == "dump") {
            if (request.format != "old" && request.format != "pn" && request.format != "json") {
                throw base::plain_error(
                    fmt::format("Unknown format '{}': old, pn or json", request.format));
            }
            return ParserCommand(invocation, std::move(request), *sink).dump();
        }
        throw base::plain_error(
            action.empty() ? std::string("No action given: validate or dump")
                           : fmt::format("'parser' has no '{}' action: validate or dump", action));
    } catch (const PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(parser){.name = "parser",
                        .summary = "Check Puppet code, or show its syntax tree.",
                        .run = run_parser,
                        .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
