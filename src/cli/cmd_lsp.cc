// SPDX-License-Identifier: Apache-2.0
// bunraku lsp: the language server for editors.
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include "cli/command.h"
#include "cli/forge_options.h"
#include "language/environment/regular_files.h"
#include "net/http/local_socket.h"
#include "services/lsp/forge_modules.h"
#include "services/lsp/serve.h"
#include "services/lsp/site_fleet.h"
#include "services/lsp/site_values.h"

namespace bunraku::cli {

namespace {

struct LspOptions {
    bool stdio = false;
    std::string socket, pipe, node, facts;
};

/// Serves on the transport that the options choose.
base::Result<int> serve_client(const LspOptions& options, lsp::Server& server) {
    if (options.socket.empty() && options.pipe.empty())
        return lsp::serve(server, STDIN_FILENO, STDOUT_FILENO);
    const sys::Descriptor socket =
        options.pipe.empty() ? BUNRAKU_TRY(lsp::connect_to_port(options.socket))
                             : sys::Descriptor(BUNRAKU_TRY(http::connect_local(options.pipe)));
    return lsp::serve(server, socket.get(), socket.get());
}

int run_lsp(Invocation& invocation) {
    OptionParser parser(invocation);
    LspOptions options;
    parser.flag("stdio", &options.stdio);
    parser.value("socket", &options.socket);
    parser.value("pipe", &options.pipe);
    parser.value("node", &options.node);
    parser.value("facts-from", &options.facts);
    std::string client;  // The server ends when the client closes its input; it needs no watch.
    parser.value("clientProcessId", &client);
    std::vector<std::string> words;
    if (!parser.parse(&words)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    std::signal(SIGPIPE, SIG_IGN);
    auto values = std::make_unique<lsp::SiteValues>(invocation.settings, *sink);
    if (!options.node.empty() || !options.facts.empty())
        values->choose(options.node, options.facts);
    lsp::Server server(environment::regular_files(environment::Unreadable::Absent),
                       std::move(values));
    server.state().version = kVersion;
    server.state().fleet = std::make_shared<lsp::SiteFleet>(invocation.settings);
    server.state().facts_source = options.facts;
    server.state().modules =
        std::make_unique<lsp::ForgeModules>(forge_options(invocation.settings), *sink);
    const auto ended = serve_client(options, server);
    // A command that still runs would delay the end.
    if (ended && server.busy()) std::_Exit(*ended);
    if (ended) return *ended;
    sink->log(base::Level::Err, ended.error().message);
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(lsp){.name = "lsp",
                     .summary = "Serve an editor: diagnostics, completion, navigation, rename.",
                     .run = run_lsp};

}  // namespace bunraku::cli
