// SPDX-License-Identifier: Apache-2.0
// bunraku epp: renders, validates and dumps EPP templates.
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/compiler/external_nodes.h"
#include "compile/site/fact_sources.h"
#include "core/base/plain_error.h"
#include "core/value/build.h"
#include "language/syntax/parser.h"
#include "language/syntax/pn_format.h"
#include "language/syntax/tree_dump.h"
#include "language/types/type.h"
#include "resources/facts/facts.h"

namespace bunraku::cli {

namespace {

using base::Level;
using base::PuppetError;
using value::Value;

bool exists(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

/// Prints a string as `puppet epp` does, with a newline at its end.
void print_result(std::string text) {
    if (!text.ends_with('\n')) text += '\n';
    std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Returns the name of the value's class in Ruby, such as "Integer" for 5.
std::string class_of(const Value& v) {
    switch (v.kind()) {
        case value::Kind::Boolean: return v.as_boolean() ? "TrueClass" : "FalseClass";
        case value::Kind::Integer: return "Integer";
        case value::Kind::Float: return "Float";
        case value::Kind::String: return "String";
        case value::Kind::Array: return "Array";
        case value::Kind::Default: return "Symbol";
        default: return "Object";
    }
}

/// The options of the three actions.
struct Request {
    std::vector<std::string> code;
    std::string values, values_file, facts, format = "old";
    bool header = true, continue_on_error = false, validate = true, pretty = false;
    std::vector<std::string> files;
};

class EppCommand {
public:
    EppCommand(const config::Settings& settings, const NodeOptions& node, Request request,
               base::LogSink& sink)
        : settings_(settings),
          site_(settings, site_options(sink)),
          node_(node.request()),
          arena_(*node_.arena),
          request_(std::move(request)),
          sink_(sink) {}

    void render() {
        Value& known = node_.facts.values;
        known = facts::collect_local(arena_, settings_);
        if (!request_.facts.empty()) {
            value::HashBuilder all(arena_);
            all.merge(known.as_hash());
            all.merge(site::read_fact_file(arena_, request_.facts, node_.node).values.as_hash());
            known = all.build();
        }
        open_environment();
        std::string out;
        bool failed = false;
        session_->visit(false, [&](evaluator::Interpreter& in) {
            if (!request_.code.empty() || request_.files.empty()) {
                if (request_.code.empty() && isatty(STDIN_FILENO) == 1)
                    throw base::plain_error("No input to process given on command line or stdin");
                out = render_text(in, request_.code.empty() ? read_stdin() : request_.code.back());
                return;
            }
            int number = 0;
            for (const auto& file : request_.files) failed |= !render_file(in, file, ++number, out);
        });
        if (failed) throw base::plain_error("error while rendering epp");
        print_result(std::move(out));
    }

    void validate() {
        open_environment();
        bool failed = false;
        std::string missing;
        if (request_.files.empty()) {
            if (isatty(STDIN_FILENO) == 1) {
                sink_.log(Level::Notice, "No template specified. No action taken");
            } else {
                failed = !valid(read_stdin(), "<stdin>");
            }
        }
        for (const auto& file : request_.files) {
            if (failed && !request_.continue_on_error) break;
            const auto path = effective_template(file);
            if (path) {
                failed |= !valid(environment::read_file(*path).value_or(""), *path);
            } else {
                missing += "\n   " + file;
            }
        }
        if (!missing.empty())
            throw base::plain_error("One or more file(s) specified did not exist:" + missing);
        if (failed) throw base::plain_error("Errors while validating epp");
    }

    void dump() {
        open_environment();
        std::string out;
        if (!request_.code.empty()) {
            dump_text(request_.code.back(), "command-line-string", false, out);
        } else if (request_.files.empty()) {
            if (isatty(STDIN_FILENO) == 1)
                throw base::plain_error("No input to parse given on command line or stdin");
            dump_text(read_stdin(), "stdin", false, out);
        } else {
            std::vector<std::string> paths;
            std::string missing;
            for (const auto& file : request_.files) {
                if (auto path = effective_template(file)) {
                    paths.push_back(std::move(*path));
                } else {
                    missing += "\n   " + file;
                }
            }
            for (const auto& path : paths)
                dump_text(environment::read_file(path).value_or(""), path, paths.size() > 1, out);
            if (!missing.empty())
                throw base::plain_error("One or more file(s) specified did not exist:" + missing);
        }
        print_result(std::move(out));
    }

private:
    void open_environment() {
        node_.sources.no_manifest = true;
        session_ = site_.session(node_, sink_);
    }

    /// Returns the file of "module/name.epp", or the name itself if it is a file.
    std::optional<std::string> effective_template(const std::string& name) const {
        if (auto path = module_template(name)) return path;
        return exists(name) ? std::optional(name) : std::nullopt;
    }
    std::optional<std::string> module_template(const std::string& name) const {
        if (name.starts_with('/')) return exists(name) ? std::optional(name) : std::nullopt;
        const auto slash = name.find('/');
        const auto* module = slash == std::string::npos
                                 ? nullptr
                                 : session_->environment()->module(name.substr(0, slash));
        if (!module) return std::nullopt;
        auto path = fmt::format("{}/templates/{}", module->path, name.substr(slash + 1));
        return exists(path) ? std::optional(std::move(path)) : std::nullopt;
    }

    Value evaluate(evaluator::Interpreter& in, const std::string& name, std::string text) {
        using File = std::shared_ptr<const environment::ParsedFile>;
        auto parsed = session_->environment()->parse_text(name, std::move(text));
        const auto& tree = parsed->check(sink_);
        in.arena().own(std::make_unique<File>(std::move(parsed)));
        return in.evaluate_program(*tree.program, in.top_scope());
    }

    /// Returns the hash of --values_file and --values, or undef if neither is given.
    Value values(evaluator::Interpreter& in) {
        Value given;
        const std::string& file = request_.values_file;
        if (!file.empty()) {
            try {
                if (file.ends_with(".yaml")) {
                    const auto text = environment::read_file(file);
                    if (!text)
                        throw base::plain_error(
                            fmt::format("No such file or directory - {}", file));
                    auto data = compiler::yaml_value(arena_, *text, file);
                    if (!data) throw base::plain_error(data.error().message);
                    given = *data;
                } else if (file.ends_with(".pp")) {
                    const auto text = environment::read_file(file);
                    if (!text)
                        throw base::plain_error(
                            fmt::format("No such file or directory - {}", file));
                    given = evaluate(in, file, *text);
                } else {
                    sink_.log(Level::Err, "Only .yaml or .pp can be used as a --values_file");
                }
            } catch (const PuppetError& error) {
                sink_.log(Level::Err,
                          fmt::format("Could not load --values_file {}", error.full_text()));
            }
            if (!given.is_undef() && !given.is_hash()) {
                sink_.log(Level::Err, fmt::format("--values_file option must evaluate to a Hash or "
                                                  "undef/nil, got: '{}'",
                                                  class_of(given)));
            }
        }
        if (!request_.values.empty()) {
            const Value more = evaluate(in, "values-hash", request_.values);
            if (more.is_hash()) {
                value::HashBuilder all(arena_);
                if (given.is_hash()) all.merge(given.as_hash());
                all.merge(more.as_hash());
                return all.build();
            }
            if (!more.is_undef()) {
                sink_.log(Level::Err,
                          fmt::format("--values option must evaluate to a Hash or undef, got: '{}'",
                                      class_of(more)));
                throw base::plain_error(
                    "epp(): the template_args must be a Hash, got a Puppet::Util::Log");
            }
        }
        if (!given.is_undef() && !given.is_hash()) {
            throw base::plain_error(
                fmt::format("epp(): the template_args must be a Hash, got a {}", class_of(given)));
        }
        return given;
    }

    static std::string result_text(const Value& v) {
        return value::to_text(v.is(value::Kind::Sensitive) ? v.unwrap() : v);
    }

    std::string render_text(evaluator::Interpreter& in, const std::string& text) {
        const Value args = values(in);
        return result_text(in.hosts().templates->inline_epp(in, in.top_scope(), text,
                                                            args.is_hash() ? &args : nullptr));
    }

    /// Returns false if the template failed; the error is logged.
    bool render_file(evaluator::Interpreter& in, std::string name, int number, std::string& out) {
        const bool several = request_.files.size() > 1;
        try {
            const Value args = values(in);
            std::string text;
            if (several && request_.header)
                text += fmt::format("{}--- {}\n", number > 1 ? "\n" : "", name);
            if (!module_template(name) && exists(name))
                name = std::filesystem::absolute(name).lexically_normal();
            text += result_text(in.hosts().templates->epp(in, in.top_scope(), name,
                                                          args.is_hash() ? &args : nullptr));
            out += text;
            return true;
        } catch (const PuppetError& error) {
            // An error in the template itself ends the command.
            if (error.error_class() == PuppetError::Class::Plain ||
                error.message().starts_with("epp(): Invalid EPP"))
                throw;
            if (several) sink_.log(Level::Err, "--- " + name);
            sink_.log(
                base::Diagnostic{.level = Level::Err,
                                 .message = error.located() ? error.full_text() : error.message(),
                                 .where = error.where(),
                                 .issue_code = error.issue_code()});
            return false;
        }
    }

    syntax::ValidateOptions validation() const {
        using Strict = syntax::ValidateOptions::Strict;
        const auto strict = settings_.text("strict");
        syntax::ValidateOptions options;
        options.strict = strict == "off"       ? Strict::Off
                         : strict == "warning" ? Strict::Warning
                                               : Strict::Error;
        options.tasks = settings_.boolean("tasks");
        return options;
    }

    std::shared_ptr<const syntax::Tree> parse(std::string text, const std::string& name,
                                              bool check) {
        auto tree =
            syntax::parse(name, std::move(text),
                          {.epp = true, .tasks = settings_.boolean("tasks"), .log = &sink_});
        if (check) {
            syntax::report_issues(syntax::validate(*tree, validation()), sink_,
                                  {static_cast<int>(settings_.integer("max_errors")),
                                   static_cast<int>(settings_.integer("max_warnings")),
                                   static_cast<int>(settings_.integer("max_deprecations"))});
        }
        return tree;
    }

    bool valid(std::string text, const std::string& name) {
        try {
            parse(std::move(text), name, true);
            return true;
        } catch (const PuppetError& error) {
            report_error(sink_, error, "");
            return false;
        }
    }

    void dump_text(std::string text, const std::string& name, bool heading, std::string& out) {
        try {
            // Like Puppet, includes the name in messages only if the template is validated.
            const auto tree =
                parse(std::move(text), request_.validate ? name : "", request_.validate);
            if (heading && request_.header) out += fmt::format("--- {}\n", name);
            if (request_.format == "old") {
                out += syntax::dump_lists(*tree->program) + "\n";
                return;
            }
            const std::string pn = syntax::dump_pn(tree->program);
            if (request_.format == "json") {
                out += request_.pretty ? syntax::pn_to_pretty_json(pn) : syntax::pn_to_json(pn);
            } else {
                out += request_.pretty ? syntax::pn_indented(pn) : pn;
            }
        } catch (const PuppetError& error) {
            if (heading) sink_.log(Level::Err, "--- " + name);
            report_error(sink_, error, "");
        }
    }

    const config::Settings& settings_;
    site::Site site_;
    site::NodeRequest node_;
    base::Arena& arena_;
    std::unique_ptr<site::Session> session_;
    Request request_;
    base::LogSink& sink_;
};

int run_epp(Invocation& invocation) {
    OptionParser options(invocation);
    NodeOptions node;
    node.add_to(options);
    Request request;
    std::vector<std::string> positional;
    options.list("e", &request.code);
    options.value("values", &request.values);
    options.value("values_file", &request.values_file);
    options.value("values-file", &request.values_file);
    options.value("format", &request.format);
    options.flag("header", &request.header);
    options.flag("pretty", &request.pretty);
    options.flag("validate", &request.validate);
    options.flag("continue_on_error", &request.continue_on_error);
    options.flag("continue-on-error", &request.continue_on_error);
    if (!options.parse(&positional)) return options.exit_code();
    // Facts from a file override this machine's facts.
    std::swap(request.facts, node.facts);
    auto sink = make_console_sink(options);
    const std::string action = take_action(positional, request.files);
    try {
        EppCommand command(invocation.settings, node, std::move(request), *sink);
        if (action == "render") {
            command.render();
        } else if (action == "validate") {
            command.validate();
        } else if (action == "dump") {
            command.dump();
        } else {
            throw base::plain_error(
                action.empty()
                    ? std::string("No action given: render, validate or dump")
                    : fmt::format("'epp' has no '{}' action: render, validate or dump", action));
        }
    } catch (const PuppetError& error) {
        report_error(*sink, error, "");
        sink->log(Level::Err, fmt::format("Try '{} help epp{}{}' for usage", invocation.program,
                                          action.empty() ? "" : " ", action));
        return 1;
    }
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(epp){.name = "epp",
                     .summary = "Render, check or show EPP templates.",
                     .run = run_epp,
                     .run_mode = "server",
                     .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
