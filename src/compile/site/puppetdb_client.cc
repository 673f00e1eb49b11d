// SPDX-License-Identifier: Apache-2.0
#include "compile/site/puppetdb_client.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "net/http/url.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::site {

using base::failure;
using base::Level;
using base::Result;
using compiler::CollectorQuery;
using compiler::ExportedResource;
using value::Value;

namespace {

bool is_word(std::string_view s) {
    return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

Result<std::vector<std::string>> read_urls(std::string_view list) {
    std::vector<std::string> out;
    while (!list.empty()) {
        auto comma = list.find(',');
        auto text = std::string(base::trim(list.substr(0, comma), " \t\r\n"));
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
        if (text.empty()) continue;
        auto url = http::parse_url(text);
        if (!text.starts_with("https:"))
            return failure(fmt::format("PuppetDB 'server_urls' must be https, found '{}'", text));
        if (!url) {
            return failure(
                fmt::format("Error parsing URL '{}' in PuppetDB 'server_urls', error "
                            "message was '{}'",
                            text, url.error().message));
        }
        if (url->target != "/") {
            return failure(
                fmt::format("PuppetDB 'server_urls' cannot contain URL paths, found '{}'", text));
        }
        out.push_back(url->origin());
    }
    return out;
}

Result<bool> read_boolean(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return failure(fmt::format("invalid value for Boolean: \"{}\"", text));
}

int read_number(std::string_view text) {
    int out = 0;  // like Ruby's to_i: text that is not a number is 0
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& t : texts) out += (out.empty() ? "" : ", ") + t;
    return out;
}

std::string compare_json(const CollectorQuery& q) {
    std::string value;
    std::string field;
    if (q.attribute == "tag") {
        field = "\"tag\"";
        std::string text = catalog::plain_text(q.operand);
        // Tags are case-insensitive; PuppetDB stores them in lower case.
        for (char& c : text)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
        value = codec::json_string(text);
    } else {
        field = q.attribute == "title"
                    ? "\"title\""
                    : fmt::format("[\"parameter\",{}]", codec::json_string(q.attribute));
        catalog::append_json_value(value, q.operand, catalog::ValueForm::Stringified);
    }
    auto out = fmt::format("[\"=\",{},{}]", field, value);
    return q.kind == CollectorQuery::Kind::NotEqual ? fmt::format("[\"not\",{}]", out) : out;
}

std::string query_json(const CollectorQuery& q) {
    if (q.kind == CollectorQuery::Kind::Equal || q.kind == CollectorQuery::Kind::NotEqual)
        return compare_json(q);
    return fmt::format("[\"{}\",{},{}]", q.kind == CollectorQuery::Kind::And ? "and" : "or",
                       query_json(*q.left), query_json(*q.right));
}

std::string text_of(const Value& hash, std::string_view name) {
    const auto* v = hash.as_hash().find(name);
    return v && v->is_string() ? std::string(v->as_string()) : std::string();
}

/// Returns "[404 Not Found] body" on one line.
std::string refusal_text(const http::ClientResponse& response) {
    std::string body = response.body;
    std::erase_if(body, [](char c) { return c == '\r' || c == '\n'; });
    return fmt::format("[{} {}] {}", response.status, http::reason(response.status), body);
}

std::string underscored(std::string_view command) {
    std::string out(command);
    std::replace(out.begin(), out.end(), ' ', '_');
    return out;
}

http::ClientOptions with(http::ClientOptions options, const PuppetdbConfig& config) {
    auto limit = std::chrono::seconds(std::max(1, config.server_url_timeout));
    options.connect_timeout = limit;
    options.timeout = limit;
    if (!config.verify_client_certificate) {
        // Verifies only the server; sends no client certificate.
        options.certificate_file.clear();
        options.private_key_file.clear();
    }
    return options;
}

}  // namespace

Result<PuppetdbConfig> PuppetdbConfig::parse(std::string_view text, const std::string& name) {
    PuppetdbConfig out;
    std::string section;
    int number = 0;
    while (!text.empty()) {
        auto end = text.find('\n');
        auto raw = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        number++;
        auto line = base::trim(raw, " \t\r\n");
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line.starts_with('[') && line.ends_with(']')) {
            section = base::trim(line.substr(1, line.size() - 2), " \t\r\n");
            continue;
        }
        auto equals = line.find('=');
        auto key = base::trim(line.substr(0, equals), " \t\r\n");
        auto value = equals == std::string_view::npos
                         ? std::string_view()
                         : base::trim(line.substr(equals + 1), " \t\r\n");
        if (!is_word(key) || value.empty()) {
            return failure(
                fmt::format("Unparseable line '{}' in PuppetDB config {}:{}", raw, name, number));
        }
        if (section.empty()) {
            return failure(
                fmt::format("Setting '{}' is illegal outside of section in PuppetDB config {}:{}",
                            raw, name, number));
        }
        if (section != "main") continue;
        if (key == "server_urls") out.server_urls = BUNRAKU_TRY(read_urls(value));
        if (key == "submit_only_server_urls")
            out.submit_only_server_urls = BUNRAKU_TRY(read_urls(value));
        if (key == "server_url_timeout") out.server_url_timeout = read_number(value);
        if (key == "min_successful_submissions")
            out.min_successful_submissions = read_number(value);
        for (const auto& [setting, flag] :
             {std::pair{"soft_write_failure", &out.soft_write_failure},
              std::pair{"command_broadcast", &out.command_broadcast},
              std::pair{"sticky_read_failover", &out.sticky_read_failover},
              std::pair{"include_unchanged_resources", &out.include_unchanged_resources},
              std::pair{"include_catalog_edges", &out.include_catalog_edges},
              std::pair{"verify_client_certificate", &out.verify_client_certificate}}) {
            if (key == setting) *flag = BUNRAKU_TRY(read_boolean(value));
        }
    }
    if (out.soft_write_failure && out.min_successful_submissions > 1) {
        return failure(
            "soft_write_failure cannot be enabled when min_successful_submissions is "
            "greater than 1");
    }
    std::string both;
    for (const auto& u : out.server_urls) {
        if (std::find(out.submit_only_server_urls.begin(), out.submit_only_server_urls.end(), u) !=
            out.submit_only_server_urls.end()) {
            both += (both.empty() ? "" : ", ") + codec::json_string(u);
        }
    }
    if (!both.empty()) {
        return failure(
            fmt::format("Server URLs must be in either server_urls or "
                        "submit_only_server_urls, not both. ([{}] are in both)",
                        both));
    }
    if (out.min_successful_submissions > 1 && !out.command_broadcast)
        return failure("command_broadcast must be set to true to use min_successful_submissions");
    if (out.min_successful_submissions > static_cast<int>(out.server_urls.size())) {
        return failure(
            fmt::format("min_successful_submissions ({}) must be less than or equal to "
                        "the number of server_urls ({})",
                        out.min_successful_submissions, out.server_urls.size()));
    }
    return out;
}

// Returns the form that PuppetDB's terminus sends (Puppet::Resource::Puppetdb).
std::string collector_query_json(std::string_view type, const CollectorQuery* query,
                                 std::string_view except_certname) {
    auto out = fmt::format(
        "[\"and\",[\"=\",\"type\",{}],[\"=\",\"exported\",true],[\"not\",[\"=\",\"certname\",{}]]",
        codec::json_string(type), codec::json_string(except_certname));
    if (query) out += "," + query_json(*query);
    return out + "]";
}

PuppetdbClient::PuppetdbClient(PuppetdbConfig config, http::ClientOptions tls, base::LogSink& log)
    : config_(std::move(config)), client_(with(std::move(tls), config_)), log_(log) {}

PuppetdbClient::~PuppetdbClient() = default;

std::optional<http::ClientResponse> PuppetdbClient::ask(const std::string& url,
                                                        const std::string& path,
                                                        http::ClientRequest& request,
                                                        bool* not_found) {
    constexpr std::string_view kNext =
        "Failing over to the next PuppetDB server_url in the 'server_urls' list";
    request.url = url + path;
    auto parsed = http::parse_url(url);
    std::string where =
        parsed ? fmt::format("{} on {}", parsed->host, parsed->port) : fmt::format("{}", url);
    auto response = client_.send(request);
    if (!response) {
        if (response.error().code == ETIMEDOUT) {
            log_.log(Level::Warning,
                     fmt::format("Request to {} at route {} timed out after {} seconds. {}", where,
                                 request.url, config_.server_url_timeout, kNext));
        } else {
            log_.log(Level::Warning,
                     fmt::format("Error connecting to {} at route {}, error "
                                 "message received was '{}'. {}",
                                 where, request.url, response.error().message, kNext));
        }
        return std::nullopt;
    }
    // A 404 without JSON is from another service, or from a server that is still starting.
    bool honest_404 = response->status == 404 && response->body.starts_with('{');
    if (response->status >= 500 || response->status == 404) {
        log_.log(honest_404 ? Level::Debug : Level::Warning,
                 fmt::format("{} {} at route {}, error message received was '{}'. {}",
                             honest_404 ? "HTTP 404 (probably normal) when connecting to"
                                        : "Error connecting to",
                             where, request.url, http::reason(response->status), kNext));
        *not_found = honest_404;
        return std::nullopt;
    }
    return std::move(*response);
}

Result<http::ClientResponse> PuppetdbClient::action(Mode mode, const std::string& path,
                                                    http::ClientRequest request) {
    auto urls = config_.server_urls;
    bool broadcast = mode == Mode::Command && config_.command_broadcast;
    if (mode == Mode::Command) {
        urls.insert(urls.end(), config_.submit_only_server_urls.begin(),
                    config_.submit_only_server_urls.end());
    }
    std::size_t first = mode == Mode::Query && config_.sticky_read_failover ? last_good_ : 0;
    std::optional<http::ClientResponse> last;
    int successes = 0;
    bool not_found = false;
    for (std::size_t i = 0; i < urls.size(); i++) {
        std::size_t at = (first + i) % urls.size();
        not_found = false;
        auto response = ask(urls[at], path, request, &not_found);
        if (!response) continue;
        last = std::move(response);
        successes++;
        if (broadcast) continue;
        if (i > 0 && mode == Mode::Query) last_good_ = at;
        break;
    }
    if (last && (!broadcast || successes >= config_.min_successful_submissions))
        return std::move(*last);
    auto servers = joined(config_.server_urls);
    if (not_found) {
        return failure(fmt::format("Failed to find '{}' on any of the following 'server_urls': {}",
                                   path, servers),
                       404);
    }
    return failure(
        fmt::format("Failed to execute '{}' on at least {} of the following 'server_urls': {}",
                    path, config_.min_successful_submissions, servers),
        EHOSTUNREACH);
}

Result<std::vector<ExportedResource>> PuppetdbClient::find(std::string_view type,
                                                           const CollectorQuery* query,
                                                           std::string_view except_certname,
                                                           base::Arena& arena,
                                                           const value::TypedFactory&) {
    http::ClientRequest request;
    request.headers.add("Accept", "application/json");
    auto response = BUNRAKU_TRY(
        action(Mode::Query,
               "/pdb/query/v4/resources?query=" +
                   http::percent_encode(collector_query_json(type, query, except_certname)),
               std::move(request)));
    auto bad = [&](const std::string& why) {
        return failure(fmt::format("Could not retrieve resources from the PuppetDB at {}: {}",
                                   response.url.substr(0, response.url.find("/pdb/")), why));
    };
    if (response.status != 200) return bad(refusal_text(response));
    auto rows = value::parse_json(arena, response.body);
    if (!rows) return bad(rows.error().message);
    if (!rows->is_array()) return bad("the response is not an array");
    std::vector<ExportedResource> out;
    for (const auto& row : rows->as_array()) {
        if (!row.is_hash()) return bad("the answer holds something else than resources");
        ExportedResource found;
        found.certname = text_of(row, "certname");
        found.resource.ref = {text_of(row, "type"), text_of(row, "title")};
        found.resource.exported = true;
        found.resource.file = text_of(row, "file");
        if (const auto* line = row.as_hash().find("line"); line && line->is_integer())
            found.resource.line = static_cast<int>(line->as_integer());
        if (const auto* tags = row.as_hash().find("tags"); tags && tags->is_array()) {
            for (const auto& tag : tags->as_array())
                if (tag.is_string()) found.resource.tags.emplace_back(tag.as_string());
        }
        if (const auto* parameters = row.as_hash().find("parameters");
            parameters && parameters->is_hash()) {
            for (const auto& e : parameters->as_hash()) {
                if (e.key.is_string() && !e.value.is_undef())
                    found.resource.parameters.push_back({std::string(e.key.as_string()), e.value});
            }
        }
        out.push_back(std::move(found));
    }
    std::sort(out.begin(), out.end(), [](const ExportedResource& a, const ExportedResource& b) {
        return std::tie(a.certname, a.resource.ref.type, a.resource.ref.title) <
               std::tie(b.certname, b.resource.ref.type, b.resource.ref.title);
    });
    return out;
}

Result<Value> PuppetdbClient::query(const Value& query, base::Arena& arena) {
    http::ClientRequest request;
    request.method = "POST";
    request.headers.add("Accept", "application/json");
    request.headers.add("Content-Type", "application/json; charset=UTF-8");
    request.body = "{\"query\":";
    catalog::append_json_value(request.body, query, catalog::ValueForm::Stringified);
    request.body += '}';
    auto response = BUNRAKU_TRY(action(Mode::Query, "/pdb/query/v4", std::move(request)));
    // The terminus parses any response as JSON and fails on an error page. The text of the response
    // is more useful.
    if (response.status != 200) return failure(refusal_text(response));
    return value::parse_json(arena, response.body);
}

Result<void> PuppetdbClient::submit(std::string_view command, int version,
                                    const std::string& certname, std::int64_t producer_timestamp,
                                    const std::string& payload) {
    http::ClientRequest request;
    request.method = "POST";
    request.headers.add("Accept", "application/json");
    request.headers.add("Content-Type", "application/json; charset=utf-8");
    request.headers.add("X-Uncompressed-Length", std::to_string(payload.size()));
    if (payload.size() > 1024) {
        request.headers.add("Content-Encoding", "gzip");
        request.body = http::gzip(payload);
    } else {
        request.body = payload;
    }
    auto name = underscored(command);
    auto path = fmt::format(
        "/pdb/cmd/v1?checksum={}&version={}&certname={}&command={}&producer-timestamp={}",
        codec::hex_digest(codec::DigestKind::Sha1, payload), version,
        http::percent_encode(certname), name,
        http::percent_encode(catalog::format_wire_time(producer_timestamp)));
    auto answer = action(Mode::Command, path, std::move(request));
    std::string problem;
    int status = 0;
    if (!answer) {
        problem = answer.error().message;
    } else if (answer->status < 200 || answer->status > 299) {
        problem = refusal_text(*answer);
        status = answer->status;
    } else {
        base::Arena arena;
        auto body = value::parse_json(arena, answer->body);
        log_.log(
            Level::Info,
            fmt::format("'{}' command for {} submitted to PuppetDB with UUID {}", name, certname,
                        body && body->is_hash() ? text_of(*body, "uuid") : std::string()));
        return {};
    }
    if (!config_.soft_write_failure) return failure(problem, status);
    log_.log(Level::Err, fmt::format("'{}'command for {} failed during submission to PuppetDB: {}",
                                     name, certname, problem));
    return {};
}

}  // namespace bunraku::site
