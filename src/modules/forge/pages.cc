// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/pages.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "modules/forge/api.h"
#include "modules/forge/downloads.h"
#include "modules/forge/html_page.h"
#include "modules/forge/markdown.h"
#include "modules/forge/search.h"
#include "modules/module/tarball.h"
#include "resources/catalog/line_diff.h"

namespace bunraku::forge {

using http::Request;
using http::Response;

namespace {

constexpr std::size_t kPage = 50, kFeedEntries = 50;
/// Limits of the comparison page: the size of one file, and the total size of the output.
constexpr std::size_t kMostOfFile = 1 << 20, kMostShown = 4 << 20;

std::string date_text(std::int64_t seconds) {
    return base::iso_text(base::civil_time(seconds)).substr(0, 10);
}

std::string size_text(std::uint64_t bytes) {
    if (bytes < 10240) return fmt::format("{} B", bytes);
    if (bytes < 10U << 20) return fmt::format("{} KiB", bytes >> 10);
    return fmt::format("{} MiB", bytes >> 20);
}

/// Among the characters of repository names, module names and versions, only "+" needs escaping in
/// a URL.
std::string href(std::string_view repository, std::string_view module = {},
                 std::string_view rest = {}) {
    std::string out = "/forge/" + std::string(repository);
    if (!module.empty()) out.append("/").append(module);
    if (!rest.empty()) out.append("/").append(http::percent_encode(rest));
    return out;
}

std::string link(const std::string& to, std::string_view text) {
    return fmt::format(R"(<a href="{}">{}</a>)", html_text(to), html_text(text));
}

struct DependencyOf {
    std::string name, range;  ///< "author/name"
};
std::vector<DependencyOf> dependencies_of(const Release& release) {
    std::vector<DependencyOf> out;
    base::Arena arena;
    auto list = value::parse_json(arena, release.line(Index::V1Dependencies));
    if (!list || !list->is_array()) return out;
    for (const value::Value& pair : list->as_array()) {
        if (!pair.is_array() || pair.as_array().size() != 2) continue;
        const auto& items = pair.as_array();
        if (!items[0].is_string() || !items[1].is_string()) continue;
        out.push_back({std::string(items[0].as_string()), std::string(items[1].as_string())});
    }
    return out;
}

std::string module_link(const Snapshot& s, std::string_view name) {
    std::string slug(name);
    std::replace(slug.begin(), slug.end(), '/', '-');
    const SnapshotModule* m = s.module(slug);
    return m && m->live ? link(href(s.repository(), slug), slug) : html_text(slug);
}

Response page(std::string_view title, const std::string& body, std::string_view feed = {}) {
    std::string text = html_page(title, body);
    if (!feed.empty()) {
        const std::string tag = fmt::format(
            R"(<link rel="alternate" type="application/atom+xml" title="New releases" href="{}">)",
            html_text(feed));
        text.insert(text.find("<style>"), tag);
    }
    return html_response(std::move(text));
}

Response no_page() {
    Response r = page("Not found", "<p>There is nothing here.</p>");
    r.status = 404;
    return r;
}

std::string search_form(std::string_view repository, std::string_view words) {
    return fmt::format(
        R"(<form action="{}"><input name="q" value="{}" size="40" aria-label="words"> )"
        "<button>Search</button></form>\n",
        html_text(href(repository)), html_text(words));
}

Response repositories_page(ForgeService& service, const Request& request) {
    const Requester requester = service.requester_of(request);
    std::string rows;
    for (const std::string& name : service.forge_store().repositories()) {
        SnapshotPtr s = service.may_read(name, requester) ? service.snapshot(name) : nullptr;
        if (!s) continue;
        rows +=
            fmt::format("<tr><td>{}</td><td>{} modules</td><td>{} releases</td><td>{}</td></tr>\n",
                        link(href(name), name), s->module_count(), s->releases().size(),
                        date_text(s->published_at()));
    }
    return page("Repositories",
                rows.empty() ? "<p>Nothing is published.</p>" : "<table>\n" + rows + "</table>");
}

Response search_page(ForgeService& service, const Request& request, const Snapshot& s) {
    const std::string* q = request.query_value("q");
    const std::string* from = request.query_value("from");
    const std::string asked = q ? q->substr(0, 200) : std::string();
    const auto words = search_words(asked);
    struct Hit {
        const SnapshotModule* module;
        std::uint64_t downloads;
        int rank;
    };
    std::vector<Hit> hits;
    for (const SnapshotModule& m : s.modules()) {
        if (!m.live || !search_matches(s, m, words)) continue;
        const std::uint64_t n = service.downloads().of_module(s.repository(), m.slug);
        hits.push_back({&m, n, words.empty() ? 0 : search_rank(s, m, words, n)});
    }
    std::stable_sort(hits.begin(), hits.end(),
                     [](const Hit& a, const Hit& b) { return a.rank > b.rank; });
    const std::size_t first =
        from ? std::min<std::size_t>(base::parse_integer<std::uint32_t>(*from).value_or(0),
                                     hits.size())
             : 0;
    std::string body = search_form(s.repository(), asked);
    body += fmt::format("<p>{} module{}</p>\n<table>\n", hits.size(), hits.size() == 1 ? "" : "s");
    for (std::size_t i = first; i < std::min(hits.size(), first + kPage); ++i) {
        const SnapshotModule& m = *hits[i].module;
        const Release& current = s.releases()[m.current];
        body += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}{}</td><td>{}</td><td>{} downloads</td></tr>\n",
            link(href(s.repository(), m.slug), m.slug), html_text(current.version),
            m.deprecated ? "<strong>deprecated</strong> " : "",
            html_text(fragment_text(current.line(Index::Summary))), date_text(current.created),
            hits[i].downloads);
    }
    body += "</table>\n";
    const auto turn = [&](std::size_t to, std::string_view text) {
        body += link(fmt::format("{}?q={}&from={}", href(s.repository()),
                                 http::percent_encode(asked), to),
                     text) +
                " ";
    };
    if (first > 0) turn(first > kPage ? first - kPage : 0, "previous");
    if (first + kPage < hits.size()) turn(first + kPage, "next");
    return page(s.repository(), body, href(s.repository(), {}, "releases.atom"));
}

std::string versions_table(ForgeService& service, const Snapshot& s, const SnapshotModule& m) {
    std::vector<const Release*> shown;
    for (std::uint32_t i : m.releases) {
        if (!s.releases()[i].deleted) shown.push_back(&s.releases()[i]);
    }
    std::string out = "<h2>Versions</h2>\n<table>\n";
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const Release& r = *shown[i];
        std::string changes;
        if (i + 1 < shown.size()) {
            changes = link(fmt::format("{}?from={}&to={}", href(s.repository(), m.slug, "diff"),
                                       http::percent_encode(shown[i + 1]->version),
                                       http::percent_encode(r.version)),
                           "changes");
        }
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{} downloads</td><td>{}</td></tr>\n",
            link(href(s.repository(), m.slug, r.version), r.version), date_text(r.created),
            size_text(r.size), service.downloads().of_release(s.repository(), r.slug), changes);
    }
    return out + "</table>\n";
}

std::string dependencies_lists(const Snapshot& s, const SnapshotModule& m, const Release& r) {
    std::string out;
    const auto needs = dependencies_of(r);
    if (!needs.empty()) {
        out += "<h2>Needs</h2>\n<ul>\n";
        for (const DependencyOf& d : needs) {
            out += fmt::format("<li>{} {}</li>\n", module_link(s, d.name), html_text(d.range));
        }
        out += "</ul>\n";
    }
    std::string by;
    std::size_t count = 0;
    for (const SnapshotModule& other : s.modules()) {
        if (!other.live) continue;
        const Release& current = s.releases()[other.current];
        // A cheap search first: only a few modules need the exact check.
        if (current.line(Index::DependencyNames).find(m.name) == std::string_view::npos) continue;
        for (const DependencyOf& d : dependencies_of(current)) {
            std::string slug = d.name;
            std::replace(slug.begin(), slug.end(), '/', '-');
            if (slug != m.slug) continue;
            if (++count <= 200) {
                by += fmt::format("<li>{} {} needs {}</li>\n", module_link(s, other.slug),
                                  html_text(current.version), html_text(d.range));
            }
            break;
        }
    }
    if (count > 0) out += fmt::format("<h2>Needed by {}</h2>\n<ul>\n{}</ul>\n", count, by);
    return out;
}

Response release_page(ForgeService& service, const Snapshot& s, const SnapshotModule& m,
                      const Release& r) {
    const std::string repository = s.repository();
    std::string body = fmt::format("<p>{} / {}</p>\n", link("/forge", "Repositories"),
                                   link(href(repository), repository));
    if (m.deprecated) {
        body += fmt::format("<p><strong>Deprecated</strong> {} {}</p>\n",
                            html_text(m.deprecated->reason),
                            m.deprecated->replacement.empty()
                                ? ""
                                : "Instead: " + module_link(s, m.deprecated->replacement));
    }
    body += fmt::format("<p>{}</p>\n", html_text(fragment_text(r.line(Index::Summary))));
    const std::string file =
        fmt::format("/pulp_puppet/forge/repository/{}/v3/files/{}.tar.gz", repository, r.slug);
    const std::string archive = s.path() + "/" + module::release_path(r.author, r.slug);
    const bool is_signed = sys::disk().is_file(archive + std::string(module::kSignatureSuffix));
    body += fmt::format(
        "<table><tr><th>Released</th><td>{}</td></tr><tr><th>Archive</th><td>{} ({}){}</td></tr>"
        "<tr><th>SHA-256</th><td><code>{}</code></td></tr><tr><th>Downloads</th><td>{}, of all "
        "versions {}</td></tr></table>\n",
        date_text(r.created), link(file, std::string(r.slug) + ".tar.gz"), size_text(r.size),
        is_signed ? ", " + link(file + std::string(module::kSignatureSuffix), "signature") : "",
        html_text(r.sha256), service.downloads().of_release(repository, r.slug),
        service.downloads().of_module(repository, m.slug));
    body += fmt::format("<pre>mod '{}', '{}'</pre>\n", html_text(m.slug), html_text(r.version));
    base::Arena arena;
    if (auto tags = value::parse_json(arena, r.line(Index::Tags)); tags && tags->is_array()) {
        std::string list;
        for (const value::Value& tag : tags->as_array()) {
            if (!tag.is_string()) continue;
            list += link(fmt::format("{}?q={}", href(repository),
                                     http::percent_encode(tag.as_string())),
                         tag.as_string()) +
                    " ";
        }
        if (!list.empty()) body += "<p>Tags: " + list + "</p>\n";
    }
    for (const auto& [index, name] :
         {std::pair{Index::ProjectPage, "Project"}, std::pair{Index::IssuesUrl, "Issues"}}) {
        const std::string url = fragment_text(r.line(index));
        const std::string low = base::lower(url.substr(0, 8));
        if (!low.starts_with("http://") && !low.starts_with("https://")) continue;
        body += fmt::format(R"(<p><a href="{}" rel="nofollow noopener">{}</a></p>)"
                            "\n",
                            html_text(url), name);
    }
    body += versions_table(service, s, m) + dependencies_lists(s, m, r);
    const std::string readme = fragment_text(r.fragment(Fragment::Readme));
    if (!readme.empty()) body += "<hr>\n" + markdown_html(readme);
    for (const auto& [fragment, name] :
         {std::pair{Fragment::Changelog, "Changelog"}, std::pair{Fragment::Reference, "Reference"},
          std::pair{Fragment::License, "License"}}) {
        const std::string text = fragment_text(r.fragment(fragment));
        if (text.empty()) continue;
        body += fmt::format("<details><summary>{}</summary>\n{}</details>\n", name,
                            fragment == Fragment::License ? "<pre>" + html_text(text) + "</pre>"
                                                          : markdown_html(text));
    }
    return page(fmt::format("{} {}", m.slug, r.version), body,
                href(repository, m.slug, "releases.atom"));
}

using FilesOf = std::map<std::string, std::string>;

std::string file_difference(const std::string& path, const std::string* before,
                            const std::string* after) {
    std::string out = fmt::format("<h3>{}{}</h3>\n", html_text(path),
                                  !before  ? " (new)"
                                  : !after ? " (gone)"
                                           : "");
    const auto readable = [](const std::string* text) {
        return !text || (text->size() <= kMostOfFile && codec::is_utf8(*text) &&
                         text->find('\0') == std::string::npos);
    };
    if (!readable(before) || !readable(after)) return out + "<p>No text, or too long.</p>\n";
    out += "<pre>";
    const std::string none;
    for (const std::string& line :
         catalog::line_diff(before ? *before : none, after ? *after : none)) {
        const char* kind = line.starts_with('+') ? "add" : line.starts_with('-') ? "del" : "";
        out += *kind ? fmt::format("<span class=\"{}\">{}</span>\n", kind, html_text(line))
                     : html_text(line) + "\n";
        if (out.size() > kMostShown) break;
    }
    return out + "</pre>\n";
}

Response diff_page(const Request& request, const Snapshot& s, const SnapshotModule& m) {
    FilesOf files[2];
    std::string versions[2];
    const char* names[] = {"from", "to"};
    for (int i = 0; i < 2; ++i) {
        const std::string* version = request.query_value(names[i]);
        const Release* r = version ? s.release(fmt::format("{}-{}", m.slug, *version)) : nullptr;
        if (!r || r->deleted) return no_page();
        auto bytes = sys::disk().read(s.path() + "/" + module::release_path(r->author, r->slug));
        auto read = bytes ? module::tarball_files(*bytes)
                          : base::Result<FilesOf>(std::unexpected(bytes.error()));
        if (!read) {
            return page("No comparison", fmt::format("<p>{} is not here yet, or too large to be "
                                                     "compared.</p>",
                                                     html_text(r->slug)));
        }
        files[i] = std::move(*read);
        versions[i] = r->version;
    }
    std::set<std::string> paths;
    for (const FilesOf& one : files) {
        for (const auto& [path, content] : one) paths.insert(path);
    }
    std::string body = fmt::format("<p>{} / {}</p>\n", link(href(s.repository()), s.repository()),
                                   link(href(s.repository(), m.slug), m.slug));
    std::size_t changed = 0;
    for (const std::string& path : paths) {
        // checksums.json only repeats the digests of the other files.
        if (path == "checksums.json") continue;
        const auto a = files[0].find(path), b = files[1].find(path);
        const std::string* before = a == files[0].end() ? nullptr : &a->second;
        const std::string* after = b == files[1].end() ? nullptr : &b->second;
        if (before && after && *before == *after) continue;
        ++changed;
        body += body.size() > kMostShown ? fmt::format("<h3>{}</h3>\n", html_text(path))
                                         : file_difference(path, before, after);
    }
    if (changed == 0) body += "<p>They hold the same files.</p>\n";
    return page(fmt::format("{} {} to {}", m.slug, versions[0], versions[1]), body);
}

/// Escapes text for XML. Replaces characters that XML 1.0 does not allow.
std::string xml_text(std::string_view text) {
    std::string clean;
    for (char c : text) {
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') clean += c;
    }
    return codec::is_utf8(clean) ? html_text(clean) : std::string();
}

Response feed(const Request& request, const Snapshot& s, const SnapshotModule* m) {
    const std::string tag = fmt::format("\"{}-{}.atom\"", s.name(), m ? m->slug : "");
    if (unchanged(request, tag, s.published_at())) return not_modified(tag, s.published_at());
    std::vector<const Release*> releases;
    const auto add = [&](const Release& r) {
        if (!r.deleted) releases.push_back(&r);
    };
    if (m) {
        for (std::uint32_t i : m->releases) add(s.releases()[i]);
    } else {
        for (const Release& r : s.releases()) add(r);
    }
    const std::size_t count = std::min(releases.size(), kFeedEntries);
    std::partial_sort(releases.begin(), releases.begin() + static_cast<std::ptrdiff_t>(count),
                      releases.end(), [](const Release* a, const Release* b) {
                          return a->created != b->created ? a->created > b->created
                                                          : a->slug < b->slug;
                      });
    const std::string home = href(s.repository(), m ? m->slug : std::string());
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n"
        "<title>New releases of "
        "{}</title>\n<id>urn:bunraku:forge:{}{}{}</id>\n<updated>{}</updated>\n"
        "<link rel=\"self\" href=\"{}/releases.atom\"/>\n<link href=\"{}\"/>\n",
        m ? m->slug : s.repository(), s.repository(), m ? ":" : "", m ? m->slug : "",
        base::iso_text(base::civil_time(count ? releases[0]->created : s.published_at())), home,
        home);
    for (std::size_t i = 0; i < count; ++i) {
        const Release& r = *releases[i];
        out += fmt::format(
            "<entry><title>{} {}</title><id>urn:bunraku:forge:{}:{}</id><updated>{}</updated>"
            "<author><name>{}</name></author><link href=\"{}\"/><summary>{}</summary></entry>\n",
            s.module_at(r.module).slug, r.version, s.repository(), r.slug,
            base::iso_text(base::civil_time(r.created)), r.author,
            href(s.repository(), s.module_at(r.module).slug, r.version),
            xml_text(fragment_text(r.line(Index::Summary))));
    }
    Response response;
    response.headers.set("Content-Type", "application/atom+xml;charset=utf-8");
    response.body = out + "</feed>\n";
    add_validators(response, tag, s.published_at());
    return response;
}

std::vector<std::string> parts_of_page(std::string_view path) {
    std::vector<std::string> out;
    for (std::string_view part : base::split(path, '/')) {
        if (!part.empty()) out.emplace_back(part);
    }
    return out;
}

}  // namespace

std::string fragment_text(std::string_view json) {
    base::Arena arena;
    auto parsed = value::parse_json(arena, json);
    return parsed && parsed->is_string() ? std::string(parsed->as_string()) : std::string();
}

std::string repository_of_page(std::string_view path) {
    const auto parts = parts_of_page(path);
    return parts.empty() ? std::string() : parts[0];
}

Response answer_page(ForgeService& service, const Request& request, std::string_view path) {
    const auto parts = parts_of_page(path);
    if (parts.empty()) return repositories_page(service, request);
    const SnapshotPtr s = service.snapshot(parts[0]);
    if (!s) return no_page();
    if (parts.size() == 1) return search_page(service, request, *s);
    if (parts.size() == 2 && parts[1] == "releases.atom") return feed(request, *s, nullptr);
    const auto name = module::parse_module_name(parts[1]);
    const SnapshotModule* m = name ? s->module(name->slug()) : nullptr;
    if (!m || !m->live || parts.size() > 3) return no_page();
    if (parts.size() == 2) return release_page(service, *s, *m, s->releases()[m->current]);
    if (parts[2] == "releases.atom") return feed(request, *s, m);
    if (parts[2] == "diff") return diff_page(request, *s, *m);
    const Release* r = s->release(fmt::format("{}-{}", m->slug, parts[2]));
    return r && !r->deleted ? release_page(service, *s, *m, *r) : no_page();
}

}  // namespace bunraku::forge
