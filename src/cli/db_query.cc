// SPDX-License-Identifier: Apache-2.0
#include "cli/db_query.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/usage.h"
#include "compile/site/store_access.h"
#include "core/base/arena.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "core/value/yaml_document.h"
#include "net/http/client.h"
#include "resources/catalog/catalog_graph.h"
#include "store/engine/query_engine.h"
#include "store/query/pql.h"

namespace bunraku::cli {

namespace {

using query::Ast;

struct QueryFlags {
    std::string format, urls, database, cacert, cert, key, token;
};

void write_out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// --- output formats

/// Returns a value as one line: strings unchanged, everything else as JSON.
std::string cell(const Ast& v) {
    std::string out = v.is_text() ? v.as_text() : v.is_null() ? "" : query::to_json(v);
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    constexpr std::size_t kWidest = 60;
    if (out.size() > kWidest) {
        std::size_t cut = kWidest - 3;
        while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xc0) == 0x80) --cut;
        out = out.substr(0, cut) + "...";
    }
    return out;
}

std::size_t width(std::string_view s) {
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void print_table(const Ast& rows) {
    std::vector<std::string> names;
    for (const Ast& row : rows.items()) {
        for (const std::string& key : row.keys()) {
            if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
        }
    }
    // The columns are in the order of the response, except that certname is first.
    auto whose = std::find(names.begin(), names.end(), "certname");
    if (whose != names.end()) std::rotate(names.begin(), whose, whose + 1);
    // Rows that are not objects (such as fact names) make one column without a header.
    std::vector<std::vector<std::string>> cells;
    for (const Ast& row : rows.items()) {
        std::vector<std::string> line;
        if (!row.is_map()) line.push_back(cell(row));
        for (const std::string& name : names) {
            const Ast* v = row.find(name);
            line.push_back(v ? cell(*v) : "");
        }
        cells.push_back(std::move(line));
    }
    std::vector<std::size_t> widths;
    for (const std::string& name : names) widths.push_back(width(name));
    for (const auto& line : cells) {
        widths.resize(std::max(widths.size(), line.size()), 0);
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width(line[i]));
        }
    }
    auto print = [&](const std::vector<std::string>& line) {
        std::string out;
        for (std::size_t i = 0; i < line.size(); ++i) {
            out += line[i];
            if (i + 1 < line.size()) out.append(widths[i] - width(line[i]) + 2, ' ');
        }
        out += '\n';
        write_out(out);
    };
    if (!names.empty()) print(names);
    for (const auto& line : cells) print(line);
}

void print_rows(const std::string& json, const std::string& format) {
    if (format == "json") {
        write_out(json);
        write_out("\n");
        return;
    }
    if (format == "table") {
        const Ast rows = query::read_query_json(json, std::size_t{1} << 32);
        if (rows.is_array()) return print_table(rows);
    }
    base::Arena arena;
    const auto data = value::parse_json(arena, json);
    write_out(data ? value::yaml_document(*data, "---") : json);
}

// --- query targets

std::string ask_service(const Invocation& invocation, const QueryFlags& flags,
                        const std::string& query) {
    http::ClientOptions options;
    const config::Settings& settings = invocation.settings;
    auto file = [&](const std::string& given, config::SettingName setting) {
        if (!given.empty()) return given;
        std::string path = settings.text(setting);
        return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
    };
    options.ca_file = file(flags.cacert, "localcacert");
    options.proxies = http::ProxyRules::of_settings(settings);
    options.certificate_file = file(flags.cert, "hostcert");
    options.private_key_file = file(flags.key, "hostprivkey");
    if (options.certificate_file.empty() || options.private_key_file.empty()) {
        options.certificate_file.clear();
        options.private_key_file.clear();
    }
    http::Client client(options);
    http::ClientRequest request;
    request.method = "POST";
    request.headers.set("Content-Type", "application/json");
    request.headers.set("Accept", "application/json");
    if (!flags.token.empty()) request.headers.set("X-Authentication", flags.token);
    request.body = "{\"query\":";
    codec::append_json_string(request.body, query);
    request.body += '}';
    std::string rest = flags.urls, why = "no URL was given";
    while (!rest.empty()) {
        std::size_t comma = rest.find(',');
        std::string url = rest.substr(0, comma);
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        while (url.ends_with('/')) url.pop_back();
        if (!url.starts_with("http://") && !url.starts_with("https://")) url = "https://" + url;
        request.url = url + "/pdb/query/v4";
        auto response = client.send(request);
        if (!response) {
            why = response.error().message;
            continue;
        }
        if (response->status == 200) return std::move(response->body);
        why = response->body.empty() ? fmt::format("{} answered {}", url, response->status)
                                     : response->body;
        // An invalid query is invalid on every server.
        if (response->status < 500) break;
    }
    throw base::plain_error(why);
}

void ask_here(const Invocation& invocation, const QueryFlags& flags, const std::string& query) {
    std::string where = site::database_of(invocation.settings, flags.database);
    bool file = !store::is_postgresql_url(where);
    if (file && ::access(where.c_str(), R_OK) != 0) {
        throw base::plain_error(
            fmt::format("There is no store at {}: nothing has been stored yet", where));
    }
    store::QueryEngine engine(where);
    query::QueryOptions options;
    Ast ast =
        query::looks_like_ast(query) ? query::read_query_json(query) : query::parse_pql(query);
    query::FromQuery from = query::parse_from(query::root_query(std::move(ast)), options);
    if (flags.format != "json") {
        auto rows = engine.run(from.entity, from.query, options);
        if (!rows) throw base::plain_error(rows.error().message);
        return print_rows(*rows, flags.format);
    }
    auto cursor = engine.start(from.entity, from.query, options, ::isatty(1) == 1);
    if (!cursor) throw base::plain_error(cursor.error().message);
    std::string piece;
    for (;;) {
        piece.clear();
        auto more = (*cursor)->next(piece);
        if (!more) throw base::plain_error(more.error().message);
        if (!*more) break;
        write_out(piece);
    }
    write_out("\n");
}

}  // namespace

int run_db_query(Invocation& invocation) {
    QueryFlags flags;
    OptionParser options(invocation);
    options.value("format", &flags.format);
    options.value("urls", &flags.urls);
    options.value("puppetdb-url", &flags.urls);
    options.value("database", &flags.database);
    options.value("cacert", &flags.cacert);
    options.value("cert", &flags.cert);
    options.value("key", &flags.key);
    options.value("token", &flags.token);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    if (!words.empty() && words[0] == "query") words.erase(words.begin());
    try {
        if (words.size() != 1) {
            throw usage_error(
                "query",
                fmt::format("usage: {} db query [--format table|json|yaml] [--urls URL,..] "
                            "QUERY",
                            invocation.program));
        }
        if (flags.format.empty()) flags.format = ::isatty(1) == 1 ? "table" : "json";
        if (flags.format != "table" && flags.format != "json" && flags.format != "yaml") {
            throw base::plain_error(fmt::format(
                "Invalid value '{}' for --format: expected table, json or yaml", flags.format));
        }
        if (flags.urls.empty()) {
            ask_here(invocation, flags, words[0]);
        } else {
            print_rows(ask_service(invocation, flags, words[0]), flags.format);
        }
    } catch (const query::QueryError& e) {
        report_error(*make_console_sink(options), base::plain_error(e.message), "");
        return 1;
    } catch (const base::PuppetError& e) {
        report_error(*make_console_sink(options), e, "");
        return 1;
    }
    return 0;
}

}  // namespace bunraku::cli
