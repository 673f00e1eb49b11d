// SPDX-License-Identifier: Apache-2.0
// `forge`: manages module repositories on this machine, and serves them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <thread>
#include <unistd.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/signals.h"
#include "core/sys/wording.h"
#include "modules/forge/http_api.h"
#include "modules/forge/service.h"
#include "modules/forge/sync.h"
#include "modules/forge/trust_commands.h"
#include "net/http/server.h"
#include "net/http/url.h"

namespace bunraku::cli {

namespace {

using forge::ForgeStore;

struct Options {
    std::string repo, consumer, module, version, from, to, feed, name, token, ca_file, latest,
        puppetfile, until, reader, host, port, address, default_repo, parallel, feed_root;
    std::vector<std::string> queries, repos, upstreams, own, groups, modules;
    bool remove_missing = false, force = false, json = false, anywhere = false, closed = false,
         reads_only = false, with_dependencies = false, with_signatures = false;
    forge::TrustArguments trust;
};

int complain(const std::string& text) {
    fmt::print(stderr, "Error: {}\n", sys::plain_text(text));
    return 1;
}

int missing(std::string_view option) { return complain(fmt::format("--{} is needed", option)); }

std::optional<module::ModuleName> module_of(const Options& o) {
    return module::parse_module_name(o.module);
}

int create(ForgeStore& forge_store, const Options& o) {
    if (o.repo.empty()) return missing("repo");
    for (const std::string& name : o.own) {
        if (!module::parse_module_name(name) && !module::valid_identifier(name)) {
            return complain(fmt::format("'{}' is neither an author nor a module", name));
        }
    }
    auto made = forge_store.create(o.repo);
    if (!made) return complain(made.error().message);
    forge::RepositoryConfig config = forge_store.config(o.repo);
    const std::string before = config.text();
    if (!o.upstreams.empty()) config.upstreams = o.upstreams;
    for (const std::string& name : o.own) {
        auto parsed = module::parse_module_name(name);
        const std::string own = parsed ? parsed->slug() : name;
        if (std::find(config.own.begin(), config.own.end(), own) == config.own.end()) {
            config.own.push_back(own);
        }
    }
    if (!o.ca_file.empty()) config.ca_file = sys::expand_path(o.ca_file);
    if (o.closed) config.closed = true;
    if (config.text() != before) {
        if (auto done = forge_store.configure(o.repo, config); !done) {
            return complain(done.error().message);
        }
    }
    // Modules are fetched from upstream on request, so an empty snapshot can be served immediately.
    if (!config.upstreams.empty()) {
        if (auto done = forge_store.publish(o.repo); !done) return complain(done.error().message);
    }
    if (*made) {
        fmt::print("Created repository '{}'\n", o.repo);
    } else {
        fmt::print("Repository '{}' exists already{}\n", o.repo,
                   config.text() == before ? "" : ", and its configuration has changed");
    }
    return 0;
}

int remove_repository(ForgeStore& forge_store, const Options& o) {
    if (o.repo.empty()) return missing("repo");
    auto done = forge_store.remove_repository(o.repo);
    if (!done) return complain(done.error().message);
    fmt::print("Deleted repository '{}'\n", o.repo);
    return 0;
}

int list(ForgeStore& forge_store, const Options& o) {
    if (!o.repo.empty()) {
        if (!forge_store.exists(o.repo)) {
            return complain(fmt::format("there is no repository '{}'", o.repo));
        }
        std::string json = "[";
        for (const forge::Unit& unit : forge_store.units(o.repo)) {
            if (!o.json) {
                fmt::print("{} {}{}\n", unit.name.module.slug(), unit.name.version,
                           unit.remote ? " (upstream)" : "");
                continue;
            }
            if (json.size() > 1) json += ",\n ";
            json += fmt::format(R"({{"module":{},"version":{},"fetched":{}}})",
                                codec::json_string(unit.name.module.slug()),
                                codec::json_string(unit.name.version), !unit.remote);
        }
        if (o.json) fmt::print("{}]\n", json);
        return 0;
    }
    std::map<std::string, std::vector<std::string>> consumers;
    for (const forge::Binding& b : forge_store.access().bindings()) {
        consumers[b.repository].push_back(b.consumer);
    }
    std::string json = "[";
    for (const std::string& repo : forge_store.repositories()) {
        const std::size_t count = forge_store.units(repo).size();
        const std::string published = forge_store.published(repo);
        const auto upstreams = forge_store.config(repo).upstreams;
        std::string upstream = upstreams.empty() ? "" : module::shown_url(upstreams[0]);
        for (std::size_t i = 1; i < upstreams.size(); ++i) {
            upstream += " " + module::shown_url(upstreams[i]);
        }
        if (!o.json) {
            fmt::print("{}: {} release{}, {}", repo, count, count == 1 ? "" : "s",
                       published.empty() ? "not published" : "published as " + published);
            if (!upstream.empty()) fmt::print(", upstream {}", upstream);
            for (std::size_t i = 0; i < consumers[repo].size(); ++i) {
                fmt::print("{}{}", i ? " " : ", bound: ", consumers[repo][i]);
            }
            fmt::print("\n");
            continue;
        }
        if (json.size() > 1) json += ",\n ";
        json += fmt::format(R"({{"repository":{},"releases":{},"published":{},"upstream":{},)"
                            R"("consumers":[)",
                            codec::json_string(repo), count,
                            published.empty() ? "null" : codec::json_string(published),
                            upstream.empty() ? "null" : codec::json_string(upstream));
        for (std::size_t i = 0; i < consumers[repo].size(); ++i) {
            json += (i ? "," : "") + codec::json_string(consumers[repo][i]);
        }
        json += "]}";
    }
    if (o.json) fmt::print("{}]\n", json);
    return 0;
}

/// Uploads each file. Valid ones are stored even if others are refused.
int upload(ForgeStore& forge_store, const Options& o, const std::vector<std::string>& files) {
    if (o.repo.empty()) return missing("repo");
    if (files.empty()) return complain("Name at least one file to upload");
    auto& fs = sys::disk();
    auto batch = forge_store.begin(o.repo);
    if (!batch) return complain(batch.error().message);
    const forge::Flags before = forge_store.flags(o.repo);
    int code = 0;
    for (const std::string& file : files) {
        auto status = fs.stat(file);
        if (status && status->size > module::TarballLimits{}.packed) {
            code = complain(file + ": the file is too long");
            continue;
        }
        auto bytes = fs.read(file);
        if (!bytes) {
            code = complain(bytes.error().message);
            continue;
        }
        // A signature file next to an archive is uploaded with it.
        const std::string signature =
            fs.read(file + std::string(module::kSignatureSuffix)).value_or(std::string());
        auto slug = (*batch)->upload(*bytes, sys::base_name(file), false, 0, signature);
        if (slug) {
            fmt::print("{}{}\n", *slug, before.deletion(*slug) ? " (was deleted; it is back)" : "");
        } else {
            code = complain(fmt::format("{}: {}", file, slug.error().message));
        }
    }
    if (auto done = (*batch)->finish(); !done) return complain(done.error().message);
    return code;
}

int remove(ForgeStore& forge_store, const Options& o) {
    if (o.repo.empty()) return missing("repo");
    auto module = module_of(o);
    if (!module) return complain(fmt::format("'{}' is not a valid module name", o.module));
    auto count = forge_store.remove(o.repo, *module, o.version);
    if (!count) return complain(count.error().message);
    if (*count == 0) {
        return complain(fmt::format("there is no {}{} in '{}'", module->slug(),
                                    o.version.empty() ? "" : " " + o.version, o.repo));
    }
    fmt::print("Removed {} release{} from '{}'\n", *count, *count == 1 ? "" : "s", o.repo);
    return 0;
}

int copy(ForgeStore& forge_store, const Options& o) {
    if (o.from.empty()) return missing("from");
    if (o.to.empty()) return missing("to");
    std::optional<module::ModuleName> module;
    if (!o.module.empty()) {
        module = module_of(o);
        if (!module) return complain(fmt::format("'{}' is not a valid module name", o.module));
    }
    auto count = forge_store.copy(o.from, o.to, module, o.version);
    if (!count) return complain(count.error().message);
    if (*count == 0) return complain(fmt::format("'{}' has no matching release", o.from));
    fmt::print("Copied {} release{} to '{}'\n", *count, *count == 1 ? "" : "s", o.to);
    return 0;
}

int search(ForgeStore& forge_store, const Options& o, const std::vector<std::string>& words) {
    if (o.repo.empty()) return missing("repo");
    if (!forge_store.exists(o.repo)) {
        return complain(fmt::format("there is no repository '{}'", o.repo));
    }
    std::string json = "[";
    for (const forge::Unit& unit : forge_store.units(o.repo)) {
        auto text = forge_store.record(o.repo, unit.name.slug());
        if (!text) continue;
        std::string_view rest = *text;
        auto record = forge::read_record(&rest);
        if (!record) continue;
        const std::string_view hay = record->line(forge::Index::Words);
        bool all = true;
        for (const std::string& w : words) all &= hay.find(base::lower(w)) != hay.npos;
        if (!all) continue;
        if (o.json) {
            if (json.size() > 1) json += ",\n ";
            json += fmt::format(
                R"({{"module":{},"version":{},"summary":{},"tags":{}}})",
                codec::json_string(unit.name.module.slug()), codec::json_string(unit.name.version),
                record->line(forge::Index::Summary), record->line(forge::Index::Tags));
        } else {
            fmt::print("{} {} {}\n", unit.name.module.slug(), unit.name.version,
                       record->line(forge::Index::Summary));
        }
    }
    if (o.json) fmt::print("{}]\n", json);
    return 0;
}

int publish(ForgeStore& forge_store, const Options& o) {
    if (o.repo.empty()) return missing("repo");
    auto name = forge_store.publish(o.repo);
    if (!name) return complain(name.error().message);
    fmt::print("Published '{}' as {}\n", o.repo, *name);
    return 0;
}

int bind(ForgeStore& forge_store, const Options& o, bool on) {
    if (o.consumer.empty()) return missing("consumer");
    if (o.repo.empty()) return missing("repo");
    auto done = on ? forge_store.access().bind(o.consumer, o.repo)
                   : forge_store.access().unbind(o.consumer, o.repo);
    if (!done) return complain(done.error().message);
    if (!on && !*done) {
        return complain(fmt::format("'{}' is not bound to '{}'", o.consumer, o.repo));
    }
    fmt::print("{} '{}' {} '{}'\n", on ? "Bound" : "Unbound", o.consumer, on ? "to" : "from",
               o.repo);
    return 0;
}

int sync(ForgeStore& forge_store, const Options& o, const config::Settings& settings) {
    if (o.repo.empty()) return missing("repo");
    if (o.feed.empty()) return missing("feed");
    forge::SyncOptions s;
    s.feed = o.feed;
    s.queries = o.queries;
    s.remove_missing = o.remove_missing;
    s.with_dependencies = o.with_dependencies;
    if (!o.latest.empty()) {
        s.latest = std::atoi(o.latest.c_str());
        if (s.latest < 1) return complain("--latest needs a number");
    }
    if (!o.puppetfile.empty()) {
        auto requests = forge::requests_of_puppetfile(sys::expand_path(o.puppetfile));
        if (!requests) return complain(requests.error().message);
        s.requests = std::move(*requests);
    }
    for (const std::string& name : o.modules) {
        auto parsed = module::parse_module_name(name);
        if (!parsed) return complain(fmt::format("'{}' is not a valid module name", name));
        s.requests.push_back({*parsed, o.version});
    }
    s.force = o.force;
    s.signatures = o.with_signatures;
    if (!o.feed_root.empty()) s.root = sys::expand_path(o.feed_root);
    if (!o.parallel.empty()) s.parallel = std::atoi(o.parallel.c_str());
    s.access.client.authorization = settings.text("forge_authorization");
    s.access.client.ca_file = o.ca_file;
    s.access.client.trust_store = settings.text("ssl_trust_store");
    s.access.client.proxies = http::ProxyRules::of_settings(settings);
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    s.warn = [&](const std::string& text) {
        fmt::print(stderr, "{}Error: {}\n", terminal ? "\r\033[K" : "", text);
    };
    if (terminal) {
        s.progress = [](std::uint64_t done, std::uint64_t total) {
            constexpr std::uint64_t kWidth = 40;
            const std::uint64_t full = total ? done * kWidth / total : kWidth;
            fmt::print(stderr, "\r[{}{}] {}/{}", std::string(full, '#'),
                       std::string(kWidth - full, ' '), done, total);
            if (done == total) fmt::print(stderr, "\n");
            std::fflush(stderr);
        };
    }
    sys::catch_stop_signals();
    s.stopped = [] { return sys::stop_signal() != 0; };
    auto result = forge::sync(forge_store, o.repo, s);
    if (!result) return complain(result.error().message);
    fmt::print("Synced '{}': {} offered, {} present, {} fetched, {} removed, {} refused{}\n",
               o.repo, result->offered, result->present, result->fetched, result->removed,
               result->failed, result->stopped ? " (stopped early)" : "");
    return result->failed == 0 && !result->stopped ? 0 : 1;
}

base::Result<std::int64_t> until_of(const Options& o) {
    if (o.until.empty()) return 0;
    auto until = forge::parse_expiry(o.until, std::time(nullptr));
    if (!until)
        return base::failure(
            fmt::format("'{}' is neither a date nor a number of days (90d)", o.until));
    return *until;
}

std::string until_text(std::int64_t until) {
    return until == 0 ? "" : ", until " + module::forge_time(until);
}

int user(ForgeStore& forge_store, const Options& o, const std::vector<std::string>& words) {
    const std::string action = words.empty() ? "" : words[0];
    if (action == "create") {
        if (o.name.empty()) return missing("name");
        auto until = until_of(o);
        if (!until) return complain(until.error().message);
        auto password = forge_store.access().add_user(o.name, o.groups, *until);
        if (!password) return complain(password.error().message);
        fmt::print("{}\n", *password);
        return 0;
    }
    if (action == "list") {
        for (const forge::User& u : forge_store.access().users()) {
            fmt::print("{}:", u.name);
            for (const std::string& g : u.groups) fmt::print(" {}", g);
            fmt::print("{}\n", until_text(u.until));
        }
        return 0;
    }
    if (action == "delete") {
        if (o.name.empty()) return missing("name");
        auto gone = forge_store.access().remove_user(o.name);
        if (!gone) return complain(gone.error().message);
        return *gone ? 0 : complain(fmt::format("there is no user '{}'", o.name));
    }
    return complain(usage_text(
        "forge",
        "usage: forge user (create --name NAME [--group GROUP]... | list | delete --name NAME)"));
}

/// Grants or revokes read access to a repository. A grant makes the repository private.
int grant(ForgeStore& forge_store, const Options& o, bool on) {
    if (o.repo.empty()) return missing("repo");
    if (o.reader.empty()) return missing("reader");
    auto reader = forge::Reader::parse(o.reader);
    if (!reader) {
        return complain(fmt::format(
            "Invalid reader '{}': expected user:NAME, group:NAME, token:NAME or certificate:NAME",
            o.reader));
    }
    auto until = until_of(o);
    if (!until) return complain(until.error().message);
    if (!forge_store.exists(o.repo))
        return complain(fmt::format("there is no repository '{}'", o.repo));
    reader->until = *until;
    forge::RepositoryConfig config = forge_store.config(o.repo);
    const std::size_t before = config.readers.size();
    std::erase_if(config.readers,
                  [&](const forge::Reader& r) { return r.text() == reader->text(); });
    if (!on && config.readers.size() == before) {
        return complain(fmt::format("{} cannot read '{}' by name", reader->text(), o.repo));
    }
    if (on) {
        config.readers.push_back(*reader);
        config.closed = true;
    }
    auto done = forge_store.configure(o.repo, config);
    if (!done) return complain(done.error().message);
    forge_store.audit(fmt::format("local\tcommand\t{} {} {}\tdone", on ? "grant" : "revoke", o.repo,
                                  reader->text()));
    fmt::print("{} {} '{}'{}\n", reader->text(), on ? "may read" : "may no longer read", o.repo,
               until_text(reader->until));
    return 0;
}

int open_up(ForgeStore& forge_store, const Options& o) {
    if (o.repo.empty()) return missing("repo");
    forge::RepositoryConfig config = forge_store.config(o.repo);
    config.closed = false;
    config.readers.clear();
    auto done = forge_store.configure(o.repo, config);
    if (!done) return complain(done.error().message);
    forge_store.audit(fmt::format("local\tcommand\topen {}\tdone", o.repo));
    fmt::print("Everybody may read '{}'\n", o.repo);
    return 0;
}

int token(ForgeStore& forge_store, const Options& o, const std::vector<std::string>& words) {
    const std::string action = words.empty() ? "" : words[0];
    if (action == "create") {
        if (o.name.empty()) return missing("name");
        auto until = until_of(o);
        if (!until) return complain(until.error().message);
        auto text = forge_store.access().add_token(o.name, o.repos, o.reads_only, *until);
        if (!text) return complain(text.error().message);
        fmt::print("{}\n", *text);
        return 0;
    }
    if (action == "list") {
        for (const forge::Token& t : forge_store.access().tokens()) {
            fmt::print("{}:", t.name);
            for (const std::string& r : t.repositories) fmt::print(" {}", r);
            fmt::print("{}{}\n", t.reads_only ? " (reads only)" : "", until_text(t.until));
        }
        return 0;
    }
    if (action == "delete") {
        if (o.name.empty()) return missing("name");
        auto gone = forge_store.access().remove_token(o.name);
        if (!gone) return complain(gone.error().message);
        return *gone ? 0 : complain(fmt::format("there is no token '{}'", o.name));
    }
    return complain(usage_text(
        "forge",
        "usage: forge token (create --name NAME --repo REPO... | list | delete --name NAME)"));
}

int serve(const Options& o, const std::string& root, const config::Settings& settings) {
    forge::ServiceOptions options;
    options.root = root;
    options.default_repository =
        o.default_repo.empty() ? settings.text("forge_default_repository") : o.default_repo;
    options.token = o.token.empty() ? settings.text("forge_token") : o.token;
    options.trust_store = settings.text("ssl_trust_store");
    options.proxies = http::ProxyRules::of_settings(settings);
    forge::ForgeService service(options);
    http::Router router;
    forge::mount(router, service);
    http::ServerOptions server;
    http::Listener listener;
    std::string host = o.host.empty() ? "127.0.0.1" : o.host, port = o.port.empty() ? "0" : o.port;
    if (!o.address.empty()) {
        const std::size_t colon = o.address.rfind(':');
        if (colon == std::string::npos) return complain("--http needs HOST:PORT");
        host = o.address.substr(0, colon);
        port = o.address.substr(colon + 1);
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    }
    if (!o.anywhere && !http::is_loopback(host)) {
        return complain(
            fmt::format("Plain HTTP on {} can be read and used by anyone who can reach it: pass "
                        "--http-anywhere if this is intended",
                        host));
    }
    listener.host = host;
    char* end = nullptr;
    const long number = std::strtol(port.c_str(), &end, 10);
    if (*end != '\0' || number < 0 || number > 65535) {
        return complain(fmt::format("'{}' is not a port", port));
    }
    listener.port = static_cast<std::uint16_t>(number);
    server.listeners.push_back(listener);
    sys::catch_stop_signals();
    auto running = http::Server::start(std::move(router), server);
    if (!running) return complain(running.error().message);
    std::string urls;
    for (const std::string& url : (*running)->urls()) urls += " " + url;
    fmt::print("Bunraku forge listens on{}\n", urls);
    std::fflush(stdout);
    while (sys::stop_signal() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    (*running)->stop();
    return 0;
}

void add_options(OptionParser& options, Options& o) {
    options.list("repo", &o.repos);
    options.value("consumer", &o.consumer);
    options.list("module", &o.modules);
    options.flag("with-dependencies", &o.with_dependencies);
    options.value("latest", &o.latest);
    options.value("puppetfile", &o.puppetfile);
    options.value("version", &o.version);
    options.value("from", &o.from);
    options.value("to", &o.to);
    options.value("feed", &o.feed);
    options.list("query", &o.queries);
    options.flag("remove-missing", &o.remove_missing);
    options.value("parallel", &o.parallel);
    options.value("name", &o.name);
    options.list("upstream", &o.upstreams);
    options.list("own", &o.own);
    options.value("ca-file", &o.ca_file);
    options.flag("private", &o.closed);
    options.flag("read-only", &o.reads_only);
    options.value("until", &o.until);
    options.value("reader", &o.reader);
    options.list("group", &o.groups);
    options.value("forge-token", &o.token);
    options.value("token", &o.token);
    options.value("host", &o.host);
    options.value("port", &o.port);
    options.value("http", &o.address);
    options.value("default-repo", &o.default_repo);
    options.flag("force", &o.force);
    options.flag("http-anywhere", &o.anywhere);
    options.flag("json", &o.json);
    options.flag("with-signatures", &o.with_signatures);
    options.value("root", &o.feed_root);
    options.flag("any-file", &o.trust.any_file);
    options.value("out", &o.trust.out);
    options.value("in", &o.trust.in);
    options.value("key", &o.trust.key);
    options.value("role", &o.trust.role);
    options.value("root-key", &o.trust.root_key);
    options.value("without", &o.trust.without);
    options.list("signer", &o.trust.signers);
    options.list("require-signed", &o.trust.required);
    options.flag("forget", &o.trust.forget);
    options.flag("unsigned", &o.trust.unsigned_too);
    options.flag("publish", &o.trust.publish);
}

int run_forge(Invocation& invocation) {
    Options o;
    OptionParser options(invocation);
    add_options(options, o);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    if (!o.repos.empty()) o.repo = o.repos.back();
    if (!o.modules.empty()) o.module = o.modules.back();
    std::string action;
    if (!words.empty()) {
        action = words[0];
        words.erase(words.begin());
    }
    const std::string root = invocation.settings.text("statedir") + "/forge";
    ForgeStore forge_store(root);
    if (action == "create") return create(forge_store, o);
    if (action == "delete") return remove_repository(forge_store, o);
    if (action == "list") return list(forge_store, o);
    if (action == "upload") return upload(forge_store, o, words);
    if (action == "remove") return remove(forge_store, o);
    if (action == "copy") return copy(forge_store, o);
    if (action == "search") return search(forge_store, o, words);
    if (action == "publish") return publish(forge_store, o);
    if (action == "bind") return bind(forge_store, o, true);
    if (action == "unbind") return bind(forge_store, o, false);
    if (action == "sync") return sync(forge_store, o, invocation.settings);
    if (action == "token") return token(forge_store, o, words);
    if (action == "user") return user(forge_store, o, words);
    if (action == "grant") return grant(forge_store, o, true);
    if (action == "revoke") return grant(forge_store, o, false);
    if (action == "open") return open_up(forge_store, o);
    o.trust.repo = o.repo;
    o.trust.usage_text = [](std::string_view text) { return usage_text("forge", text); };
    if (action == "key") return forge::key_command(o.trust, words);
    if (action == "sign") return forge::sign_command(o.trust, words);
    if (action == "trust") return forge::trust_command(forge_store, o.trust);
    if (action == "metadata") return forge::metadata_command(forge_store, o.trust, words);
    if (action == "bundle") return forge::bundle_command(forge_store, o.trust, words);
    if (action == "serve") return serve(o, root, invocation.settings);
    fmt::print(stderr,
               "Error: usage: {} forge (create|delete|list|upload|remove|copy|search|publish|bind|"
               "unbind|sync|token|user|grant|revoke|open|key|sign|trust|metadata|bundle|serve) "
               "[options]\nSee '{} help forge'\n",
               invocation.program, invocation.program);
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(forge){.name = "forge",
                       .summary = "Manage, publish and serve repositories of modules.",
                       .run = run_forge,
                       .run_mode = "server"};

}  // namespace bunraku::cli
