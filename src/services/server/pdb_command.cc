// SPDX-License-Identifier: Apache-2.0
#include "services/server/pdb_command.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <sys/random.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/uuid.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "services/server/json_answers.h"
#include "services/server/pdb_access.h"
#include "store/db/command_fields.h"
#include "store/engine/store.h"

namespace bunraku::server {

namespace {

using http::Request;
using http::Response;
using store::CommandHeader;
using store::CommandKind;

/// Formats a text as in PuppetDB's messages.
std::string shown(const std::string* text) { return text ? codec::json_string(*text) : "nil"; }

std::string all_commands() {
    std::vector<std::string> names;
    for (CommandKind kind : store::kCommandKinds) names.emplace_back(store::command_name(kind));
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
}

bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

/// Returns the media type without parameters, in lower case.
std::string media_type(std::string_view header) {
    std::string out = base::lower(header.substr(0, header.find(';')));
    std::erase_if(out, [](char c) { return c == ' ' || c == '\t'; });
    return out;
}

/// The content of a request in either form.
struct Submission {
    std::map<std::string, std::string> params;
    /// parameters given several times, in the format of messages
    std::map<std::string, std::string> repeated;
    std::string body;
    bool version_is_number = false;
    long version = 0;
};

std::string invalid(const Submission& s, std::string_view why) {
    auto text = [&](const char* key) {
        auto list = s.repeated.find(key);
        if (list != s.repeated.end()) return list->second;
        auto at = s.params.find(key);
        return shown(at == s.params.end() ? nullptr : &at->second);
    };
    return fmt::format("Command {} for certname {} is invalid. {}", text("command"),
                       text("certname"), why);
}

bool is_version(long number) { return number <= 2147483647 && number >= -2147483647; }

/// Reads a body with {"command", "version", "payload"} and without parameters, the form of
/// PuppetDB 2.
std::optional<Response> read_old_form(Submission& s) {
    constexpr std::string_view kOld =
        "Command was submitted without query parameters (old format). ";
    bool has_payload = false, map = false, has_version = false;
    std::string payload;
    std::optional<std::string> certname;
    std::map<std::string, std::string> found;
    try {
        if (!codec::check_utf8(s.body).empty()) throw codec::JsonError{"not UTF-8"};
        codec::JsonCursor json(s.body);
        using Kind = codec::JsonCursor::Kind;
        if (json.kind() == Kind::Object) {
            json.enter_object();
            std::string_view raw;
            while (json.next_key(&raw)) {
                std::string key(raw);
                if (key == "payload") {
                    map = json.kind() == Kind::Object;
                    has_payload = json.kind() != Kind::Null;
                    payload.clear();
                    json.canonical(payload);
                } else if (key == "version" && json.kind() == Kind::Number) {
                    s.version = static_cast<long>(json.integer());
                    s.version_is_number = is_version(s.version);
                    has_version = true;
                } else if (json.kind() == Kind::String) {
                    if (key == "version") has_version = true;
                    found[key] = std::string(json.string());
                } else {
                    std::string ignored;
                    json.canonical(ignored);
                    if (ignored != "null") found[key] = ignored;
                }
            }
            json.finish();
        }
        if (map) {
            codec::JsonCursor inner(payload);
            inner.enter_object();
            std::string_view key;
            while (inner.next_key(&key)) {
                if (key == "certname" && inner.kind() == Kind::String) {
                    certname = std::string(inner.string());
                } else {
                    inner.skip();
                }
            }
        }
    } catch (const codec::JsonError&) {
        found.clear();
        certname.reset();
        has_payload = has_version = false;
    }
    // The payload's certname takes precedence.
    found.erase("certname");
    if (certname) found["certname"] = *certname;
    s.params = std::move(found);
    if (s.version_is_number) s.params["version"] = std::to_string(s.version);
    if (!s.params.contains("command") || !has_version || !has_payload) {
        return json_error(400, invalid(s, fmt::format("{}The request body must be a JSON map with "
                                                      "required keys: command, version, payload.",
                                                      kOld)));
    }
    if (!map) {
        return json_error(400,
                          invalid(s, fmt::format("{}The payload value must be a JSON map.", kOld)));
    }
    s.body = std::move(payload);
    return std::nullopt;
}

std::optional<Response> read_new_form(const Request& request, Submission& s) {
    for (const auto& [name, value] : request.query) {
        auto [at, first] = s.params.emplace(name, value);
        if (first) continue;
        std::string& list = s.repeated.emplace(name, codec::json_string(at->second)).first->second;
        list += ' ' + codec::json_string(value);
    }
    for (auto& [name, list] : s.repeated) list = '[' + list + ']';
    std::replace(s.params["command"].begin(), s.params["command"].end(), '_', ' ');
    auto version = s.params.find("version");
    if (version != s.params.end()) {
        const std::string& text = version->second;
        const auto number = base::parse_integer<decltype(s.version)>(text);
        s.version = number.value_or(s.version);
        s.version_is_number = number && !s.repeated.contains("version") && is_version(s.version);
    }
    return std::nullopt;
}

std::optional<Response> check(const Submission& s, CommandKind* kind) {
    // PuppetDB checks in this order, and reports a missing version as one that is not a number.
    constexpr std::string_view kKnown[] = {"checksum", "secondsToWaitForCompletion",
                                           "certname", "command",
                                           "version",  "producer-timestamp"};
    if (!s.params.contains("certname")) {
        return json_error(400, invalid(s, "Command is missing required parameters: certname."));
    }
    std::vector<std::string> odd;
    for (const auto& [name, value] : s.params) {
        if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
            odd.push_back(name);
        }
    }
    if (!odd.empty()) {
        return json_error(400, invalid(s, fmt::format("Command has invalid parameters: {}.",
                                                      fmt::join(odd, ", "))));
    }
    if (blank(s.params.at("certname")) || s.repeated.contains("certname")) {
        return json_error(400, invalid(s, "Certname must be a non-empty string."));
    }
    auto found = store::command_from_name(s.params.at("command"));
    if (!found || s.repeated.contains("command")) {
        return json_error(400,
                          invalid(s, fmt::format("Command must be one of: {}.", all_commands())));
    }
    *kind = *found;
    if (!s.version_is_number) {
        return json_error(400, invalid(s, "Version must be a valid integer."));
    }
    int oldest = store::oldest_version(*kind);
    if (s.version < oldest) {
        return json_error(
            400,
            invalid(s, fmt::format("Version {} of command {} is retired. The minimum "
                                   "supported version is {}.",
                                   s.version, codec::json_string(s.params.at("command")), oldest)));
    }
    return std::nullopt;
}

/// Reports whether a body, a JSON map, contains at least one `certname` and all of them have this
/// value.
bool is_about(const std::string& body, const std::string& certname) {
    using Kind = codec::JsonCursor::Kind;
    bool found = false;
    try {
        codec::JsonCursor json(body);
        if (json.kind() != Kind::Object) return false;
        json.enter_object();
        std::string_view key;
        while (json.next_key(&key)) {
            if (key != "certname") {
                json.skip();
                continue;
            }
            if (json.kind() != Kind::String || json.string() != certname) return false;
            found = true;
        }
        json.finish();
    } catch (const codec::JsonError&) {
        return false;
    }
    return found;
}

/// Reads the seconds of `secondsToWaitForCompletion`; 0 if it is absent. Returns false if it is not
/// a number.
bool waiting_time(const Submission& s, double* seconds) {
    *seconds = 0;
    auto at = s.params.find("secondsToWaitForCompletion");
    if (at == s.params.end()) return true;
    const std::string& text = at->second;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), *seconds);
    return failed == std::errc() && end == text.data() + text.size() && *seconds == *seconds;
}

/// Reports whether facts contain the trusted data of their node. False if the body is invalid.
bool has_trusted_data(const std::string& body) {
    using Kind = codec::JsonCursor::Kind;
    bool found = false;
    try {
        codec::JsonCursor json(body);
        json.enter_object();
        std::string_view key;
        while (json.next_key(&key)) {
            if (key != "values" || json.kind() != Kind::Object) {
                json.skip();
                continue;
            }
            json.enter_object();
            while (json.next_key(&key)) {
                found = found || key == "trusted";
                json.skip();
            }
        }
        json.finish();
    } catch (const codec::JsonError&) {
        return false;
    }
    return found;
}

/// Moves the decoded body of a request to `body`. Returns a response if the server does not accept
/// the headers or the size.
std::optional<Response> take_body(Request& request, std::uint64_t limit, std::string& body) {
    std::string encoding = base::lower(request.headers.get("Content-Encoding"));
    if (!encoding.empty() && encoding != "gzip" && encoding != "deflate" &&
        encoding != "identity") {
        return Response::text(415, fmt::format("content encoding {} not supported",
                                               request.headers.get("Content-Encoding")));
    }
    std::string_view announced = request.headers.get("X-Uncompressed-Length");
    std::uint64_t length = 0;
    std::from_chars(announced.data(), announced.data() + announced.size(), length);
    if (length > limit) {
        return Response::text(413, "Command rejected due to size exceeding max-command-size");
    }
    std::string type = media_type(request.headers.get("Content-Type"));
    if (request.method == "POST" && !type.empty() && type != "application/json") {
        return Response::text(415, fmt::format("content type {} not supported", type));
    }
    if (!accepts_json(request)) return Response::text(406, "must accept application/json");
    if (encoding.empty() || encoding == "identity") {
        body = std::move(request.body);
    } else {
        http::DecodedBody decoded = http::decoded_body(request, limit);
        if (decoded.status == 413) {
            return Response::text(413, "Command size exceeds max-command-size");
        }
        if (decoded.status != 0) return json_error(decoded.status, decoded.message);
        body = std::move(decoded.body);
    }
    if (body.size() > limit) return Response::text(413, "Command size exceeds max-command-size");
    return std::nullopt;
}

/// Returns a response if the client must not send this command. `only_itself` is true if the client
/// is a node that reaches only itself.
std::optional<Response> refuse_content(const Request& request, const Submission& s,
                                       const CommandHeader& header, bool only_itself) {
    const bool newest = (header.kind == CommandKind::ReplaceFacts && s.version >= 5) ||
                        (header.kind == CommandKind::StoreReport && s.version >= 8);
    if (newest && is_from_node_itself(request, header.certname) &&
        !is_about(s.body, header.certname)) {
        return json_error(
            400, invalid(s, "The payload's certname differs from the command's certname."));
    }
    // The trusted data describe a certificate, so only a server that verified it may send them.
    if (only_itself && header.kind == CommandKind::ReplaceFacts && has_trusted_data(s.body)) {
        return json_error(403, invalid(s, "A node must not send the fact 'trusted' itself."));
    }
    return std::nullopt;
}

Response not_queued(const base::Error& error) {
    int status = store::failure_of(error) == store::Failure::Other ? 500 : 503;
    Response refused = json_error(error.code == 0 ? 400 : status, error.message);
    if (status == 503) refused.headers.set("Retry-After", "10");
    return refused;
}

/// Waits for at most `seconds` until the command has been processed.
Response await_processing(store::Service& service, const store::Service::Ticket& ticket,
                          double seconds, const std::string& uuid) {
    auto timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 86400.0) * 1000));
    if (!service.wait(ticket, timeout)) {
        return Response::json(
            503, fmt::format("{{\"uuid\":\"{}\",\"processed\":false,\"timed_out\":true}}", uuid));
    }
    if (ticket.completion->state == store::Completion::State::Failed) {
        return Response::json(503, fmt::format("{{\"uuid\":\"{}\",\"processed\":true,\"timed_out\":"
                                               "false,\"error\":{},\"stack_trace\":[]}}",
                                               uuid, codec::json_string(ticket.completion->error)));
    }
    return Response::json(
        200, fmt::format("{{\"uuid\":\"{}\",\"processed\":true,\"timed_out\":false}}", uuid));
}

/// `only_itself` is true if the client is a node that reaches only itself.
Response submit(store::Service& service, Request& request, bool only_itself) {
    Submission s;
    if (auto bad = take_body(request, service.options().max_command_size, s.body)) return *bad;
    bool old_form = !request.query_value("command");
    if (auto bad = old_form ? read_old_form(s) : read_new_form(request, s)) return *bad;
    CommandHeader header;
    if (auto bad = check(s, &header.kind)) return *bad;
    if (request.method != "POST") return json_error(400, invalid(s, "Commands are made via POST."));
    double seconds = 0;
    if (!waiting_time(s, &seconds)) {
        return json_error(400, invalid(s, "secondsToWaitForCompletion must be a number."));
    }
    header.version = static_cast<int>(s.version);
    header.certname = s.params.at("certname");
    if (auto bad = refuse_content(request, s, header, only_itself)) return *bad;
    header.received = service.options().runtime->now_ms();
    auto stamp = s.params.find("producer-timestamp");
    if (stamp != s.params.end()) {
        header.producer_timestamp = store::parse_time(stamp->second).value_or(0);
    }
    std::string uuid = base::random_uuid();
    auto ticket = service.submit(header, std::move(s.body));
    if (!ticket) return not_queued(ticket.error());
    if (seconds <= 0) return Response::json(200, fmt::format("{{\"uuid\":\"{}\"}}", uuid));
    return await_processing(service, *ticket, seconds, uuid);
}

}  // namespace

void add_command_routes(http::Router& router, std::shared_ptr<store::Service> service,
                        std::function<bool(const Request&)> only_itself) {
    http::RouteOptions options;
    options.max_body = service->options().max_command_size;
    router.add(
        "*", "/pdb/cmd/v1", http::Access::listed(),
        [service, only_itself = std::move(only_itself)](Request& request) {
            return submit(*service, request, only_itself && only_itself(request));
        },
        options);
}

}  // namespace bunraku::server
