// SPDX-License-Identifier: Apache-2.0
#include "modules/module/feed.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <set>
#include <thread>

#include "core/base/civil_time.h"
#include "core/base/diagnostic.h"
#include "core/base/jitter.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/base64.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "modules/module/tarball.h"
#include "net/http/message.h"
#include "net/http/url.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using value::Value;

constexpr std::string_view kManifest = "PULP_MANIFEST";
/// Query parameters that exclude unneeded fields from a listing.
constexpr std::string_view kLess =
    "exclude_fields=readme,changelog,license,reference,docs,tasks,plans,module,tags";

using Offers = std::map<std::string, Offer>;
using Warn = std::function<void(const std::string&)>;

std::string shown(std::string_view text) {
    std::string out = codec::json_string(text.substr(0, 120));
    return "'" + out.substr(1, out.size() - 2) + "'";
}

std::string without_slash(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

bool is_hex(std::string_view text, std::size_t length) {
    return text.size() == length &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

Result<Value> json(base::Arena& arena, std::string_view text, const std::string& url) {
    try {
        auto v = value::parse_json(arena, text);
        if (!v) return failure(fmt::format("{} is not JSON: {}", url, v.error().message), 502);
        return *v;
    } catch (const base::PuppetError& e) {
        return failure(fmt::format("{} is not JSON: {}", url, e.message()), 502);
    }
}

std::uint64_t count_at(const Value& object, std::string_view key) {
    const Value* v = object.is_hash() ? object.as_hash().find(key) : nullptr;
    return v && v->is_integer() && v->as_integer() > 0 ? static_cast<std::uint64_t>(v->as_integer())
                                                       : 0;
}

/// Adds a release from a v3 response. Pulp's responses contain fewer fields than the Forge's.
void take_release(const std::string& base, const Value& item, Offers& offers, const Warn& warn) {
    const Value* metadata = item.is_hash() ? item.as_hash().find("metadata") : nullptr;
    std::string text;
    if (metadata && metadata->is_hash()) {
        text = fmt::format("{}-{}", text_at(*metadata, "name"), text_at(*metadata, "version"));
    } else {
        text = text_at(item, "slug");
    }
    auto name = parse_release_name(text);
    if (!name) {
        warn(fmt::format("{} is not a valid release", shown(text)));
        return;
    }
    Offer offer;
    offer.name = std::move(*name);
    const std::string slug = offer.name.slug();
    const std::string_view link = text_at(item, "file_uri");
    offer.url = link_url(base, link.empty() ? "/v3/files/" + slug + ".tar.gz" : std::string(link));
    if (offer.url.empty()) {
        warn(fmt::format("{} has a file address that is not acceptable: {}", slug, shown(link)));
        return;
    }
    if (link.starts_with('/')) offer.other_url = origin_of(base) + std::string(link);
    offer.sha256 = base::lower(text_at(item, "file_sha256"));
    offer.md5 = base::lower(text_at(item, "file_md5"));
    offer.size = count_at(item, "file_size");
    if (auto created = base::parse_iso_time(text_at(item, "created_at"),
                                            base::kZoneOptional | base::kBlankBeforeZone)) {
        offer.created = created->seconds();
    }
    if (const Value* list =
            metadata && metadata->is_hash() ? metadata->as_hash().find("dependencies") : nullptr;
        list && list->is_array()) {
        for (const Value& d : list->as_array()) {
            auto needed = parse_module_name(text_at(d, "name"));
            if (!needed) continue;
            const std::string_view range = text_at(d, "version_requirement");
            offer.dependencies.push_back(
                {needed->slug(), range.empty() ? ">= 0.0.0" : std::string(range)});
        }
    }
    if ((!offer.sha256.empty() && !is_hex(offer.sha256, 64)) ||
        (!offer.md5.empty() && !is_hex(offer.md5, 32))) {
        warn(fmt::format("{} has a malformed checksum", slug));
        return;
    }
    offers.emplace(slug, std::move(offer));
}

Result<void> list_v3(Fetcher& fetcher, const std::string& base,
                     const std::vector<std::string>& queries, Offers& offers, const Warn& warn) {
    const std::uint64_t limit = fetcher.options().max_releases;
    bool full = false;
    const auto take = [&](const Value& item) {
        take_release(base, item, offers, warn);
        full = offers.size() >= limit;
        return !full;
    };
    bool by_module = !queries.empty();
    if (!by_module) {
        auto all = walk_pages(fetcher, base, fmt::format("/v3/releases?limit=100&{}", kLess), take);
        // Pulp returns 400 and requires one request per module.
        if (!all && all.error().code != 400) return all;
        by_module = !all.has_value();
    }
    if (by_module) {
        std::set<std::string> modules;
        const auto note = [&](const Value& item) {
            if (auto name = parse_module_name(text_at(item, "slug"))) {
                modules.insert(name->slug());
            } else {
                warn(fmt::format("{} is not a valid module", shown(text_at(item, "slug"))));
            }
            return modules.size() < limit;
        };
        std::vector<std::string> asked = queries;
        if (asked.empty()) asked.emplace_back();
        for (const std::string& q : asked) {
            std::string path = "/v3/modules?limit=100&exclude_fields=releases,current_release";
            if (!q.empty()) path += "&query=" + http::percent_encode(q);
            BUNRAKU_TRY_VOID(walk_pages(fetcher, base, path, note));
        }
        for (const std::string& slug : modules) {
            BUNRAKU_TRY_VOID(
                walk_pages(fetcher, base,
                           fmt::format("/v3/releases?limit=100&module={}&{}", slug, kLess), take));
            if (full) break;
        }
    }
    if (full) return failure(fmt::format("{} offers more than {} releases", base, limit));
    return {};
}

/// Lists the archives in a folder and its subfolders. Returns false if there are none.
Result<bool> list_folder(const std::string& base, Offers& offers, const Warn& warn) {
    auto root = http::percent_decode(std::string_view(base).substr(7));
    if (!root) return failure("not a file address: " + base, 400);
    auto& files = sys::disk();
    std::vector<std::pair<std::string, int>> todo{{*root, 0}};
    bool any = false;
    while (!todo.empty()) {
        const auto [folder, depth] = todo.back();
        todo.pop_back();
        auto names = files.list(folder);
        if (!names) continue;
        for (const std::string& file : *names) {
            const std::string path = folder + "/" + file;
            if (file.starts_with('.')) continue;
            if (!file.ends_with(".tar.gz")) {
                if (depth < 8 && files.is_directory(path)) todo.emplace_back(path, depth + 1);
                continue;
            }
            any = true;
            auto name = parse_file_name(file);
            if (!name) {
                warn(fmt::format("{} is not named as a release", shown(path)));
                continue;
            }
            Offer offer;
            offer.name = std::move(*name);
            offer.url = "file://" + http::percent_encode(path, "/");
            if (auto status = files.stat(path)) offer.created = status->mtime_ns / 1000000000;
            const std::string slug = offer.name.slug();
            offers.emplace(slug, std::move(offer));
        }
    }
    return any;
}

/// Reads lines of the form "name,sha256,size". The names are relative to the folder of the
/// manifest.
Result<void> read_manifest(const std::string& text, const std::string& folder, Offers& offers,
                           const Warn& warn) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t eol = rest.find('\n');
        std::string_view row = rest.substr(0, eol);
        rest = eol == std::string_view::npos ? std::string_view{} : rest.substr(eol + 1);
        while (row.ends_with('\r') || row.ends_with(' ')) row.remove_suffix(1);
        if (row.empty()) continue;
        const std::size_t b = row.rfind(',');
        const std::size_t a = b == std::string_view::npos || b == 0 ? b : row.rfind(',', b - 1);
        if (a == std::string_view::npos) {
            return failure(
                fmt::format("the manifest of {} has a malformed line: {}", folder, shown(row)));
        }
        const std::string_view path = row.substr(0, a);
        Offer offer;
        offer.sha256 = base::lower(row.substr(a + 1, b - a - 1));
        const std::string_view size = row.substr(b + 1);
        const auto number = std::from_chars(size.data(), size.data() + size.size(), offer.size);
        if (!path.ends_with(".tar.gz")) continue;
        auto name = parse_file_name(sys::base_name(path));
        const bool climbs = path.starts_with('/') ||
                            ("/" + std::string(path) + "/").find("/../") != std::string::npos;
        if (!name || climbs || number.ec != std::errc() || !is_hex(offer.sha256, 64)) {
            warn(fmt::format("{} is not a valid entry of a manifest", shown(row)));
            continue;
        }
        offer.name = std::move(*name);
        offer.url =
            folder + "/" +
            (folder.starts_with("file://") ? std::string(path) : http::percent_encode(path, "/+"));
        const std::string slug = offer.name.slug();
        offers.emplace(slug, std::move(offer));
    }
    return {};
}

/// Reads modules.json of a Pulp tree. Takes the checksums from the PULP_MANIFEST in the same
/// folder, if there is one.
Result<void> list_tree(Fetcher& fetcher, const std::string& base, const std::string& first,
                       const std::vector<std::string>& queries, Offers& offers, const Warn& warn) {
    Offers sums;
    if (auto text = fetcher.get(base + "/PULP_MANIFEST", fetcher.options().max_listing)) {
        (void)read_manifest(*text, base, sums, [](const std::string&) {});
    }
    std::vector<std::string> asked = queries;
    if (asked.empty()) asked.emplace_back();
    for (const std::string& q : asked) {
        std::string text = first;
        if (!q.empty() && !base.starts_with("file://")) {
            text = BUNRAKU_TRY(fetcher.get(base + "/modules.json?q=" + http::percent_encode(q),
                                           fetcher.options().max_listing));
        }
        base::Arena arena;
        const Value list = BUNRAKU_TRY(json(arena, text, base + "/modules.json"));
        if (!list.is_array()) return failure(base + "/modules.json is not a list of modules");
        const std::string want = base::lower(q);
        for (const Value& item : list.as_array()) {
            const std::string slug = fmt::format("{}-{}-{}", text_at(item, "author"),
                                                 text_at(item, "name"), text_at(item, "version"));
            auto name = parse_release_name(slug);
            if (!name) {
                warn(fmt::format("{} is not a valid release", shown(slug)));
                continue;
            }
            if (!q.empty() && base.starts_with("file://")) {
                // A tree of files has no search function, so the search runs here.
                std::string words = base::lower(slug);
                const Value* tags = item.as_hash().find("tag_list");
                if (tags && tags->is_array()) {
                    for (const Value& t : tags->as_array()) {
                        if (t.is_string()) words += ' ' + base::lower(t.as_string());
                    }
                }
                if (words.find(want) == std::string::npos) continue;
            }
            Offer offer;
            if (auto known = sums.find(slug); known != sums.end()) offer = known->second;
            offer.url = base + "/" + release_path(name->module.author, slug);
            offer.name = std::move(*name);
            offers.emplace(slug, std::move(offer));
            if (offers.size() > fetcher.options().max_releases) {
                return failure(base + " offers too many releases");
            }
        }
    }
    return {};
}

}  // namespace

std::string_view text_at(const Value& object, std::string_view key) {
    if (!object.is_hash()) return {};
    const Value* v = object.as_hash().find(key);
    return v && v->is_string() ? v->as_string() : std::string_view{};
}

std::string origin_of(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, url.find('/', scheme + 3)));
}

std::string link_url(const std::string& base, std::string_view link) {
    if (link.starts_with("/")) return base + std::string(link);
    if (link.starts_with("http://") || link.starts_with("https://")) return std::string(link);
    return {};
}

std::string take_credentials(const std::string& url, http::ClientOptions& client) {
    auto parsed = http::parse_url(url);
    if (!parsed || !parsed->has_user) return url;
    if (client.authorization.empty()) {
        client.authorization = "Basic " + codec::base64_encode(parsed->user);
    }
    const std::size_t begin = url.find("://") + 3;
    const std::size_t at = url.substr(0, url.find_first_of("/?#", begin)).rfind('@');
    return url.substr(0, begin) + url.substr(at + 1);
}

namespace {

http::ClientOptions client_options(const FeedOptions& options, bool at_home) {
    http::ClientOptions c = options.client;
    c.max_body = std::max(options.max_listing, options.max_tarball);
    if (!at_home) {
        c.authorization.clear();
        c.certificate_file.clear();
        c.private_key_file.clear();
    }
    return c;
}

/// Reports whether another attempt may succeed after this status.
bool worth_another(int code) {
    return code == 0 || code == 429 || code == 502 || code == 503 || code == 504;
}

}  // namespace

Fetcher::Fetcher(const FeedOptions& options)
    : options_(options),
      client_(client_options(options, true)),
      away_(client_options(options, false)) {
    if (auto home = http::parse_url(options.home)) origin_ = home->origin();
}

bool Fetcher::at_home(const std::string& url) const {
    auto parsed = http::parse_url(url);
    return parsed && !origin_.empty() && parsed->origin() == origin_;
}

Result<std::string> Fetcher::get(const std::string& url, std::uint64_t limit, bool resume) {
    using namespace std::chrono;
    constexpr seconds kLongestPause{60};
    Partial partial;
    for (int attempt = 1;; ++attempt) {
        std::string retry_after;
        const std::size_t had = partial.body.size();
        auto body = get_once(url, limit, &retry_after, resume ? &partial : nullptr);
        if (body || !worth_another(body.error().code)) return body;
        // The attempts start again as long as the transfer makes progress.
        if (partial.body.size() > had) attempt = 1;
        if (attempt >= options_.attempts) return body;
        const auto requested = base::parse_integer<std::uint32_t>(retry_after);
        milliseconds pause = requested ? std::min<milliseconds>(seconds(*requested), kLongestPause)
                                       : milliseconds(1000 << std::min(attempt - 1, 4));
        pause += milliseconds(
            base::random_between(0, std::min<std::int64_t>(pause.count() / 4 + 100, 2000)));
        for (const auto end = steady_clock::now() + pause; steady_clock::now() < end;) {
            if (stopped()) return failure("stopped", ECANCELED);
            std::this_thread::sleep_for(milliseconds(50));
        }
    }
}

Result<std::string> Fetcher::get_once(const std::string& url, std::uint64_t limit,
                                      std::string* retry_after, Partial* partial) {
    if (stopped()) return failure("stopped", ECANCELED);
    if (url.starts_with("file://")) {
        auto path = http::percent_decode(std::string_view(url).substr(7));
        if (!path || !path->starts_with('/')) return failure("not a file address: " + url, 400);
        auto& files = sys::disk();
        auto status = files.stat(*path);
        if (!status || status->kind != sys::FileKind::File) return failure("no file " + *path, 404);
        if (status->size > limit) return failure(*path + " is too long", EFBIG);
        return files.read(*path);
    }
    if (!url.starts_with("http://") && !url.starts_with("https://")) {
        return failure("not a supported address: " + shown(shown_url(url)), 400);
    }
    http::ClientRequest request;
    request.url = url;
    Partial local;
    Partial& have = partial ? *partial : local;
    bool too_long = false, going_on = false;
    // Archives must arrive unchanged, and listings may be long. Neither is requested with
    // compression.
    request.headers.set("Accept-Encoding", "identity");
    const std::size_t before = have.body.size();
    if (before > 0 && !have.validator.empty()) {
        request.headers.set("Range", fmt::format("bytes={}-", before));
        request.headers.set("If-Range", have.validator);
    }
    request.head = [&](int status, const http::Headers& headers) {
        going_on = status == 206 && before > 0 &&
                   headers.get("Content-Range").starts_with(fmt::format("bytes {}-", before));
        if (status < 200 || status > 299 || going_on) return;
        have.body.clear();
        // A weak tag (W/) does not guarantee identical bytes.
        const std::string_view tag = headers.get("ETag");
        have.validator = tag.starts_with('"') ? tag : headers.get("Last-Modified");
    };
    auto response = (at_home(url) ? client_ : away_).download(request, [&](std::string_view piece) {
        if (have.body.size() + piece.size() > limit) {
            too_long = true;
            return false;
        }
        have.body += piece;
        return true;
    });
    if (too_long) {
        return failure(fmt::format("{} sends more than {} bytes", shown_url(url), limit), EFBIG);
    }
    if (!response) {
        return failure(response.error().message,
                       response.error().code == ECANCELED ? ECANCELED : 0);
    }
    if (response->status == 416 && before > 0) {
        // The file has changed: start from the beginning.
        have = {};
        return failure(fmt::format("{} has changed", shown_url(url)), 0);
    }
    if (response->status != 200 && !going_on) {
        *retry_after = response->headers.get("Retry-After");
        return failure(fmt::format("{} answers {} {}", shown_url(url), response->status,
                                   http::reason(response->status)),
                       response->status);
    }
    return std::move(have.body);
}

Result<void> walk_pages(Fetcher& fetcher, const std::string& base, std::string path,
                        const std::function<bool(const Value&)>& each) {
    std::set<std::string> visited;
    std::uint64_t seen = 0, total = 0;
    for (;;) {
        if (!visited.insert(path).second) {
            return failure(fmt::format("the pages of {} do not end: {} is repeated", base, path),
                           502);
        }
        const std::string url = base + path;
        const std::string text = BUNRAKU_TRY(fetcher.get(url, fetcher.options().max_listing));
        base::Arena arena;
        const Value page = BUNRAKU_TRY(json(arena, text, url));
        const Value* results = page.is_hash() ? page.as_hash().find("results") : nullptr;
        const Value* pagination = page.is_hash() ? page.as_hash().find("pagination") : nullptr;
        if (!results || !results->is_array() || !pagination || !pagination->is_hash()) {
            return failure(url + " is not a page of a forge's listing", 502);
        }
        if (visited.size() == 1) total = count_at(*pagination, "total");
        for (const Value& item : results->as_array()) {
            ++seen;
            if (!each(item)) return {};
        }
        const std::string_view next = text_at(*pagination, "next");
        if (next.empty()) return {};
        // The response gives the number of results in advance, so a listing that never ends is
        // stopped.
        if (results->as_array().empty() || visited.size() >= fetcher.options().max_pages ||
            (total > 0 && seen > total + 1000)) {
            return failure(fmt::format("the pages of {} do not end", base), 502);
        }
        if (!next.starts_with("/v3/") || next.find("..") != std::string_view::npos) {
            return failure(
                fmt::format("{} links to a next page that is not acceptable: {}", url, shown(next)),
                502);
        }
        path = next;
    }
}

Result<std::vector<Offer>> list_feed(Fetcher& fetcher, const std::string& feed,
                                     const std::vector<std::string>& queries, const Warn& warn) {
    Offers offers;
    const auto finish = [&] {
        std::vector<Offer> out;
        for (auto& [slug, offer] : offers) out.push_back(std::move(offer));
        return out;
    };
    std::string base = without_slash(feed);
    if (base.starts_with('/')) base = "file://" + http::percent_encode(base, "/");
    const std::uint64_t limit = fetcher.options().max_listing;
    const auto manifest_only = [&]() -> Result<void> {
        if (queries.empty()) return {};
        return failure("a PULP_MANIFEST cannot be searched; omit the query");
    };
    if (base.ends_with(kManifest)) {
        BUNRAKU_TRY_VOID(manifest_only());
        const std::string folder = without_slash(base.substr(0, base.size() - kManifest.size()));
        const std::string text = BUNRAKU_TRY(fetcher.get(base, limit));
        BUNRAKU_TRY_VOID(read_manifest(text, folder, offers, warn));
        return finish();
    }
    base::Error why;
    if (!base.starts_with("file://")) {
        auto probe = fetcher.get(base + "/v3/modules?limit=1", limit);
        // Try other kinds of feeds only if the server reports that the v3 API does not exist.
        if (!probe && worth_another(probe.error().code)) {
            return std::unexpected(probe.error());
        }
        if (!probe && probe.error().code == ECANCELED) return std::unexpected(probe.error());
        if (probe) {
            BUNRAKU_TRY_VOID(list_v3(fetcher, base, queries, offers, warn));
            return finish();
        }
        why = probe.error();
        if (why.code == 401 || why.code == 403) return std::unexpected(why);
    }
    if (auto modules = fetcher.get(base + "/modules.json", limit)) {
        BUNRAKU_TRY_VOID(list_tree(fetcher, base, *modules, queries, offers, warn));
        return finish();
    }
    if (auto manifest = fetcher.get(base + "/" + std::string(kManifest), limit)) {
        BUNRAKU_TRY_VOID(manifest_only());
        BUNRAKU_TRY_VOID(read_manifest(*manifest, base, offers, warn));
        return finish();
    }
    if (base.starts_with("file://") && queries.empty()) {
        if (BUNRAKU_TRY(list_folder(base, offers, warn))) return finish();
    }
    return failure(
        fmt::format("{} is neither a v3 forge nor a tree with modules.json or PULP_MANIFEST{}",
                    feed, why.message.empty() ? "" : " (" + why.message + ")"));
}

Result<std::vector<Offer>> list_module(Fetcher& fetcher, const std::string& base,
                                       const ModuleName& module, const Warn& warn) {
    Offers offers;
    auto walked = walk_pages(
        fetcher, base, fmt::format("/v3/releases?limit=100&module={}&{}", module.slug(), kLess),
        [&](const Value& item) {
            take_release(base, item, offers, warn);
            return true;
        });
    if (!walked && walked.error().code != 404 && walked.error().code != 400) {
        return std::unexpected(walked.error());
    }
    std::vector<Offer> out;
    for (auto& [slug, offer] : offers) {
        if (offer.name.module.slug() == module.slug()) out.push_back(std::move(offer));
    }
    return out;
}

Result<std::string> fetch_offer(Fetcher& fetcher, const Offer& offer) {
    const bool checked = !offer.sha256.empty() || !offer.md5.empty();
    auto bytes = fetcher.get(offer.url, fetcher.options().max_tarball, checked);
    if (!bytes && bytes.error().code == 404 && !offer.other_url.empty() &&
        offer.other_url != offer.url) {
        bytes = fetcher.get(offer.other_url, fetcher.options().max_tarball, checked);
    }
    const std::string slug = offer.name.slug();
    if (!bytes)
        return failure(fmt::format("{}: {}", slug, bytes.error().message), bytes.error().code);
    if (offer.size != 0 && bytes->size() != offer.size) {
        return failure(
            fmt::format("{}: {} bytes came, {} were promised", slug, bytes->size(), offer.size),
            502);
    }
    const auto check = [&](codec::DigestKind kind, const std::string& want) -> Result<void> {
        if (want.empty()) return {};
        const std::string got = codec::hex_digest(kind, *bytes);
        if (got == want) return {};
        return failure(fmt::format("{}: checksum mismatch: {} is {}, not {}", slug,
                                   codec::digest_name(kind), got, want),
                       502);
    };
    BUNRAKU_TRY_VOID(check(codec::DigestKind::Sha256, offer.sha256));
    BUNRAKU_TRY_VOID(check(codec::DigestKind::Md5, offer.md5));
    return bytes;
}

}  // namespace bunraku::module
