// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/api_v3_records.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "modules/forge/markdown.h"
#include "modules/forge/pages.h"

namespace bunraku::forge {

std::vector<std::string_view> words_of(base::TextView text BUNRAKU_LIFETIMEBOUND) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t cut = text.find_first_of(" ,+");
        if (cut != 0) out.push_back(text.substr(0, cut));
        text = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);
    }
    return out;
}

namespace {

/// Writes the fields of an object in the order of their table.
template <std::size_t N>
class Object {
public:
    Object(std::string& out, const std::array<std::string_view, N>& fields, std::uint64_t mask)
        : out_(out), fields_(fields), mask_(mask) {
        out_ += '{';
    }
    /// Reports whether the next field is included. If so, the caller must write its value next.
    bool next() {
        const std::size_t i = at_++;
        if (mask_ & (std::uint64_t{1} << i)) return false;
        if (any_) out_ += ',';
        any_ = true;
        out_ += '"';
        out_ += fields_[i];
        out_ += "\":";
        return true;
    }
    void text(std::string_view raw_json) {
        if (next()) out_ += raw_json;
    }
    void quoted(std::string_view safe) {
        if (!next()) return;
        out_ += '"';
        out_ += safe;
        out_ += '"';
    }
    void end() { out_ += '}'; }

private:
    std::string& out_;
    const std::array<std::string_view, N>& fields_;
    std::uint64_t mask_;
    std::size_t at_ = 0;
    bool any_ = false;
};

/// Appends a text as a JSON string, unchanged or rendered as HTML.
void append_text(std::string& out, std::string_view json, bool html) {
    if (!html || json == "null") {
        out += json;
    } else {
        codec::append_json_string(out, markdown_html(fragment_text(json)));
    }
}

void append_short_release(std::string& out, const Release& r) {
    out.append("{\"uri\":\"/v3/releases/").append(r.slug).append("\",\"slug\":\"").append(r.slug);
    out.append("\",\"version\":\"").append(r.version).append("\",\"supported\":false,");
    out.append("\"created_at\":\"")
        .append(module::forge_time(r.created))
        .append("\",\"deleted_at\":");
    out += r.deleted ? codec::json_string(r.deleted->at) : "null";
    out.append(",\"file_uri\":\"/v3/files/").append(r.slug).append(".tar.gz\",\"file_size\":");
    fmt::format_to(std::back_inserter(out), "{}}}", r.size);
}

}  // namespace

void append_release(std::string& out, const Hit& hit, const OutputOptions& how) {
    const Release& r = *hit.release;
    const SnapshotModule& m = hit.module();
    Object<kReleaseFields.size()> o(out, kReleaseFields, how.mask);
    if (o.next()) out.append("\"/v3/releases/").append(r.slug).append("\"");
    o.quoted(r.slug);
    if (o.next()) {
        out.append("{\"uri\":\"/v3/modules/").append(m.slug).append("\",\"slug\":\"");
        out.append(m.slug).append("\",\"name\":\"").append(m.name).append("\",\"deprecated_at\":");
        if (m.deprecated) {
            codec::append_json_string(out, m.deprecated->at);
        } else {
            out += "null";
        }
        out.append(",\"owner\":").append(m.owner).append("}");
    }
    o.quoted(r.version);
    o.text(r.fragment(Fragment::Metadata));
    o.text(r.line(Index::Tags));
    o.text("false");
    o.text(r.flags & kPdk ? "true" : "false");
    o.text("0");
    if (o.next()) out.append("\"/v3/files/").append(r.slug).append(".tar.gz\"");
    if (o.next()) fmt::format_to(std::back_inserter(out), "{}", r.size);
    if (r.md5.empty()) {
        o.text("null");
    } else {
        o.quoted(r.md5);
    }
    if (r.sha256.empty()) {
        o.text("null");
    } else {
        o.quoted(r.sha256);
    }
    if (o.next()) {
        fmt::format_to(std::back_inserter(out), "{}",
                       how.downloads->of_release(hit.snapshot->repository(), r.slug));
    }
    if (o.next()) append_text(out, r.fragment(Fragment::Readme), how.html);
    if (o.next()) append_text(out, r.fragment(Fragment::Changelog), how.html);
    if (o.next()) append_text(out, r.fragment(Fragment::License), how.html);
    if (o.next()) append_text(out, r.fragment(Fragment::Reference), how.html);
    o.text("null");
    o.text("null");
    o.text(r.fragment(Fragment::Tasks));
    o.text(r.fragment(Fragment::Plans));
    o.quoted(module::forge_time(r.created));
    o.quoted(r.deleted ? r.deleted->at : module::forge_time(r.created));
    if (o.next()) out += r.deleted ? codec::json_string(r.deleted->at) : "null";
    if (o.next()) out += r.deleted ? codec::json_string(r.deleted->reason) : "null";
    o.end();
}

void append_module(std::string& out, const Snapshot& s, const SnapshotModule& m,
                   const OutputOptions& how) {
    const Release& current = s.releases()[m.current];
    std::int64_t first = current.created, last = current.created;
    for (std::uint32_t i : m.releases) {
        first = std::min(first, s.releases()[i].created);
        last = std::max(last, s.releases()[i].created);
    }
    Object<kModuleFields.size()> o(out, kModuleFields, how.mask);
    if (o.next()) out.append("\"/v3/modules/").append(m.slug).append("\"");
    o.quoted(m.slug);
    o.quoted(m.name);
    if (o.next()) {
        fmt::format_to(std::back_inserter(out), "{}",
                       how.downloads->of_module(s.repository(), m.slug));
    }
    o.quoted(module::forge_time(first));
    o.quoted(m.deprecated ? std::max(m.deprecated->at, module::forge_time(last))
                          : module::forge_time(last));
    if (o.next()) out += m.deprecated ? codec::json_string(m.deprecated->at) : "null";
    if (o.next()) {
        out += m.deprecated && !m.deprecated->reason.empty()
                   ? codec::json_string(m.deprecated->reason)
                   : "null";
    }
    if (o.next()) {
        if (m.deprecated && !m.deprecated->replacement.empty()) {
            out.append("{\"uri\":\"/v3/modules/").append(m.deprecated->replacement);
            out.append("\",\"slug\":\"").append(m.deprecated->replacement).append("\"}");
        } else {
            out += "null";
        }
    }
    o.text("false");
    o.text("null");
    o.text("\"base\"");
    o.text("false");
    o.text(m.owner);
    if (o.next())
        append_release(out, {&s, &current}, {.html = how.html, .downloads = how.downloads});
    if (o.next()) {
        out += '[';
        bool any = false;
        for (std::uint32_t i : m.releases) {
            const Release& r = s.releases()[i];
            if (r.deleted && m.live) continue;
            if (any) out += ',';
            any = true;
            append_short_release(out, r);
        }
        out += ']';
    }
    o.text("null");
    o.text(current.line(Index::ProjectPage));
    o.text(current.line(Index::IssuesUrl));
    o.end();
}

void append_user(std::string& out, const Author& u, std::uint64_t mask) {
    const std::string owner = owner_json(u.name);
    const std::size_t at = owner.rfind(":\"") + 2;
    Object<kUserFields.size()> o(out, kUserFields, mask);
    if (o.next()) out.append("\"/v3/users/").append(u.name).append("\"");
    o.quoted(u.name);
    o.quoted(std::string_view(owner).substr(at, owner.size() - at - 2));
    o.quoted(u.name);
    o.quoted(u.name);
    if (o.next()) out += std::to_string(u.releases);
    if (o.next()) out += std::to_string(u.modules);
    o.quoted(module::forge_time(u.first));
    o.quoted(module::forge_time(u.last));
    o.end();
}

}  // namespace bunraku::forge
