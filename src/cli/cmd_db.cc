// SPDX-License-Identifier: Apache-2.0
// `db`: operations on the whole store. Queries are in db_query.cc.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/db_query.h"
#include "cli/usage.h"
#include "compile/site/running_store.h"
#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "core/sys/descriptor.h"
#include "core/sys/disk.h"
#include "core/sys/terminal.h"
#include "net/http/client.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/db/pool.h"
#include "store/db/queue.h"
#include "store/db/schema.h"
#include "store/db/secrets.h"
#include "store/db/statistics.h"
#include "store/db/writer.h"
#include "store/engine/archive.h"
#include "store/engine/store.h"

namespace bunraku::cli {

namespace {

template <class T>
T value_of(base::Result<T> result) {
    if (!result) throw base::plain_error(result.error().message);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Flags {
    std::string database, queue, url, anonymization;
    bool json = false;
    std::vector<std::string> words;
};

std::string database_of(const config::Settings& settings, const Flags& flags) {
    return site::database_of(settings, flags.database);
}

std::string queue_of(const config::Settings& settings, const Flags& flags) {
    return flags.queue.empty() ? settings.text("statedir") + "/queue" : flags.queue;
}

std::unique_ptr<store::Database> open_reading(const std::string& where) {
    if (!store::is_postgresql_url(where) && ::access(where.c_str(), R_OK) != 0) {
        throw base::plain_error(
            fmt::format("There is no store at {}: nothing has been stored yet", where));
    }
    auto db = value_of(store::Database::open(where, store::Database::Access::Read, 10000));
    if (auto checked = store::check_schema(*db); !checked)
        throw base::plain_error(checked.error().message);
    return db;
}

std::shared_ptr<store::Secrets> secrets_of(const config::Settings& settings) {
    return std::make_shared<store::Secrets>(site::store_key_of(settings));
}

/// Returns the server that owns the store and then performs the writes, or null if no server does.
std::unique_ptr<site::RunningStore> running(const config::Settings& settings, const Flags& flags) {
    return value_of(site::RunningStore::find(database_of(settings, flags)));
}

/// Returns the number `key` from a server response, which is a flat JSON map.
std::int64_t number_in(std::string_view answer, std::string_view key) {
    codec::JsonCursor json(answer);
    json.enter_object();
    std::int64_t out = 0;
    std::string_view name;
    while (json.next_key(&name)) {
        if (name == key) {
            out = json.integer();
        } else {
            json.skip();
        }
    }
    return out;
}

std::unique_ptr<store::Writer> open_writing(const config::Settings& settings, const Flags& flags) {
    return value_of(
        store::Writer::open(database_of(settings, flags), {.secrets = secrets_of(settings)}));
}

std::string time_or_dash(std::int64_t time) {
    return time == 0 ? "-" : catalog::format_wire_time(time);
}

/// Writes the archive of a store, or of the server at --url, piece by piece.
base::Result<void> write_archive(const config::Settings& settings, const Flags& flags,
                                 const sys::Write& write) {
    if (flags.url.empty()) {
        auto archive = BUNRAKU_TRY(
            store::ArchiveExport::start(database_of(settings, flags), flags.anonymization));
        std::string piece;
        while (BUNRAKU_TRY(archive->next(piece))) {
            BUNRAKU_TRY_VOID(write(piece));
            piece.clear();
        }
        return {};
    }
    http::Client client;
    http::ClientRequest request;
    request.url = flags.url + "/pdb/admin/v1/archive";
    if (!flags.anonymization.empty()) {
        request.url += "?anonymization_profile=" + flags.anonymization;
    }
    base::Result<void> written;
    const auto answer = client.download(request, [&](std::string_view bytes) {
        written = write(bytes);
        return written.has_value();
    });
    BUNRAKU_TRY_VOID(written);
    if (!answer) return std::unexpected(answer.error());
    if (answer->status == 200) return {};
    return base::failure(
        fmt::format("{} answered {} {}", request.url, answer->status, answer->body.substr(0, 500)));
}

int export_archive(const config::Settings& settings, const Flags& flags) {
    if (flags.words.size() != 1) throw usage_error("db", "usage: db export FILE");
    const std::string& path = flags.words[0];
    sys::ProgressLine progress;
    std::size_t written = 0;
    const auto fill = [&](const sys::Write& write) {
        return write_archive(settings, flags, [&](std::string_view bytes) -> base::Result<void> {
            BUNRAKU_TRY_VOID(write(bytes));
            written += bytes.size();
            progress.show(
                fmt::format("{:.1f} MiB written", static_cast<double>(written) / 1048576));
            return {};
        });
    };
    if (path == "-") {
        const auto print = [](std::string_view bytes) -> base::Result<void> {
            const int error = sys::write_all(STDOUT_FILENO, bytes);
            if (error == 0) return {};
            return base::failure(fmt::format("Could not write -: {}", strerror(error)), error);
        };
        if (const auto done = fill(print); !done) throw base::plain_error(done.error().message);
        return 0;
    }
    const auto target = value_of(sys::disk().look(path, true));
    if (target && target->kind != sys::FileKind::File)
        throw base::plain_error(path + " is not a file; use - for standard output");
    // The archive contains secrets of the whole fleet, so that only the owner may read it.
    if (const auto done = sys::disk().replace_from(path, fill, {.mode = 0600, .sync = true}); !done)
        throw base::plain_error(done.error().message);
    return 0;
}

/// Reports and counts a command of an archive that could not be stored; the import continues.
void import_failed(const store::CommandHeader& header, const base::Error& error,
                   store::ImportFigures& failed) {
    ++failed.of(header.kind);
    fmt::print(stderr, "Error: {} of {}: {}\n", store::command_name(header.kind), header.certname,
               error.message);
}

int import_file(const config::Settings& settings, const Flags& flags) {
    if (flags.words.size() != 1) throw usage_error("db", "usage: db import FILE");
    store::ImportFigures figures, failed;
    sys::ProgressLine progress;
    std::size_t taken = 0;
    const auto show = [&] { progress.show(fmt::format("{} commands imported", ++taken)); };
    if (!flags.url.empty()) {
        // Send each command to the server.
        http::Client client;
        figures = value_of(store::import_archive_file(
            flags.words[0],
            [&](const store::CommandHeader& header, std::string body) -> base::Result<void> {
                http::ClientRequest request;
                request.method = "POST";
                request.url =
                    fmt::format("{}/pdb/cmd/v1?command={}&version={}&certname={}", flags.url,
                                http::percent_encode(store::command_name(header.kind)),
                                header.version, http::percent_encode(header.certname));
                request.headers.set("Content-Type", "application/json");
                request.body = std::move(body);
                auto answer = client.send(request);
                if (!answer) return std::unexpected(answer.error());
                if (answer->status != 200) {
                    return base::failure(fmt::format("{}: {}", answer->status, answer->body));
                }
                show();
                return {};
            }));
    } else if (const auto server = running(settings, flags)) {
        figures = value_of(store::import_archive_file(
            flags.words[0],
            [&](const store::CommandHeader& header, std::string body) -> base::Result<void> {
                if (auto done = server->submit(header, std::move(body)); !done)
                    import_failed(header, done.error(), failed);
                return {};
            }));
    } else {
        auto writer = open_writing(settings, flags);
        std::optional<store::Transaction> transaction;
        std::size_t open = 0;
        figures = value_of(store::import_archive_file(
            flags.words[0],
            [&](const store::CommandHeader& header, std::string body) -> base::Result<void> {
                if (!transaction) transaction.emplace(BUNRAKU_TRY(writer->begin()));
                auto prepared = store::prepare_command(header, body, {});
                base::Result<store::Applied> applied = base::failure("");
                if (prepared) {
                    auto part = BUNRAKU_TRY(store::Savepoint::begin(writer->db()));
                    applied = (*prepared)->apply(*writer);
                    if (applied) BUNRAKU_TRY_VOID(part.release());
                } else {
                    applied = std::unexpected(prepared.error());
                }
                if (!applied) {
                    writer->forget();
                    progress.clear();
                    import_failed(header, applied.error(), failed);
                }
                if (++open >= 100) {
                    BUNRAKU_TRY_VOID(transaction->commit());
                    transaction.reset();
                    open = 0;
                }
                show();
                return {};
            }));
        if (transaction) value_of(transaction->commit());
    }
    progress.clear();
    std::size_t bad = failed.catalogs + failed.facts + failed.reports + failed.others;
    fmt::print("Imported {} catalogs, {} factsets, {} reports and {} others{}\n",
               figures.catalogs - failed.catalogs, figures.facts - failed.facts,
               figures.reports - failed.reports, figures.others - failed.others,
               bad > 0 ? fmt::format("; {} could not be", bad) : "");
    return bad > 0 ? 1 : 0;
}

int status(const config::Settings& settings, const Flags& flags) {
    std::string where = database_of(settings, flags), queue = queue_of(settings, flags);
    auto db = open_reading(where);
    store::StoreFigures f = value_of(store::store_figures(*db));
    auto waiting = value_of(store::Queue::inspect(queue));
    auto dead = value_of(store::Queue::dead_letters(queue));
    if (flags.json) {
        std::string out = "{\"database\":";
        codec::append_json_string(out, db->path());
        fmt::print(
            "{},\"bytes\":{},\"nodes\":{},\"inactive_nodes\":{},\"resources\":{},"
            "\"distinct_resources\":{},\"facts\":{},\"distinct_facts\":{},\"reports\":{},"
            "\"events\":{},\"packages\":{},\"queue_depth\":{},\"dead_letters\":{}}}\n",
            out, f.bytes, f.nodes, f.inactive, f.resources, f.distinct_resources, f.facts,
            f.distinct_facts, f.reports, f.events, f.packages, waiting.size(), dead.size());
        return 0;
    }
    fmt::print("Database:      {} ({:.1f} MiB)\n", db->path(),
               static_cast<double>(f.bytes) / 1048576);
    fmt::print("Nodes:         {} active, {} inactive\n", f.nodes, f.inactive);
    fmt::print("Resources:     {}, {} distinct\n", f.resources, f.distinct_resources);
    fmt::print("Facts:         {}, {} distinct\n", f.facts, f.distinct_facts);
    fmt::print("Reports:       {} with {} events\n", f.reports, f.events);
    fmt::print("Packages:      {} distinct\n", f.packages);
    fmt::print("Queue:         {} waiting, {} dead letters\n", waiting.size(), dead.size());
    return 0;
}

int compact(const config::Settings& settings, const Flags& flags) {
    std::int64_t before = 0, after = 0;
    if (const auto server = running(settings, flags)) {
        const std::string answer = value_of(server->admin("compact", "[]"));
        before = number_in(answer, "before");
        after = number_in(answer, "after");
    } else {
        auto writer = open_writing(settings, flags);
        before = value_of(store::store_figures(writer->db())).bytes;
        value_of(store::compact(writer->db()));
        after = value_of(store::store_figures(writer->db())).bytes;
    }
    fmt::print("{:.1f} MiB, {:.1f} MiB before\n", static_cast<double>(after) / 1048576,
               static_cast<double>(before) / 1048576);
    return 0;
}

int list_queue(const config::Settings& settings, const Flags& flags) {
    auto waiting = value_of(store::Queue::inspect(queue_of(settings, flags)));
    for (const auto& c : waiting) {
        fmt::print("{:<10} {} {:<24} v{} {:>9} {}\n", c.id,
                   catalog::format_wire_time(c.header.received), store::command_name(c.header.kind),
                   c.header.version, c.size, c.header.certname);
    }
    return 0;
}

int dead_letters(const config::Settings& settings, const Flags& flags) {
    std::string folder = queue_of(settings, flags);
    std::string action = flags.words.empty() ? "list" : flags.words[0];
    std::vector<std::string> names(flags.words.begin() + (flags.words.empty() ? 0 : 1),
                                   flags.words.end());
    auto letters = value_of(store::Queue::dead_letters(folder));
    const auto secrets = secrets_of(settings);
    if (action == "list") {
        for (const auto& d : letters) {
            fmt::print("{}\n    {} v{} for {}, failed {} after {} attempt{}\n    {}\n", d.name,
                       store::command_name(d.header.kind), d.header.version, d.header.certname,
                       time_or_dash(d.failed_at), d.attempts, d.attempts == 1 ? "" : "s", d.reason);
        }
        return 0;
    }
    if (action != "show" && action != "resubmit" && action != "drop") {
        throw usage_error("db",
                          "usage: db dead-letters [list | (show | resubmit | drop) NAME...|all]");
    }
    if (names.empty())
        throw usage_error("db", fmt::format("usage: db dead-letters {} NAME...|all", action));
    if (names.size() == 1 && names[0] == "all") {
        names.clear();
        for (const auto& d : letters) names.push_back(d.name);
    }
    for (const std::string& name : names) {
        if (action == "show") {
            auto at = std::find_if(letters.begin(), letters.end(),
                                   [&](const auto& d) { return d.name == name; });
            if (at == letters.end()) throw base::plain_error("No such dead letter: " + name);
            fmt::print(stderr, "{}\n", at->reason);
            fmt::print("{}\n",
                       value_of(store::Queue::dead_letter_body(folder, name, secrets.get())));
        } else if (action == "resubmit") {
            value_of(store::Queue::resubmit(folder, name));
            fmt::print("Resubmitted {}\n", name);
        } else {
            value_of(store::Queue::drop(folder, name));
            fmt::print("Dropped {}\n", name);
        }
    }
    return 0;
}

/// Lists or changes the keys that encrypt Sensitive values.
int keys(const config::Settings& settings, const Flags& flags) {
    const auto secrets = secrets_of(settings);
    const std::string action = flags.words.empty() ? "list" : flags.words[0];
    if (flags.words.size() > 1 || (action != "list" && action != "rotate" && action != "adopt"))
        throw usage_error("db", "usage: db key [list | rotate | adopt]");
    if (action == "list") {
        if (::access(secrets->path().c_str(), F_OK) != 0)
            throw base::plain_error(fmt::format("The key file {} does not exist", secrets->path()));
        for (const std::uint64_t number : value_of(secrets->numbers()))
            fmt::print("{:016x}\n", number);
    } else if (action == "rotate") {
        fmt::print("Created key {:016x}: the server uses it after its next start\n",
                   value_of(secrets->rotate()));
    } else if (const auto server = running(settings, flags)) {
        fmt::print("{} encrypted values given up\n",
                   number_in(value_of(server->admin("adopt_key", "[]")), "given_up"));
    } else {
        auto writer = open_writing(settings, flags);
        fmt::print("{} encrypted values given up\n", value_of(store::adopt_key(*writer)));
    }
    return 0;
}

struct Action {
    std::string_view name;
    int (*run)(const config::Settings&, const Flags&);
};
constexpr Action kActions[] = {
    {"export", export_archive},
    {"import", import_file},
    {"status", status},
    {"compact", compact},
    {"queue", list_queue},
    {"dead-letters", dead_letters},
    {"key", keys},
};

int run_db(Invocation& invocation) {
    if (!invocation.args.empty() && invocation.args[0] == "query") return run_db_query(invocation);
    Flags flags;
    OptionParser options(invocation);
    options.value("database", &flags.database);
    options.value("queue", &flags.queue);
    options.value("url", &flags.url);
    options.value("anonymization", &flags.anonymization);
    options.flag("json", &flags.json);
    if (!options.parse(&flags.words)) return options.exit_code();
    std::string action;
    if (!flags.words.empty()) {
        action = flags.words[0];
        flags.words.erase(flags.words.begin());
    }
    while (flags.url.ends_with('/')) flags.url.pop_back();
    try {
        if (!flags.url.empty() && action != "import" && action != "export") {
            throw base::plain_error("--url is for import and export only");
        }
        bool alone = action == "status" || action == "compact" || action == "queue";
        if (alone && !flags.words.empty()) {
            throw usage_error("db", fmt::format("usage: db {}; there is nothing to do with '{}'",
                                                action, flags.words[0]));
        }
        for (const Action& a : kActions) {
            if (a.name == action) return a.run(invocation.settings, flags);
        }
    } catch (const base::PuppetError& error) {
        report_error(*make_console_sink(options), error, "");
        return 1;
    }
    fmt::print(stderr,
               "Error: usage: {} db (query PQL | import FILE | export FILE | status | compact | "
               "queue | dead-letters | key ..)\n{}\n",
               invocation.program, usage_hint("db", invocation.program));
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(db){.name = "db",
                    .summary = "Query, export, import and maintain the store.",
                    .run = run_db,
                    .run_mode = "server"};

}  // namespace bunraku::cli
