// SPDX-License-Identifier: Apache-2.0
#include "services/agent/doctor.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <sys/statvfs.h>
#include <unistd.h>

#include "compile/site/store_access.h"
#include "core/base/shared_library.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/sys/ruby_folders.h"
#include "core/sys/system.h"
#include "net/pki/certificate.h"
#include "net/pki/crl.h"
#include "services/agent/locks.h"
#include "services/server/puppetserver_conf.h"
#include "store/db/database.h"
#include "store/engine/store.h"

namespace bunraku::agent {

namespace {

class Doctor {
public:
    Doctor(const config::Settings& settings, const DoctorOptions& options)
        : settings_(settings), options_(options) {}

    std::vector<DoctorFinding> run() {
        program();
        configuration();
        folders();
        code();
        certificates();
        extensions();
        store();
        agent();
        return std::move(found_);
    }

private:
    sys::FileSystem& files() { return system_.system().files; }
    void good(std::string about, std::string text) {
        found_.push_back({DoctorFinding::State::Good, std::move(about), std::move(text)});
    }
    void note(std::string about, std::string text) {
        found_.push_back({DoctorFinding::State::Note, std::move(about), std::move(text)});
    }
    void bad(std::string about, std::string text) {
        found_.push_back({DoctorFinding::State::Bad, std::move(about), std::move(text)});
    }

    void program() {
        good("program", fmt::format("bunraku {}, commit {}", options_.version, options_.commit));
        auto& processes = system_.system().processes;
        const auto ruby = processes.which("ruby");
        if (!ruby) {
            note("ruby",
                 "is not installed: functions, types, facts and templates of modules that are "
                 "code in Ruby cannot be used");
        } else {
            const auto result = processes.run(
                {.argv = {*ruby, "-e", "print RUBY_VERSION"}, .timeout = std::chrono::seconds(10)});
            if (result && result->ok()) {
                good("ruby", fmt::format("{} {}", *ruby, result->output));
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
            good(std::string(name), "is installed");
        } else {
            note(std::string(name), fmt::format("is not installed: {}", without));
        }
    }

    void configuration() {
        const std::string path = settings_.text("config");
        if (!files().exists(path)) {
            note("puppet.conf", fmt::format("{} does not exist: the defaults apply", path));
        } else {
            good("puppet.conf", path);
        }
        if (const auto problem = settings_.start_problem()) bad("settings", *problem);
        if (const auto problem = settings_.any_problem()) bad("settings", *problem);
        base::MemorySink ignored;
        server::report_unhonoured(settings_, ignored);
        for (const auto& record : ignored.records) note("settings", record.message);
        const auto level = settings_.compatibility();
        good("compatibility", fmt::format("{}, version {}", config::level_name(level),
                                          config::puppet_version(level)));
        const std::string name = settings_.text("certname");
        if (name.find('.') == std::string::npos)
            note(
                "certname",
                fmt::format("{} has no domain: set certname if names must be distinguished", name));
        else
            good("certname", name);
    }

    /// Returns the path or, if it does not exist, its nearest existing parent.
    std::string nearest_existing(std::string path) {
        while (path.size() > 1 && !files().exists(path))
            path = std::string(sys::directory_name(path));
        return path;
    }

    void folders() {
        for (const std::string_view name :
             {"confdir", "codedir", "vardir", "statedir", "ssldir", "logdir", "rundir"}) {
            const std::string path = settings_.text(name);
            const auto status = files().stat(path);
            if (!status) {
                if (files().access(nearest_existing(path), W_OK)) {
                    note(std::string(name),
                         fmt::format("{} does not exist yet and will be created", path));
                } else {
                    note(std::string(name),
                         fmt::format("{} does not exist, and this user cannot create it", path));
                }
            } else if (status->kind != sys::FileKind::Directory) {
                bad(std::string(name), fmt::format("{} is not a folder", path));
            } else if (!files().access(path, R_OK | X_OK)) {
                bad(std::string(name), fmt::format("{} cannot be read by this user", path));
            } else if (!files().access(path, W_OK) && name != "confdir" && name != "codedir") {
                note(std::string(name), fmt::format("{} cannot be written by this user", path));
            } else {
                good(std::string(name), path);
            }
        }
        struct statvfs disk{};
        const std::string state = nearest_existing(settings_.text("statedir"));
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
            const auto environment = site::Site(settings_, options_.site).environment(request);
            good("environment",
                 fmt::format("{}: {} module{}", environment->name(), environment->modules().size(),
                             environment->modules().size() == 1 ? "" : "s"));
            for (const auto& module : environment->modules()) {
                const auto text = files().read(sys::join(module.path, "metadata.json"));
                if (text && !codec::parse_yaml(*text, "metadata.json"))
                    bad("module " + module.name, "its metadata.json cannot be parsed");
                plugin_folders_.push_back(sys::join(module.path, "lib"));
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
        const std::string path = settings_.text("hostcert");
        const auto own = certificate("certificate", path);
        certificate("authority", settings_.text("localcacert"));
        const std::string key = settings_.text("hostprivkey");
        if (const auto status = files().stat(key); status && (status->mode & 0007) != 0)
            bad("private key", fmt::format("{} can be read by everybody", key));
        if (own) key_pair(*own, path, key);
        revocation_list(settings_.text("hostcrl"), own);
        if (files().exists(settings_.text("cacert")))
            note("ca", fmt::format("this machine has an authority: `{} ca doctor` looks at it",
                                   options_.program));
    }
    /// Checks that the key and the certificate belong to each other.
    void key_pair(const pki::Certificate& certificate, const std::string& certificate_path,
                  const std::string& key_path) {
        const auto text = files().read(key_path);
        if (!text) {
            if (!files().exists(key_path))
                bad("private key",
                    fmt::format("{} does not exist, but its certificate {} does: remove the "
                                "certificate with `{} ssl clean` and request a new one",
                                key_path, certificate_path, options_.program));
            return;
        }
        const auto passphrase = files().read(settings_.text("passfile"));
        const auto key = pki::PrivateKey::from_pem(
            *text, key_path, passphrase ? std::string(base::trim(*passphrase)) : std::string());
        if (!key) {
            bad("private key", fmt::format("{}: {}", key_path, key.error().message));
        } else if (!key->belongs_to(certificate)) {
            bad("private key",
                fmt::format("{} does not belong to the certificate {}: remove both with `{} ssl "
                            "clean` and request a new certificate",
                            key_path, certificate_path, options_.program));
        } else {
            good("private key", key_path);
        }
    }
    /// Checks the revocation lists that connections are verified with.
    void revocation_list(const std::string& path, const std::optional<pki::Certificate>& own) {
        if (settings_.text("certificate_revocation") == "false")
            return note("revocation list", "is not used: certificate_revocation is false");
        if (!files().read(path)) {
            if (files().exists(path))
                note("revocation list", fmt::format("{} cannot be read by this user", path));
            return;
        }
        const auto lists = pki::read_crls(path);
        if (!lists)
            return bad("revocation list", fmt::format("{}: {}", path, lists.error().message));
        const auto now = system_.system().clock.now_ns() / 1'000'000'000;
        for (const auto& list : *lists) {
            const auto facts = pki::facts_of(list);
            if (facts.next_update < now) {
                bad("revocation list",
                    fmt::format("the list of {} in {} expired {} days ago", facts.issuer, path,
                                (now - facts.next_update) / 86400));
            } else if (own && pki::is_revoked(list, *own) && own->issuer_utf8() == facts.issuer) {
                bad("revocation list",
                    fmt::format("the certificate {} is revoked", settings_.text("hostcert")));
            } else {
                good("revocation list", fmt::format("{}: {}", path, facts.issuer));
            }
        }
    }
    /// Checks a certificate file. Returns its certificate if it can be parsed.
    std::optional<pki::Certificate> certificate(const char* what, const std::string& path) {
        const auto text = files().read(path);
        if (!text) {
            note(what, files().exists(path)
                           ? fmt::format("{} cannot be read by this user", path)
                           : fmt::format("{} does not exist: the agent has not run yet", path));
            return std::nullopt;
        }
        const auto parsed = pki::Certificate::from_pem(*text, path);
        if (!parsed) {
            bad(what, fmt::format("{}: {}", path, parsed.error().message));
            return std::nullopt;
        }
        const std::int64_t days =
            (parsed->not_after() - system_.system().clock.now_ns() / 1'000'000'000) / 86400;
        const auto result = fmt::format("{}, good for {} days", path, days);
        if (days < 0) {
            bad(what, fmt::format("{} ended {} days ago", path, -days));
        } else if (days < 30) {
            note(what, result);
        } else {
            good(what, result);
        }
        return *parsed;
    }

    /// Checks that the programs and report processors that settings name exist.
    void extensions() {
        const auto classifier = settings_.text("external_nodes");
        if (settings_.text("node_terminus") == "exec") {
            const auto program = classifier.substr(0, classifier.find(' '));
            if (program.empty() || program == "none") {
                bad("classifier", "node_terminus is exec, but external_nodes is not set");
            } else if (!files().access(program, X_OK)) {
                bad("classifier",
                    fmt::format("{} (setting external_nodes) does not exist or is not executable",
                                program));
            } else {
                good("classifier", classifier);
            }
        }
        auto folders = plugin_folders_;
        std::ranges::copy(sys::ruby_plugin_folders(files()), std::back_inserter(folders));
        const std::string reports = settings_.text("reports");
        for (const auto part : base::split(reports, ',')) {
            const std::string name(base::trim(part));
            constexpr std::string_view kBuiltIn[] = {"",    "none", "store",
                                                     "log", "http", "puppetdb"};
            if (std::ranges::find(kBuiltIn, name) != std::end(kBuiltIn)) continue;
            const auto file = std::ranges::find_if(folders, [&](const auto& folder) {
                return files().exists(fmt::format("{}/puppet/reports/{}.rb", folder, name));
            });
            if (file == folders.end()) {
                bad("report processor",
                    fmt::format("{} (setting reports) is in no module and not in Ruby's load path",
                                name));
            } else {
                good("report processor", fmt::format("{}: {}", name, *file));
            }
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

    const config::Settings& settings_;
    const DoctorOptions& options_;
    sys::RealSystem system_;
    std::vector<DoctorFinding> found_;
    std::vector<std::string> plugin_folders_;  ///< lib folders of the environment's modules
};

}  // namespace

std::vector<DoctorFinding> examine_machine(const config::Settings& settings,
                                           const DoctorOptions& options) {
    return Doctor(settings, options).run();
}

}  // namespace bunraku::agent
