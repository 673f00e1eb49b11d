// `doctor`: whether this machine has what the program needs, and what it lacks.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/base/shared_library.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"
#include "core/sys/system.h"
#include "net/pki/certificate.h"
#include "services/agent/locks.h"
#include "store/db/database.h"
#include "store/engine/store.h"

namespace bunraku::cli {

namespace {

enum class State { Good, Note, Bad };

struct Finding {
    State state;
    std::string about, text;
};

class Doctor {
public:
    Doctor(Invocation& invocation, base::LogSink& log)
        : invocation_(invocation), settings_(invocation.settings), log_(log) {}

    std::vector<Finding> run() {
        program();
        configuration();
        folders();
        code();
        certificates();
        store();
        agent();
        return std::move(found_);
    }

private:
    sys::FileSystem& files() { return system_.system().files; }
    void good(std::string about, std::string text) {
        found_.push_back({State::Good, std::move(about), std::move(text)});
    }
    void note(std::string about, std::string text) {
        found_.push_back({State::Note, std::move(about), std::move(text)});
    }
    void bad(std::string about, std::string text) {
        found_.push_back({State::Bad, std::move(about), std::move(text)});
    }

    void program() {
        good("program", fmt::format("bunraku {}, commit {}", kVersion, build_info().commit));
        auto& processes = system_.system().processes;
        const auto ruby = processes.which("ruby");
        if (!ruby) {
            note("ruby",
                 "is not installed: functions, types, facts and templates of modules that are "
                 "code in Ruby cannot be used");
        } else {
            const auto said = processes.run(
                {.argv = {*ruby, "-e", "print RUBY_VERSION"}, .timeout = std::chrono::seconds(10)});
            if (said && said->ok()) {
                good("ruby", fmt::format("{} {}", *ruby, said->output));
            } else {
                bad("ruby", fmt::format("{} does not run", *ruby));
            }
        }
        library("libarchive.so.13", "modules as archives cannot be unpacked (libarchive13)");
        library("libaugeas.so.0", "the type augeas cannot be used (libaugeas0)");
        library("libpq.so.5", "PostgreSQL cannot be used as a store (libpq5)");
        if (!processes.which("diff"))
            note("diff", "is not installed: show_diff shows nothing (diffutils)");
        if (!processes.which("git"))
            note("git", "is not installed: `deploy`, and modules from git, cannot be used");
    }
    void library(const char* name, std::string_view without) {
        if (base::SharedLibrary(name, "").loaded()) {
            good(std::string(name), "is there");
        } else {
            note(std::string(name), fmt::format("is not there: {}", without));
        }
    }

    void configuration() {
        const std::string path = settings_.text("config");
        if (!files().exists(path)) {
            note("puppet.conf", fmt::format("{} is not there: the defaults count", path));
        } else {
            good("puppet.conf", path);
        }
        if (const auto problem = settings_.start_problem()) bad("settings", *problem);
        if (const auto problem = settings_.any_problem()) bad("settings", *problem);
        const std::string name = settings_.text("certname");
        if (name.find('.') == std::string::npos)
            note(
                "certname",
                fmt::format("{} has no domain: set certname where names must be told apart", name));
        else
            good("certname", name);
    }

    void folders() {
        for (const std::string_view name :
             {"confdir", "codedir", "vardir", "statedir", "ssldir", "logdir", "rundir"}) {
            const std::string path = settings_.text(name);
            const auto status = files().stat(path);
            if (!status) {
                // The first of those above it that is there.
                std::string above = path;
                while (above.size() > 1 && !files().exists(above))
                    above = std::string(sys::directory_name(above));
                if (files().access(above, W_OK)) {
                    note(std::string(name),
                         fmt::format("{} is not there yet, and will be made", path));
                } else {
                    note(std::string(name),
                         fmt::format("{} is not there, and cannot be made by this user", path));
                }
            } else if (status->kind != sys::FileKind::Directory) {
                bad(std::string(name), fmt::format("{} is no folder", path));
            } else if (!files().access(path, R_OK | X_OK)) {
                bad(std::string(name), fmt::format("{} cannot be read by this user", path));
            } else if (!files().access(path, W_OK) && name != "confdir" && name != "codedir") {
                note(std::string(name), fmt::format("{} cannot be written by this user", path));
            } else {
                good(std::string(name), path);
            }
        }
        struct statvfs disk{};
        std::string state = settings_.text("statedir");
        while (state.size() > 1 && !files().exists(state))
            state = std::string(sys::directory_name(state));
        constexpr std::uint64_t kLeast = 200ULL << 20;
        if (::statvfs(state.c_str(), &disk) == 0) {
            const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
            const auto text = fmt::format("{} MiB left below {}", left >> 20, state);
            left < kLeast ? bad("disk", text) : good("disk", text);
        }
    }

    void code() {
        site::NodeRequest request;
        request.sources.no_manifest = true;
        const std::string name = settings_.text("environment");
        try {
            const auto environment = site::Site(settings_, site_options(log_)).environment(request);
            good("environment",
                 fmt::format("{}: {} module{}", environment->name(), environment->modules().size(),
                             environment->modules().size() == 1 ? "" : "s"));
            for (const auto& module : environment->modules()) {
                const auto text = files().read(sys::join(module.path, "metadata.json"));
                if (text && !codec::parse_yaml(*text, "metadata.json"))
                    bad("module " + module.name, "its metadata.json cannot be parsed");
            }
        } catch (const base::PuppetError& error) {
            note("environment", error.message());
        }
        const std::string hiera = settings_.text("hiera_config");
        if (const auto text = files().read(hiera)) {
            const auto data = codec::parse_yaml(*text, hiera);
            data ? good("hiera.yaml", hiera) : bad("hiera.yaml", data.error().message);
        }
    }

    void certificates() {
        certificate("certificate", settings_.text("hostcert"));
        certificate("authority", settings_.text("localcacert"));
        const std::string key = settings_.text("hostprivkey");
        if (const auto status = files().stat(key); status && (status->mode & 0007) != 0)
            bad("private key", fmt::format("{} can be read by everybody", key));
        if (files().exists(settings_.text("cacert")))
            note("ca", fmt::format("this machine has an authority: `{} ca doctor` looks at it",
                                   invocation_.program));
    }
    void certificate(const char* what, const std::string& path) {
        const auto text = files().read(path);
        if (!text) {
            note(what, files().exists(path)
                           ? fmt::format("{} cannot be read by this user", path)
                           : fmt::format("{} is not there: the agent has not run yet", path));
            return;
        }
        const auto parsed = pki::Certificate::from_pem(*text, path);
        if (!parsed) {
            bad(what, fmt::format("{}: {}", path, parsed.error().message));
            return;
        }
        const std::int64_t days =
            (parsed->not_after() - system_.system().clock.now_ns() / 1'000'000'000) / 86400;
        const auto said = fmt::format("{}, good for {} days", path, days);
        if (days < 0) {
            bad(what, fmt::format("{} ended {} days ago", path, -days));
        } else if (days < 30) {
            note(what, said);
        } else {
            good(what, said);
        }
    }

    void store() {
        const std::string database = site::database_of(settings_, "");
        if (!store::is_postgresql_url(database) && !files().exists(database)) {
            note("store", "nothing is stored yet");
            return;
        }
        auto opened = store::Store::open(database, {.read_only = true});
        if (!opened) {
            bad("store", opened.error().message);
            return;
        }
        const auto nodes = (*opened)->nodes(true);
        if (!nodes) {
            bad("store", nodes.error().message);
        } else {
            good("store", fmt::format("{} node{}", nodes->size(), nodes->size() == 1 ? "" : "s"));
        }
    }

    void agent() {
        if (const auto reason = bunraku::agent::disabled(settings_))
            note("agent", fmt::format("is disabled: {}", *reason));
        const std::string path = settings_.text("lastrunfile");
        const auto status = files().stat(path);
        if (!status) {
            note("last run", "there was none");
            return;
        }
        const std::int64_t age =
            (system_.system().clock.now_ns() - status->mtime_ns) / 1'000'000'000;
        const auto text = fmt::format("{} minutes ago", age / 60);
        const long interval = settings_.integer("runinterval");
        interval > 0 && age > 3 * interval ? note("last run", text) : good("last run", text);
    }

    Invocation& invocation_;
    const config::Settings& settings_;
    base::LogSink& log_;
    sys::RealSystem system_;
    std::vector<Finding> found_;
};

constexpr std::string_view kNames[] = {"ok", "note", "bad"};

int run(Invocation& invocation) {
    OptionParser options(invocation);
    bool json = false;
    std::vector<std::string> words;
    options.flag("json", &json);
    if (!options.parse(&words)) return options.exit_code();
    auto log = make_console_sink(options);
    const auto found = Doctor(invocation, *log).run();
    std::string out;
    for (const auto& f : found) {
        const auto name = kNames[static_cast<int>(f.state)];
        if (json) {
            out += fmt::format("{}{{\"state\":\"{}\",\"about\":{},\"text\":{}}}",
                               out.empty() ? "[" : ",\n ", name, codec::json_string(f.about),
                               codec::json_string(f.text));
        } else {
            out += fmt::format("{:<5} {:<16} {}\n", name, f.about, f.text);
        }
    }
    if (json) out += "]\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return std::ranges::any_of(found, [](const auto& f) { return f.state == State::Bad; }) ? 1 : 0;
}

}  // namespace

BUNRAKU_COMMAND(doctor){
    .name = "doctor", .summary = "Check that this machine has what is needed.", .run = run};

}  // namespace bunraku::cli
