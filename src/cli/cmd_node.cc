// SPDX-License-Identifier: Apache-2.0
// `node status`, `node list`, `node deactivate` and `node purge`: show and change the nodes in the
// store.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/site/running_store.h"
#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "services/agent/node_actions.h"
#include "store/db/command.h"
#include "store/db/database.h"
#include "store/engine/store.h"

namespace bunraku::cli {

namespace {

using store::NodeStatus;

template <class T>
T value_of(base::Result<T> result) {
    if (!result) throw base::plain_error(result.error().message);
    return std::move(*result);
}

/// Returns null if the store does not exist. Then no nodes are known, and a query does not create a
/// store.
std::unique_ptr<store::Store> open_store(const config::Settings& settings, const std::string& path,
                                         bool read_only) {
    if (!store::is_postgresql_url(path) && ::access(path.c_str(), F_OK) != 0) return nullptr;
    return value_of(store::Store::open(
        path, {.read_only = read_only, .key_file = site::store_key_of(settings)}));
}

void append_time(std::string& out, const std::optional<std::int64_t>& time) {
    if (time) {
        codec::append_json_string(out, catalog::format_wire_time(*time));
    } else {
        out += "null";
    }
}

std::string as_json(const NodeStatus& n) {
    std::string out = "{\"certname\":";
    codec::append_json_string(out, n.certname);
    out += ",\"deactivated\":";
    append_time(out, n.deactivated);
    out += ",\"expired\":";
    append_time(out, n.expired);
    out += ",\"catalog_timestamp\":";
    append_time(out, n.catalog_timestamp);
    out += ",\"catalog_environment\":";
    if (n.catalog_environment.empty()) {
        out += "null";
    } else {
        codec::append_json_string(out, n.catalog_environment);
    }
    out += fmt::format(",\"resources\":{},\"exported\":{},\"facts_timestamp\":", n.resources,
                       n.exported);
    append_time(out, n.facts_timestamp);
    out += ",\"report_timestamp\":";
    append_time(out, n.report_timestamp);
    out += ",\"latest_report_status\":";
    if (n.report_status.empty()) {
        out += "null";
    } else {
        codec::append_json_string(out, n.report_status);
    }
    out += '}';
    return out;
}

void print_json(const std::vector<NodeStatus>& nodes) {
    std::string out = "[";
    for (const NodeStatus& n : nodes) {
        if (out.size() > 1) out += ",\n ";
        out += as_json(n);
    }
    fmt::print("{}]\n", out);
}

/// Formats a status like PuppetDB's `puppet node status`.
std::string as_text(const NodeStatus& n) {
    std::string out = n.certname + "\n";
    if (n.deactivated) {
        out += "Deactivated at " + catalog::format_wire_time(*n.deactivated);
    } else if (n.expired) {
        out += "Expired at " + catalog::format_wire_time(*n.expired);
    } else {
        out += "Currently active";
    }
    out += '\n';
    if (n.catalog_timestamp) {
        out += fmt::format("Last catalog: {}\n", catalog::format_wire_time(*n.catalog_timestamp));
        out += fmt::format("Resources: {}, exported: {}", n.resources, n.exported);
    } else {
        out += "No catalog received";
    }
    if (n.facts_timestamp) {
        out += "\nLast facts: " + catalog::format_wire_time(*n.facts_timestamp);
    }
    if (n.report_timestamp) {
        out += fmt::format("\nLast report: {}{}", catalog::format_wire_time(*n.report_timestamp),
                           n.report_status.empty() ? "" : ", " + n.report_status);
    }
    return out;
}

int status(const config::Settings& settings, const std::string& database,
           const std::vector<std::string>& names, bool json) {
    if (names.empty()) throw base::plain_error("Please provide at least one node");
    auto store = open_store(settings, database, true);
    std::vector<NodeStatus> known;
    std::string text;
    for (const std::string& name : names) {
        std::optional<NodeStatus> node;
        if (store) node = value_of(store->node(name));
        if (!text.empty()) text += "\n\n";
        text += node ? as_text(*node) : name + "\nNo information known";
        if (node) known.push_back(std::move(*node));
    }
    if (json) {
        print_json(known);
    } else {
        fmt::print("{}\n", text);
    }
    return 0;
}

int list(const config::Settings& settings, const std::string& database, bool all, bool json) {
    auto store = open_store(settings, database, true);
    std::vector<NodeStatus> nodes;
    if (store) nodes = value_of(store->nodes(!all));
    if (json) {
        print_json(nodes);
        return 0;
    }
    for (const NodeStatus& n : nodes) {
        fmt::print("{}{}\n", n.certname, n.active() ? "" : " (inactive)");
    }
    return 0;
}

/// Deactivates or purges a known node through the server that owns the store.
base::Result<void> change_by(site::RunningStore& server, bool purge, const std::string& name) {
    std::string payload = "{\"certname\":" + codec::json_string(name);
    if (purge) {
        BUNRAKU_TRY(server.admin("delete", payload + "}"));
        return {};
    }
    const auto now = store::now_ms();
    return server.submit(
        {.kind = store::CommandKind::DeactivateNode,
         .version = 3,
         .certname = name,
         .received = now,
         .producer_timestamp = now},
        fmt::format("{},\"producer_timestamp\":\"{}\"}}", payload, catalog::format_wire_time(now)));
}

/// Processes every node. The exit code shows whether all were known.
int change(const config::Settings& settings, const std::string& database, const std::string& action,
           const std::vector<std::string>& names) {
    bool purge = action == "purge";
    if (names.empty()) {
        throw base::plain_error(purge ? "Please provide at least one node to purge"
                                      : "Please provide at least one node for deactivation");
    }
    const auto server = value_of(site::RunningStore::find(database));
    auto store = open_store(settings, database, server != nullptr);
    int code = 0;
    for (const std::string& name : names) {
        bool done = false;
        if (store && server) {
            done = value_of(store->node(name)).has_value();
            if (auto changed = done ? change_by(*server, purge, name) : base::Result<void>{};
                !changed) {
                throw base::plain_error(changed.error().message);
            }
        } else if (store) {
            done = value_of(purge ? store->purge_node(name)
                                  : store->deactivate_node(name, store::now_ms()));
        }
        if (done) {
            fmt::print("{} {}\n", purge ? "Purged" : "Deactivated", name);
        } else {
            fmt::print(stderr, "Error: No information is known about node {}\n", name);
            code = 1;
        }
    }
    return code;
}

void check_format(const std::string& format) {
    if (!format.empty() && format != "console" && format != "json" && format != "yaml")
        throw base::plain_error(fmt::format("I don't know how to render '{}'", format));
}

int run_node(Invocation& invocation) {
    bool json = false, all = false;
    std::string database, terminus, format;
    OptionParser options(invocation);
    options.value("terminus", &terminus);
    options.value("render-as", &format);
    options.flag("json", &json);
    options.flag("all", &all);
    options.value("database", &database);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    std::string action;
    if (!words.empty()) {
        action = words[0];
        words.erase(words.begin());
    }
    database = site::database_of(invocation.settings, database);
    const std::string& program = invocation.program;
    static constexpr std::string_view kFace[] = {"clean", "find", "info"};
    if (std::ranges::find(kFace, action) != std::end(kFace)) {
        // Puppet's own actions use Puppet's log format.
        auto log = make_console_sink(options, Streams::Puppet);
        try {
            check_format(format);
            if (action == "clean")
                return agent::clean_nodes(invocation.settings, invocation.program, words, *log);
            const std::size_t most = action == "find" ? 1 : 0;
            if (words.size() > most) {
                throw base::plain_error(
                    fmt::format("{} node {} takes {} argument{}, but you gave {}", program, action,
                                most, most == 1 ? "" : "s", words.size()));
            }
            if (action == "info") {
                fmt::print("Run mode 'user': {}\n",
                           terminus.empty() ? invocation.settings.text("node_terminus") : terminus);
            } else {
                const auto out = agent::find_node(
                    invocation.settings, site_options(*log),
                    words.empty() ? invocation.settings.text("certname") : words[0], terminus,
                    format, *log);
                std::fwrite(out.data(), 1, out.size(), stdout);
            }
            return 0;
        } catch (const base::PuppetError& error) {
            report_error(*log, error, "");
            log->log(base::Level::Err,
                     fmt::format("Try '{} help node {}' for usage", program, action));
            return 1;
        }
    }
    try {
        check_format(format);
        if (format == "yaml") throw base::plain_error("I don't know how to render 'yaml'");
        json = json || format == "json";
        if (action == "status") return status(invocation.settings, database, words, json);
        if (action == "list") return list(invocation.settings, database, all, json);
        if (action == "deactivate" || action == "purge") {
            return change(invocation.settings, database, action, words);
        }
    } catch (const base::PuppetError& error) {
        report_error(*make_console_sink(options), error, "");
        return 1;
    }
    make_console_sink(options, Streams::Puppet)
        ->log(
            base::Level::Err,
            action.empty()
                ? fmt::format("'node' has no default action.  See `{} help node`.", program)
                : fmt::format("'node' has no '{}' action.  See `{} help node`.", action, program));
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(node){.name = "node",
                      .summary = "Show, deactivate and purge the nodes in the store.",
                      .run = run_node,
                      .run_mode = "server"};

}  // namespace bunraku::cli
