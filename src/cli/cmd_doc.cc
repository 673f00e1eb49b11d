// SPDX-License-Identifier: Apache-2.0
// bunraku doc: prints the REFERENCE.md of a module, or the same content as JSON.
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "compile/reference/documents.h"
#include "core/base/plain_error.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "language/environment/conf.h"
#include "language/environment/files.h"

namespace bunraku::cli {
namespace {

int run_doc(Invocation& invocation) {
    OptionParser options(invocation);
    std::string format = "markdown", out;
    std::vector<std::string> folders;
    bool json = false;
    options.value("format", &format);
    options.flag("json", &json);
    options.value("out", &out);
    if (!options.parse(&folders)) return options.exit_code();
    auto sink = make_console_sink(options);
    if (json) format = "json";
    if (format != "markdown" && format != "json")
        throw base::plain_error(
            fmt::format("Invalid format {}. Please select 'json' or 'markdown'.", format));
    if (folders.size() > 1) throw base::plain_error("Specify a single folder");
    const std::string folder = environment::expand_path(folders.empty() ? "." : folders.front(),
                                                        environment::working_directory());
    auto& files = sys::disk();
    if (const auto status = files.stat(folder); !status || status->kind != sys::FileKind::Directory)
        throw base::plain_error(fmt::format("{} is not a folder", folder));
    auto items = reference::read_documents(folder, invocation.settings.text("ruby_program"), *sink);
    std::erase_if(items, [](const reference::DocItem& i) {
        return i.kind == reference::DocItem::Kind::Fact;
    });
    std::string text;
    if (format == "json") {
        base::Arena arena(1 << 20);
        text = value::to_pretty_json(reference::reference_json(arena, items)) + "\n";
    } else {
        text = reference::reference_markdown(items);
        if (out.empty()) out = sys::join(folder, "REFERENCE.md");
    }
    if (out.empty() || out == "-") {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    }
    const std::string path = environment::expand_path(out, environment::working_directory());
    if (const auto done = files.write(path, text, 0644); !done)
        throw base::plain_error(done.error().message);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(doc){
    .name = "doc", .summary = "Write REFERENCE.md of a module from its comments.", .run = run_doc};

}  // namespace bunraku::cli
