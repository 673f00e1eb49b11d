// SPDX-License-Identifier: Apache-2.0
// `server`: runs the store, the forge and all other HTTP services in one process.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/server_log.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/service_manager.h"
#include "core/sys/signals.h"
#include "services/server/instance.h"
#include "services/server/puppetserver_conf.h"

namespace bunraku::cli {

namespace {

// The pipe that wakes the main thread. It is a global, because a signal handler can only access
// globals.
int signal_pipe[2] = {-1, -1};

extern "C" void note(int number) {
    int saved = errno;
    char byte = static_cast<char>(number);
    if (::write(signal_pipe[1], &byte, 1) < 0) {
    }
    errno = saved;
}

bool catch_signals() {
    if (::pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    struct sigaction action{};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(number, &action, nullptr);
    sys::ignore_broken_pipes();
    return true;
}

/// Waits for the next signal.
int next_signal() {
    while (true) {
        pollfd p{signal_pipe[0], POLLIN, 0};
        ::poll(&p, 1, -1);
        char byte = 0;
        if (::read(signal_pipe[0], &byte, 1) == 1) return byte;
    }
}

server::InstanceOptions options_of(const config::Settings& settings, const std::string& roles,
                                   const std::vector<std::string>& plain_addresses,
                                   const std::vector<std::string>& tls_addresses) {
    server::InstanceOptions out;
    out.version = kVersion;
    out.roles = base::texts(base::words(roles, ","));
    auto add = [&](const std::string& text, bool tls, const char* host) {
        auto listener = server::parse_listener(text, tls, host);
        if (!listener)
            throw base::plain_error(
                fmt::format("--{}: {}", tls ? "https" : "http", listener.error().message));
        out.listeners.push_back(std::move(*listener));
    };
    for (const auto& a : plain_addresses) add(a, false, "127.0.0.1");
    for (const auto& a : tls_addresses) add(a, true, "0.0.0.0");
    if (!out.listeners.empty()) return out;
    // Like puppetserver, listen on the addresses in its own configuration file. The serverport of
    // puppet.conf is for agents.
    if (!settings.on_command_line("serverport")) {
        auto configured = server::webserver_listeners(settings);
        if (!configured) throw base::plain_error(configured.error().message);
        out.listeners = std::move(*configured);
    }
    if (out.listeners.empty()) add(settings.text("serverport"), true, "0.0.0.0");
    return out;
}

int run_server(Invocation& invocation) {
    OptionParser parser(invocation);
    std::string roles, database;
    std::vector<std::string> http, https, words;
    bool anywhere = false;
    parser.value("roles", &roles);
    parser.list("http", &http);
    parser.list("https", &https);
    parser.value("database", &database);
    parser.flag("http-anywhere", &anywhere);
    if (!parser.parse(&words)) return parser.exit_code();
    auto sink = make_server_sink(parser);
    try {
        if (!words.empty())
            throw base::plain_error(fmt::format("Unexpected argument: {}", words[0]));
        auto options = options_of(invocation.settings, roles, http, https);
        options.database = database;
        options.http_anywhere = anywhere;
        if (!catch_signals()) throw base::plain_error("Could not make a pipe");
        auto started = server::Instance::start(invocation.settings, *sink, std::move(options));
        if (!started) throw base::plain_error(started.error().message);
        auto& instance = **started;
        std::string urls;
        for (const auto& url : instance.urls()) urls += " " + url;
        const auto ready = fmt::format("Bunraku server is ready:{}", urls);
        if (parser.log_format == "json") {
            fmt::print("{}", diagnostics::json_record(base::Level::Notice, ready));
        } else {
            fmt::print("{}\n", ready);
            // Output that is not a terminal may be a log, which others can read.
            const auto link =
                sys::disk().read(invocation.settings.text("statedir") + "/console-link");
            if (::isatty(STDOUT_FILENO) && link)
                fmt::print("To sign in to the console once from this machine, open {}", *link);
        }
        std::fflush(stdout);
        sys::notify_service_manager("READY=1");
        while (next_signal() == SIGHUP) {
            auto reloaded = instance.reload();
            sink->log(
                reloaded ? base::Level::Notice : base::Level::Err,
                reloaded ? "Certificates and lists were read again" : reloaded.error().message);
        }
        sys::notify_service_manager("STOPPING=1");
        // A second signal ends the process immediately.
        ::signal(SIGINT, SIG_DFL);
        ::signal(SIGTERM, SIG_DFL);
        instance.stop();
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(server){
    .name = "server",
    .summary = "Serve agents, certificates, the store (PuppetDB's API) and the forge.",
    .run = run_server,
    .run_mode = "server"};

}  // namespace bunraku::cli
