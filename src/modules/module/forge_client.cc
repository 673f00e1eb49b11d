// SPDX-License-Identifier: Apache-2.0
#include "modules/module/forge_client.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <thread>

#include "core/base/diagnostic.h"
#include "core/base/jitter.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"
#include "modules/module/tarball.h"
#include "modules/module/trust.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using value::Value;

constexpr std::uint64_t kMaxPage = 64U << 20;
constexpr std::string_view kExclusions =
    "readme%2Cchangelog%2Clicense%2Curi%2Cmodule%2Ctags%2Csupported%2Cfile_size%2Cdownloads%2C"
    "created_at%2Cupdated_at%2Cdeleted_at";

std::string dashed(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '/', '-');
    return out;
}

http::ClientOptions client_options(const ForgeClientOptions& o) {
    http::ClientOptions out;
    out.user_agent = o.user_agent;
    out.authorization = o.authorization;
    out.ca_file = o.ca_file;
    out.trust_store = o.trust_store;
    out.proxies = o.proxies;
    out.stopped = o.stopped;
    return out;
}

/// Returns Puppet's error message for a module name (Puppet::ModuleTool::Metadata).
std::string name_problem(std::string_view name) {
    const std::size_t cut = name.find_first_of("-/");
    const std::string_view owner = name.substr(0, cut);
    const std::string_view module =
        cut == std::string_view::npos || cut == 0 ? std::string_view{} : name.substr(cut + 1);
    const auto word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    if (module.empty()) return "the field must be a namespaced module name";
    if (!std::all_of(module.begin(), module.end(), word)) {
        return "the module name contains non-alphanumeric (or underscore) characters";
    }
    if ((module[0] >= '0' && module[0] <= '9') || module[0] == '_') {
        return "the module name must begin with a letter";
    }
    (void)owner;
    return "the namespace contains non-alphanumeric characters";
}

bool worth_waiting(const Result<http::ClientResponse>& response) {
    if (response)
        return response->status == 429 || (response->status >= 502 && response->status <= 504);
    return response.error().code == ECONNRESET;
}

/// Returns the delay that the forge requests, at most one minute; otherwise the delay doubles with
/// each attempt. A random part prevents clients that were refused together from retrying together.
std::chrono::milliseconds pause_before(int attempt, const Result<http::ClientResponse>& response) {
    using std::chrono::milliseconds;
    constexpr std::uint32_t kLongestSeconds = 60;
    const auto requested =
        response ? base::parse_integer<std::uint32_t>(response->headers.get("Retry-After"))
                 : std::nullopt;
    const auto least = requested ? milliseconds(1000 * std::min(*requested, kLongestSeconds))
                                 : milliseconds(250 << std::min(attempt, 5));
    return least + milliseconds(base::random_between(0, 500));
}

/// Reads a module of a list of modules.
ForgeClient::Found found_module(const Value& item) {
    ForgeClient::Found out;
    if (const Value* owner = item.as_hash().find("owner")) out.author = text_at(*owner, "username");
    out.full_name = out.author + "-" + std::string(text_at(item, "name"));
    const Value* current = item.as_hash().find("current_release");
    if (!current || !current->is_hash()) return out;
    out.version = text_at(*current, "version");
    if (const Value* metadata = current->as_hash().find("metadata"))
        out.summary = text_at(*metadata, "summary");
    const Value* tags = current->as_hash().find("tags");
    if (!tags || !tags->is_array()) return out;
    for (const Value& tag : tags->as_array())
        if (tag.is_string()) out.tags.emplace_back(tag.as_string());
    return out;
}

}  // namespace

ForgeClient::ForgeClient(ForgeClientOptions options)
    : options_(std::move(options)), client_(client_options(options_)) {}

std::string ForgeClient::shown_url() const { return module::shown_url(options_.url); }

Result<std::string> ForgeClient::get(const std::string& path, std::uint64_t limit) {
    std::string base = options_.url;
    while (base.ends_with('/')) base.pop_back();
    http::ClientRequest request;
    request.url = base + path;
    const bool tarball = path.find("/v3/releases") == path.npos && path.ends_with(".tar.gz");
    if (tarball) request.headers.set("Accept-Encoding", "identity");
    auto response = client_.send(request);
    for (int i = 1; i < options_.attempts && worth_waiting(response); ++i) {
        std::this_thread::sleep_for(pause_before(i, response));
        response = client_.send(request);
    }
    if (!response) {
        return failure(
            fmt::format("Could not connect to {}\n"
                        "  There was a network communications problem\n"
                        "    The error we caught said '{}'\n"
                        "    Check your network connection and try again",
                        shown_url(), response.error().message));
    }
    if (response->status != 200) {
        std::string text = fmt::format(
            "Request to Puppet Forge failed.\n  The server being queried was {}\n"
            "  The HTTP response we received was '{} {}'",
            shown_url() == options_.url ? request.url : shown_url() + path, response->status,
            http::reason(response->status));
        base::Arena arena;
        if (auto json = value::parse_json(arena, response->body)) {
            const std::string_view message = text_at(*json, "message");
            if (!message.empty()) {
                text += fmt::format("\n  The message we received said '{}'", message);
            }
        }
        return failure(std::move(text), response->status);
    }
    if (response->body.size() > limit) return failure("The answer of the forge is too long");
    return std::move(response->body);
}

/// Calls `each` for the results of all pages, or until `enough` returns true after a page.
Result<void> ForgeClient::pages(std::string path,
                                const std::function<Result<void>(const Value&)>& each,
                                const std::function<bool()>& enough) {
    std::set<std::string> visited;
    while (!path.empty()) {
        if (!visited.insert(path).second || visited.size() > 10000) {
            return failure(fmt::format("The pages of {} do not end", shown_url()));
        }
        const std::string text = BUNRAKU_TRY(get(path, kMaxPage));
        base::Arena arena;
        auto page = value::parse_json(arena, text);
        const Value* results = page && page->is_hash() ? page->as_hash().find("results") : nullptr;
        if (!results || !results->is_array()) {
            return failure(fmt::format("{} does not answer as a forge", shown_url()));
        }
        for (const Value& item : results->as_array()) BUNRAKU_TRY_VOID(each(item));
        if (enough && enough()) return {};
        const Value* pagination = page->as_hash().find("pagination");
        path = pagination ? std::string(text_at(*pagination, "next")) : std::string();
        if (!path.empty() && !path.starts_with('/')) {
            return failure(fmt::format("{} links to a page elsewhere", shown_url()));
        }
        std::replace(path.begin(), path.end(), ' ', '+');
    }
    return {};
}

Result<std::vector<RemoteModule>> ForgeClient::releases(const std::string& name,
                                                        std::vector<std::string>* warnings) {
    std::vector<RemoteModule> out;
    std::string path = fmt::format("/v3/releases?module={}&sort_by=version&exclude_fields={}",
                                   http::percent_encode(dashed(name)), kExclusions);
    if (!options_.module_groups.empty()) {
        std::string groups = options_.module_groups;
        std::replace(groups.begin(), groups.end(), '+', ' ');
        path += "&module_groups=" + http::percent_encode(groups);
    }
    BUNRAKU_TRY_VOID(pages(path, [&](const Value& item) -> Result<void> {
        const Value* metadata = item.is_hash() ? item.as_hash().find("metadata") : nullptr;
        if (!metadata || !metadata->is_hash()) return {};
        RemoteModule r;
        r.name = dashed(text_at(*metadata, "name"));
        r.version = text_at(*metadata, "version");
        // Names become paths, so invalid ones are never installed.
        if (!parse_module_name(r.name) || !base::SemVer::parse(r.version)) {
            if (warnings) {
                warnings->push_back(fmt::format("Cannot consider release {}-{}: it is not valid",
                                                r.name, r.version));
            }
            return {};
        }
        r.file_uri = text_at(item, "file_uri");
        r.sha256 = text_at(item, "file_sha256");
        r.md5 = text_at(item, "file_md5");
        if (const Value* m = item.as_hash().find("module"); m && m->is_hash()) {
            const Value* at = m->as_hash().find("deprecated_at");
            r.deprecated = at && !at->is_undef();
        }
        const Value* list = metadata->as_hash().find("dependencies");
        if (list && list->is_array()) {
            for (const Value& d : list->as_array()) {
                if (!d.is_hash()) continue;
                const std::string_view dep = text_at(d, "name");
                std::string problem;
                if (!parse_module_name(dep)) {
                    problem = "Invalid 'name' field in metadata.json: " + name_problem(dep);
                }
                const Value* range = d.as_hash().find("version_requirement");
                std::string text =
                    range && range->is_string() ? std::string(range->as_string()) : ">= 0.0.0";
                if (problem.empty() && !base::SemVerRange::parse(text)) {
                    problem = fmt::format(
                        "Invalid 'version_range' field in metadata.json: "
                        "Unparsable version range: {}",
                        codec::json_string(text));
                }
                if (!problem.empty()) {
                    if (warnings) {
                        warnings->push_back(
                            fmt::format("Cannot consider release {}-{}: Malformed dependency: {}. "
                                        "Exception was: {}",
                                        text_at(*metadata, "name"), r.version, dep, problem));
                    }
                    return {};
                }
                r.dependencies.push_back({dashed(dep), std::move(text)});
            }
        }
        out.push_back(std::move(r));
        return {};
    }));
    return out;
}

Result<std::optional<RemoteModule>> ForgeClient::current(const std::string& name) {
    const std::string slug = dashed(name);
    auto text = get(fmt::format("/v3/modules/{}?exclude_fields=readme%2Cchangelog%2Clicense%2C"
                                "reference%2Creleases",
                                http::percent_encode(slug)),
                    kMaxPage);
    // Not every forge has pages of modules.
    if (!text && (text.error().code == 404 || text.error().code == 400)) return std::nullopt;
    if (!text) return std::unexpected(text.error());
    base::Arena arena;
    auto page = value::parse_json(arena, *text);
    const Value* release =
        page && page->is_hash() ? page->as_hash().find("current_release") : nullptr;
    if (!release || !release->is_hash()) return std::nullopt;
    RemoteModule out;
    out.name = slug;
    out.version = text_at(*release, "version");
    out.file_uri = text_at(*release, "file_uri");
    out.sha256 = text_at(*release, "file_sha256");
    out.md5 = text_at(*release, "file_md5");
    if (!base::SemVer::parse(out.version)) return std::nullopt;
    return out;
}

Result<std::string> ForgeClient::archive(const std::string& name, const std::string& version) {
    return get(fmt::format("/v3/files/{}-{}.tar.gz", http::percent_encode(dashed(name)),
                           http::percent_encode(version)),
               TarballLimits{}.packed);
}

Result<std::string> ForgeClient::download(const RemoteModule& release) {
    std::string path = release.file_uri;
    if (!path.starts_with('/'))
        path = fmt::format("/v3/files/{}-{}.tar.gz", release.name, release.version);
    std::string bytes = BUNRAKU_TRY(get(path, TarballLimits{}.packed));
    const bool sha = !release.sha256.empty();
    const std::string& want = sha ? release.sha256 : release.md5;
    if (want.empty()) return failure("Forge module is missing SHA256 and MD5 checksums");
    if (codec::hex_digest(sha ? codec::DigestKind::Sha256 : codec::DigestKind::Md5, bytes) !=
        base::lower(want)) {
        return failure(fmt::format("Downloaded release for {} did not match expected checksum {}",
                                   release.name, want));
    }
    return bytes;
}

Result<void> ForgeClient::vouch(const ReleaseName& release, std::string_view bytes) {
    if (!options_.trust) return {};
    FeedOptions access;
    access.client = client_options(options_);
    access.attempts = options_.attempts;
    return options_.trust->check(options_.url, access, release, bytes);
}

Result<std::vector<ForgeClient::Found>> ForgeClient::search(const std::string& words,
                                                            std::size_t most) {
    return found_modules("query=" + http::percent_encode(words), most);
}

Result<std::vector<ForgeClient::Found>> ForgeClient::modules_of(const std::string& author,
                                                                std::size_t most) {
    return found_modules("owner=" + http::percent_encode(author), most);
}

Result<std::vector<ForgeClient::Found>> ForgeClient::found_modules(const std::string& query,
                                                                   std::size_t most) {
    std::vector<Found> out;
    const std::string page = most > 0 ? "&limit=100" : "";
    BUNRAKU_TRY_VOID(pages(
        "/v3/modules?" + query + page,
        [&](const Value& item) -> Result<void> {
            if (item.is_hash()) out.push_back(found_module(item));
            return {};
        },
        [&] { return most > 0 && out.size() >= most; }));
    if (most > 0 && out.size() > most) out.resize(most);
    return out;
}

}  // namespace bunraku::module
