// SPDX-License-Identifier: Apache-2.0
// bunraku agent: fetches this machine's catalog from a server, applies it, and sends a report.
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/node_options.h"
#include "cli/rollout_client.h"
#include "core/base/jitter.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/config/munge.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"
#include "core/sys/lock.h"
#include "core/sys/process.h"
#include "core/sys/service_manager.h"
#include "core/sys/signals.h"
#include "core/sys/system.h"
#include "core/value/hash_access.h"
#include "net/http/message.h"
#include "services/agent/apply_session.h"
#include "services/agent/http_content.h"
#include "services/agent/locks.h"
#include "services/agent/log_destinations.h"
#include "services/agent/run.h"
#include "services/agent/ssl.h"

namespace bunraku::cli {

namespace {

struct AgentOptions {
    std::vector<std::string> logdest, positional;
    std::string waitforcert, digest = "SHA256", job_id, fqdn;
    std::string attempt, attempt_for;  ///< --try and --for
    bool detailed_exitcodes = false, test = false, onetime = false, fingerprint = false;
    bool enable = false, disable = false;
};

/// Set by signals of a daemon. A signal handler can only access globals.
volatile std::sig_atomic_t run_now = 0, restart = 0;
extern "C" void ask_for_run(int) { run_now = 1; }
extern "C" void ask_for_restart(int) { restart = 1; }

class Agent {
public:
    Agent(Invocation& invocation, AgentOptions& options, base::LogSink& log)
        : invocation_(invocation), settings_(invocation.settings), options_(options), log_(log) {}

    /// Performs one run with its preparations. Returns the exit code of `--onetime`.
    int once(bool with_splay) {
        const int status = guarded_run(with_splay);
        if (sys::stop_signal() == SIGINT) std::puts("Exiting");
        std::fflush(stdout);
        if (status < 0 || sys::stop_signal() != 0) return 1;
        return options_.detailed_exitcodes ? status : 0;
    }

    /// Runs every `runinterval` until stopped.
    int serve() {
        sys::PidLock pid(settings_.text("pidfile"));
        (void)sys::disk().make_directories(
            std::string(sys::directory_name(settings_.text("pidfile"))), 0755);
        const auto locked = pid.acquire();
        if (!locked || !*locked) {
            log_.log(base::Level::Err, "Could not create PID file: " + settings_.text("pidfile"));
            return 1;
        }
        log_.log(
            base::Level::Notice,
            fmt::format("Starting {} client version {}", config::product(settings_.compatibility()),
                        config::puppet_version(settings_.compatibility())));
        struct sigaction action{};
        action.sa_handler = ask_for_run;
        ::sigaction(SIGUSR1, &action, nullptr);
        action.sa_handler = ask_for_restart;
        ::sigaction(SIGHUP, &action, nullptr);
        bool first = true;
        while (sys::stop_signal() == 0 && restart == 0) {
            run_now = 0;
            in_child(first && settings_.boolean("splay"));
            first = false;
            wait(std::max(1L, settings_.integer("runinterval")));
        }
        if (restart != 0 && sys::stop_signal() == 0) {
            log_.log(base::Level::Notice, "Restarting");
            pid.release();
            return -1;
        }
        log_.log(base::Level::Notice, fmt::format("Caught {}; exiting", signal_text()));
        return 0;
    }

private:
    static std::string signal_text() { return sys::stop_signal() == SIGINT ? "INT" : "TERM"; }

    bool may_run() {
        const auto reason = agent::disabled(settings_);
        if (!reason) return true;
        log_.log(base::Level::Notice,
                 fmt::format("Skipping run of Puppet configuration client; administratively "
                             "disabled (Reason: '{}');\nUse 'puppet agent --enable' to re-enable.",
                             *reason));
        return false;
    }

    int guarded_run(bool with_splay) {
        try {
            if (!may_run()) return -1;
            if (with_splay) {
                splay();
                if (!may_run()) return -1;
            }
            sys::RealSystem system;
            const auto files = certificates(system);
            if (!files) return -1;
            return locked_run(*files);
        } catch (const base::PuppetError& e) {
            log_.log(base::Level::Err,
                     "Could not run Puppet configuration client: " + apply::error_text(e));
        } catch (const std::exception& e) {
            log_.log(base::Level::Err,
                     std::string("Could not run Puppet configuration client: ") + e.what());
        }
        return -1;
    }

    std::optional<agent::SslFiles> certificates(sys::RealSystem& system) {
        agent::SslOptions ssl{.settings = settings_,
                              .log = log_,
                              .system = system.system(),
                              .print =
                                  [](const std::string& line) {
                                      std::puts(line.c_str());
                                      std::fflush(stdout);
                                  },
                              .stopped = [] { return sys::stop_signal() != 0; },
                              .network = nullptr,
                              .authority = {},
                              .waitforcert_seconds = {},
                              .onetime = {}};
        if (!options_.waitforcert.empty())
            ssl.waitforcert_seconds = base::parse_integer<std::int64_t>(options_.waitforcert);
        auto files = agent::ensure_ssl(ssl);
        if (files) return std::move(*files);
        if (files.error().code != agent::kGaveUpWaiting && files.error().code != ECANCELED)
            log_.log(base::Level::Err, files.error().message);
        return std::nullopt;
    }

    int locked_run(const agent::SslFiles& files) {
        agent::RunLock lock(settings_);
        const auto clock = sys::make_real_clock();
        const auto since = clock->monotonic_ns();
        while (true) {
            const auto taken = lock.acquire();
            if (!taken) throw base::plain_error(taken.error().message);
            if (*taken) break;
            const long pause = settings_.integer("waitforlock");
            if (pause < 1) {
                log_.log(base::Level::Notice,
                         fmt::format("Run of Puppet configuration client already in progress; "
                                     "skipping  ({} exists)",
                                     lock.path()));
                return -1;
            }
            if (clock->monotonic_ns() - since >=
                settings_.integer("maxwaitforlock") * 1'000'000'000L) {
                log_.log(base::Level::Notice,
                         "Exiting now because the maxwaitforlock timeout has been exceeded.");
                return -1;
            }
            log_.log(base::Level::Info,
                     fmt::format("Another {} instance is already running; --waitforlock flag used, "
                                 "waiting for running instance to finish.",
                                 config::product(settings_.compatibility(), "puppet")));
            log_.log(base::Level::Info, fmt::format("Will try again in {} seconds.", pause));
            wait(pause);
            if (sys::stop_signal() != 0) return -1;
        }
        if (!may_run()) return -1;
        return run(files);
    }

    int run(const agent::SslFiles& files) {
        agent::ApplySession session(invocation_.settings, log_);
        site::Site site(settings_, site_options(log_));
        auto& context = session.context();
        const std::string client = user_agent(settings_);
        const auto stopped = [&context] { return static_cast<bool>(context.stop_request()); };
        agent::HttpContent web(settings_, client, stopped);
        context.web_content = &web;
        const auto clock = sys::make_real_clock();
        const long limit = settings_.integer("runtimeout");
        const auto until = clock->monotonic_ns() + limit * 1'000'000'000L;
        context.stop = [&, raw = clock.get()] {
            // A run that exceeds the time limit is stopped as if by a signal.
            if (limit > 0 && raw->monotonic_ns() > until) return apply::StopRequest{2, SIGALRM};
            return apply::StopRequest{sys::stop_signals(), sys::stop_signal()};
        };
        agent::RunOptions options{
            .settings = settings_,
            .context = context,
            .sink = session.sink(),
            .applying = session.run_settings(),
            .site = site,
            .ssl = files,
            .user_agent = client,
            .job_id = options_.job_id,
            .stopped = stopped,
            .ruby_parts =
                [this](const site::Session& s) { return agent::ruby_parts(s, settings_); },
            .network = nullptr};
        return agent::run(options);
    }

    /// Performs a run in a child process, so that its memory is released afterwards.
    void in_child(bool with_splay) {
        const auto ended = sys::run_in_copy(
            [&] {
                ::signal(SIGUSR1, SIG_IGN);
                ::signal(SIGHUP, SIG_IGN);
                return once(with_splay);
            },
            [] { return sys::stop_signal() != 0; });
        if (!ended) {
            log_.log(base::Level::Err,
                     fmt::format("Could not start a run: {}", ended.error().message));
        }
    }

    /// Waits until the time is over or a signal requests something.
    static void wait(long seconds) {
        const auto clock = sys::make_real_clock();
        constexpr long kSecond = 1'000'000'000;
        const auto until = clock->monotonic_ns() + seconds * kSecond;
        // The signals are unblocked only during the sleep, so none can arrive between the check and
        // the sleep.
        sigset_t asking, before;
        ::sigemptyset(&asking);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::sigaddset(&asking, number);
        ::pthread_sigmask(SIG_BLOCK, &asking, &before);
        while (sys::stop_signal() == 0 && run_now == 0 && restart == 0) {
            const auto left = until - clock->monotonic_ns();
            if (left <= 0) break;
            const timespec time{left / kSecond, left % kSecond};
            (void)::ppoll(nullptr, 0, &time, &before);
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    void splay() {
        const long limit = std::max(0L, settings_.integer("splaylimit"));
        const long seconds = base::random_between(0, limit);
        log_.log(base::Level::Info,
                 fmt::format("Sleeping for {} seconds (splay is enabled)", seconds));
        wait(seconds);
    }

    Invocation& invocation_;
    config::Settings& settings_;
    AgentOptions& options_;
    base::LogSink& log_;
};

int show_fingerprint(const config::Settings& settings, const std::string& digest) {
    const auto kind = codec::digest_kind(base::lower(digest));
    if (!kind) {
        fmt::print(stderr, "Error: Failed to generate fingerprint: Unsupported digest {}\n",
                   digest);
        return 1;
    }
    if (const auto certificates = pki::read_certificates(settings.text("hostcert"))) {
        fmt::print("({}) {}\n", base::upper(digest), certificates->front().fingerprint(*kind));
        return 0;
    }
    fmt::print(stderr,
               "Fingerprint asked but neither the certificate, nor the certificate request have "
               "been issued\n");
    return 1;
}

/// Asks the server to give this node another version of its environment for a limited time.
void try_version(const config::Settings& settings, const AgentOptions& options,
                 base::LogSink& log) {
    const auto text =
        config::duration_seconds(options.attempt_for.empty() ? "1h" : options.attempt_for);
    const auto seconds = base::parse_integer<std::int64_t>(text.value_or(""));
    if (!seconds)
        throw base::plain_error(fmt::format(
            "Invalid value '{}' for --for: expected a duration such as 1h", options.attempt_for));
    RolloutClient client(settings, "");
    // Every server must know the try before a run begins. The others learn of it within seconds.
    constexpr int kMostAsks = 40;
    for (int asks = 1;; ++asks) {
        const auto answer = client.send(
            "PUT", fmt::format("/nodes/{}/try", http::percent_encode(settings.text("certname"))),
            fmt::format(R"({{"environment":{},"version":{},"seconds":{}}})",
                        codec::json_string(settings.text("environment")),
                        codec::json_string(options.attempt), *seconds));
        if (answer.status / 100 != 2) throw base::plain_error(answer.error());
        const std::string waiting = value::text_at(answer.data, "waiting");
        if (!waiting.empty() && asks < kMostAsks) {
            sys::make_real_clock()->sleep_ns(1'000'000'000);
            continue;
        }
        log.log(base::Level::Notice, fmt::format("This node has version {} until {}",
                                                 value::text_at(answer.data, "version"),
                                                 value::text_at(answer.data, "until")));
        if (!waiting.empty())
            log.log(base::Level::Warning, fmt::format("The try waits for {}", waiting));
        return;
    }
}

void add_options(OptionParser& parser, AgentOptions& options) {
    parser.list("logdest", &options.logdest);
    parser.list("l", &options.logdest);
    parser.value("waitforcert", &options.waitforcert);
    parser.value("w", &options.waitforcert);
    parser.value("digest", &options.digest);
    parser.value("job-id", &options.job_id);
    parser.value("fqdn", &options.fqdn);
    parser.value("try", &options.attempt);
    parser.value("for", &options.attempt_for);
    parser.flag("detailed-exitcodes", &options.detailed_exitcodes);
    parser.flag("test", &options.test);
    parser.flag("t", &options.test);
    parser.flag("fingerprint", &options.fingerprint);
    parser.flag("enable", &options.enable);
    parser.flag("disable", &options.disable);
}

/// Executes the program again with the same arguments.
[[noreturn]] void execute_again(const Invocation& invocation, bool daemon) {
    std::vector<std::string> words{invocation.program, invocation.command};
    words.insert(words.end(), invocation.args.begin(), invocation.args.end());
    if (daemon) words.emplace_back("--no-daemonize");
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv("/proc/self/exe", argv.data());
    throw base::plain_error(fmt::format("Could not restart: {}", std::strerror(errno)));
}

int run_agent(Invocation& invocation) {
    OptionParser parser(invocation);
    AgentOptions options;
    add_options(parser, options);
    if (!parser.parse(&options.positional)) return parser.exit_code();
    auto& settings = invocation.settings;
    if (!options.fqdn.empty()) settings.set("certname", options.fqdn);
    if (options.test) {
        if (!parser.log_level) parser.log_level = base::Level::Info;
        options.detailed_exitcodes = true;
        for (const auto& [name, value] :
             {std::pair("usecacheonfailure", "false"), std::pair("splay", "false"),
              std::pair("show_diff", "true"), std::pair("daemonize", "false"),
              std::pair("onetime", "true")})
            settings.set(name, value);
    }
    // The reason is given as positional arguments.
    std::string reason = "reason not specified";
    if (options.disable && !options.positional.empty()) {
        reason = fmt::format("{}", fmt::join(options.positional, " "));
        options.positional.clear();
    }
    if (!options.positional.empty()) {
        fmt::print(stderr,
                   "Error: Could not parse application options: The puppet agent command "
                   "does not take parameters\n");
        return 1;
    }
    if (options.fingerprint) return show_fingerprint(settings, options.digest);
    if (settings.boolean("noop") && !parser.log_level) parser.log_level = base::Level::Notice;
    const bool daemon = settings.boolean("daemonize") && !options.enable && !options.disable;
    auto console = make_console_sink(parser, Streams::Puppet);
    if (options.logdest.empty() && !settings.text("logdest").empty())
        options.logdest = {settings.text("logdest")};
    if (options.logdest.empty() && daemon) options.logdest = {"syslog"};
    auto sink = agent::make_log_destinations(options.logdest, std::move(console), parser.log_level,
                                             settings.text("syslogfacility"));
    if (!sink) {
        fmt::print(stderr,
                   "Error: Could not parse application options: Could not set logdest to {}.\n{}\n",
                   fmt::join(options.logdest, ","), sink.error().message);
        return 1;
    }
    auto& log = **sink;
    if (options.enable || options.disable) {
        log.log(base::Level::Notice,
                fmt::format("{} {}.", options.enable ? "Enabling" : "Disabling",
                            config::product(settings.compatibility())));
        const auto done =
            options.enable ? agent::enable(settings) : agent::disable(settings, reason);
        if (!done) throw base::plain_error(done.error().message);
        return 0;
    }
    if (options.attempt.empty() && !options.attempt_for.empty())
        throw base::plain_error("--for needs --try");
    if (!options.attempt.empty()) try_version(settings, options, log);
    if (const auto value = base::parse_integer<int>(settings.text("priority")))
        (void)::setpriority(PRIO_PROCESS, 0, *value);
    if (daemon) {
        if (const auto left = sys::become_daemon(); !left)
            throw base::plain_error("Could not leave the terminal: " + left.error().message);
    }
    sys::catch_stop_signals(false);
    Agent agent(invocation, options, log);
    if (settings.boolean("onetime")) return agent.once(settings.boolean("splay"));
    sys::notify_service_manager("READY=1");
    const int code = agent.serve();
    if (code >= 0) return code;
    execute_again(invocation, daemon);
}

}  // namespace

BUNRAKU_COMMAND(agent){.name = "agent",
                       .summary = "Fetch this machine's catalog from a server and apply it.",
                       .run = run_agent,
                       .run_mode = "agent",
                       .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
