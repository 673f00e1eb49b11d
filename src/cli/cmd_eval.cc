// bunraku eval: the value of expressions, in the top scope of a node.
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/compile_setup.h"
#include "value/rich_data.h"

namespace bunraku::cli {

namespace {

int run_eval(Invocation& invocation) {
    OptionParser options(invocation);
    CompileSetup setup(invocation);
    setup.add_options(options);
    std::vector<std::string> expressions, positional;
    std::string format = "puppet", manifest, source_name;
    bool keep_virtual = false;
    options.list("e", &expressions);
    options.list("execute", &expressions);
    options.value("manifest", &manifest);
    options.value("source-name", &source_name);
    options.value("format", &format);
    options.flag("keep-virtual", &keep_virtual);
    if (!options.parse(&positional)) return options.exit_code();
    auto sink = make_console_sink(options);
    for (auto& text : positional) expressions.push_back(std::move(text));

    std::string out;
    try {
        if (format != "json" && format != "puppet") {
            throw base::PuppetError(fmt::format("Unknown format '{}': json or puppet", format), "",
                                    base::PuppetError::Class::Plain);
        }
        const bool with_manifest = !manifest.empty();
        if (expressions.empty() && !with_manifest) {
            if (isatty(STDIN_FILENO) == 1) {
                throw base::PuppetError("No expression given: use -e, or give it on standard input",
                                        "", base::PuppetError::Class::Plain);
            }
            expressions.push_back(read_stdin());
        }
        auto& request = setup.prepare(*sink, manifest, std::nullopt, !with_manifest);
        auto last = compiler::evaluate(request, expressions, source_name, with_manifest);
        if (format == "json") {
            value::RichDataOptions rich;
            rich.references_as_strings = false;
            value::write_json(out, value::to_rich_data(*request.arena, last, rich));
        } else {
            value::print_source(out, last);
        }
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, setup.node_name().empty() ? std::string() : setup.suffix());
        return 1;
    }
    out += '\n';
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(eval){.name = "eval",
                      .summary = "Evaluate Puppet expressions and print the last value.",
                      .run = run_eval,
                      .run_mode = "server"};

}  // namespace bunraku::cli
