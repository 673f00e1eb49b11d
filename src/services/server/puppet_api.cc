// SPDX-License-Identifier: Apache-2.0
#include "services/server/puppet_api.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/msgpack.h"
#include "core/value/rich_data.h"
#include "language/environment/environment.h"

namespace bunraku::server {

using http::Request;
using http::Response;
using value::Value;

namespace {

std::string_view words_of(int status) {
    switch (status) {
        case 400: return "Bad Request: ";
        case 403: return "Not Authorized: ";
        case 404: return "Not Found: ";
        case 405: return "Method Not Allowed: ";
        case 406: return "Not Acceptable: ";
        case 415: return "Unsupported Media Type: ";
        default: return "Server Error: ";
    }
}

/// Returns the media types of an Accept header with their weights, best first.
std::vector<std::pair<std::string, double>> ranges_of(std::string_view accept) {
    std::vector<std::pair<std::string, double>> out;
    for (const std::string_view part : base::words(accept, ",")) {
        double weight = 1;
        auto semicolon = part.find(';');
        std::string type = base::lower(base::trim(part.substr(0, semicolon), " \t"));
        while (semicolon != std::string_view::npos) {
            const auto next = part.find(';', semicolon + 1);
            const auto option = base::trim(
                part.substr(semicolon + 1,
                            next == std::string_view::npos ? next : next - semicolon - 1),
                " \t");
            if (option.starts_with("q="))
                weight = std::strtod(std::string(option.substr(2)).c_str(), nullptr);
            semicolon = next;
        }
        if (!type.empty() && weight > 0) out.emplace_back(std::move(type), weight);
    }
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
}

/// Returns Puppet's name of a format, which old agents send (Puppet 8.11, network/formats.rb).
std::string_view format_name(std::string_view type) {
    if (type == "application/vnd.puppet.rich+json") return "rich_data_json";
    if (type == "application/json") return "json";
    if (type == kMsgpack) return "msgpack";
    if (type == kRichMsgpack) return "rich_data_msgpack";
    if (type == "text/pson") return "pson";
    return type == "application/octet-stream" ? "binary" : "";
}

/// Reports whether a range matches a type. "application/*" does not match any.
bool takes(std::string_view range, std::string_view type) {
    return range == "*/*" || range == type || range == format_name(type);
}

std::string_view best_of(std::string_view accept, std::span<const std::string_view> offered) {
    for (const auto& [range, weight] : ranges_of(accept)) {
        for (const auto type : offered)
            if (takes(range, type)) return type;
    }
    throw ApiError(406, fmt::format("No supported formats are acceptable (Accept: {})", accept),
                   "UNSUPPORTED_FORMAT");
}

constexpr std::string_view kDataFormats[] = {"application/json", "text/pson", kMsgpack};

}  // namespace

ApiError::ApiError(int status, std::string message, std::string issue)
    : status_(status),
      bare_(std::move(message)),
      message_(std::string(words_of(status)) + bare_),
      issue_(std::move(issue)) {}

Response ApiError::response() const {
    return Response::json(
        status_, fmt::format(R"({{"message":{},"issue_kind":{}}})", codec::json_string(message_),
                             codec::json_string(issue_)));
}

namespace {

Response retry_later(std::string_view message) {
    static std::atomic<unsigned> turn{0};
    Response out = Response::text(503, std::string(message));
    // The delay varies, so that the clients do not all return at the same time.
    out.headers.set("Retry-After", std::to_string(5 + turn++ * 7 % 55));
    return out;
}

}  // namespace

Response Overloaded::response() const {
    return retry_later("Too many requests are already waiting for a catalog");
}

Response Unavailable::response() const { return retry_later(message_); }

ApiError not_found(std::string_view indirection, std::string_view key) {
    return {404, fmt::format("Could not find {} {}", indirection, key), "RESOURCE_NOT_FOUND"};
}

std::string client_text(const Request& request) {
    const auto name = request.peer.name();
    return name.empty() ? request.peer.address : fmt::format("{} ({})", name, request.peer.address);
}

Response answered(base::LogSink& log, const Request& request,
                  const std::function<Response()>& work) {
    auto failed = [&](const std::string& text) {
        log.log(base::Level::Err, fmt::format("{} (asked by {})", text, client_text(request)));
        return ApiError(500, text).response();
    };
    try {
        return work();
    } catch (const ApiError& e) {
        return e.response();
    } catch (const Overloaded& e) {
        log.log(base::Level::Warning,
                fmt::format("Refused a compile for {} with 503: too many requests are waiting",
                            client_text(request)));
        return e.response();
    } catch (const Unavailable& e) {
        log.log(base::Level::Warning,
                fmt::format("Refused {} with 503: {}", client_text(request), e.what()));
        return e.response();
    } catch (const base::PuppetError& e) {
        return failed(e.full_text());
    } catch (const std::bad_alloc&) {
        return failed("failed to allocate memory");
    } catch (const std::exception& e) {
        return failed(e.what());
    }
}

std::string_view accepted(const Request& request, std::span<const std::string_view> offered) {
    if (!request.headers.has("Accept"))
        throw ApiError(400, "Missing required Accept header", "MISSING_HEADER_FIELD");
    return best_of(request.headers.get("Accept"), offered);
}

std::string_view accepted_or_json(const Request& request,
                                  std::span<const std::string_view> offered) {
    if (!request.headers.has("Accept")) return best_of("application/json", offered);
    return best_of(request.headers.get("Accept"), offered);
}

std::span<const std::string_view> data_formats() { return kDataFormats; }

std::string_view body_format(const Request& request,
                             std::initializer_list<std::string_view> known) {
    if (!request.headers.has("Content-Type")) {
        throw ApiError(400,
                       "No Content-Type header was received, it isn't possible to unserialize the "
                       "request",
                       "MISSING_HEADER_FIELD");
    }
    const auto sent = base::lower(request.headers.get("Content-Type"));
    const auto plain = base::trim(std::string_view(sent).substr(0, sent.find(';')), " \t");
    for (const auto type : known)
        if (plain == type) return type;
    throw ApiError(415,
                   fmt::format("Client sent a mime-type ({}) that doesn't correspond to a "
                               "format we support",
                               request.headers.get("Content-Type")),
                   "UNSUPPORTED_MEDIA_TYPE");
}

Response plain_data(const Request& request, std::string json) {
    return json_as(accepted(request, kDataFormats), std::move(json));
}

base::Result<Value> parsed_body(base::Arena& arena, std::string_view type, std::string_view body) {
    return type == kMsgpack ? value::parse_msgpack(arena, body) : value::parse_json(arena, body);
}

Response json_as(std::string_view type, std::string json) {
    Response out = Response::json(200, std::move(json));
    if (type == kMsgpack || type == kRichMsgpack) {
        base::Arena arena;
        const auto data = value::parse_json(arena, out.body);
        if (!data) throw base::plain_error(data.error().message);
        out.body = value::to_msgpack(*data);
        out.headers.set("Content-Type", type);
        return out;
    }
    out.headers.set("Content-Type", fmt::format("{}; charset=utf-8", type));
    return out;
}

void mark_packed(Response& response) {
    response.headers.set("Content-Encoding", "gzip");
    response.headers.set("Vary", "Accept-Encoding");
    response.compressible = false;
}

std::optional<std::string> several_environments(const Request& request) {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : request.query)
        if (name == "environment") names.push_back(value);
    if (names.size() < 2) return std::nullopt;
    return fmt::format("The environment must be purely alphanumeric, not '[\"{}\"]'",
                       fmt::join(names, "\" \""));
}

std::string environment_name(const Request& request) {
    if (auto fault = several_environments(request)) throw ApiError(400, *fault);
    const auto* name = request.query_value("environment");
    if (!name) throw ApiError(400, "An environment parameter must be specified");
    if (!environment::valid_environment_name(*name)) {
        throw ApiError(400,
                       fmt::format("The environment must be purely alphanumeric, not '{}'", *name));
    }
    return *name;
}

Value trusted_data(base::Arena& arena, const http::ClientCertificate* client,
                   const http::OidNames& names) {
    const std::string name = client ? client->name : "";
    const auto text = [&](std::string_view t) { return value::make_string(arena, t); };
    value::HashBuilder extensions(arena);
    if (client)
        for (const auto& e : client->extensions) {
            const auto named = std::ranges::find(names, e.oid, &http::OidNames::value_type::first);
            // Puppet's own names cannot be overridden.
            const bool renamed = e.name == e.oid && named != names.end();
            extensions.set(text(renamed ? named->second : e.name), text(e.value));
        }
    value::HashBuilder out(arena, 6);
    out.set("authenticated", name.empty() ? Value::boolean(false) : text("remote"));
    out.set("certname", name.empty() ? Value::undef() : text(name));
    out.set("extensions", extensions.build());
    const auto dot = name.find('.');
    out.set("hostname", name.empty() ? Value::undef() : text(name.substr(0, dot)));
    out.set("domain", dot == std::string::npos ? Value::undef() : text(name.substr(dot + 1)));
    out.set("external", value::HashBuilder(arena).build());
    return out.build();
}

http::Access administrators(http::Authorization& authorization) {
    return http::Access::rule([rules = authorization.access(), policy = http::AccessPolicy{}](
                                  const Request& request) -> std::optional<Response> {
        if (!request.peer.name().empty()) {
            const auto* mark = request.peer.certificate->extension("pp_cli_auth");
            if (mark && *mark == "true") return std::nullopt;
        } else if (!request.peer.tls && request.peer.loopback) {
            return std::nullopt;
        }
        return rules.refusal(request, policy);
    });
}

}  // namespace bunraku::server
