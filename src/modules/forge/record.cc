// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/record.h"

#include <charconv>
#include <fmt/format.h>
#include <set>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"

namespace bunraku::forge {

namespace {

constexpr std::string_view kMagic = "bunraku-release-1", kMagicApart = "bunraku-release-2";
static_assert(kMagic.size() == kMagicApart.size());
/// Number of fields in the header. A record whose texts are in a store has additional fields for
/// the generation and the offsets.
constexpr std::size_t kFields = 10 + kFragments, kFieldsApart = kFields + 1 + kFragments;

/// Replaces the separators of fields and lines in external text.
std::string flat(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return out;
}

std::string_view stem(base::TextView name BUNRAKU_LIFETIMEBOUND) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

const std::string* text_named(const module::Tarball& tarball, std::string_view word) {
    // README.md before README before README.markdown: the first existing one in this order is used.
    const std::string* found = nullptr;
    for (const auto& [path, content] : tarball.texts) {
        if (path.find('/') != path.npos || !base::lower(path).starts_with(word)) continue;
        if (base::lower(path) == std::string(word) + ".md") return &content;
        const std::string rest = base::lower(path).substr(word.size());
        if (!rest.empty() && rest[0] != '.') continue;
        if (!found) found = &content;
    }
    return found;
}

std::string text_json(const module::Tarball& tarball, std::string_view word) {
    const std::string* text = text_named(tarball, word);
    return text ? codec::json_string(*text) : "null";
}

std::string tasks_json(const module::Tarball& tarball) {
    std::set<std::string> names;
    std::map<std::string, std::vector<std::string>> programs;
    for (const auto& [path, content] : tarball.texts) {
        if (!path.starts_with("tasks/")) continue;
        const std::string file = path.substr(6);
        const std::string name(stem(file));
        // The name of a task is a Puppet identifier; other files are helpers.
        if (name.empty() || file == "README.md") continue;
        names.insert(name);
        if (!file.ends_with(".json")) programs[name].push_back(file);
    }
    std::string out = "[";
    for (const std::string& name : names) {
        std::string metadata = "{}", description = "null";
        const auto js = tarball.texts.find("tasks/" + name + ".json");
        if (js != tarball.texts.end()) {
            base::Arena arena;
            if (auto v = value::parse_json(arena, js->second); v && v->is_hash()) {
                metadata = value::to_json(*v);
                const value::Value* d = v->as_hash().find("description");
                if (d && d->is_string()) description = codec::json_string(d->as_string());
            }
        }
        if (out.size() > 1) out += ',';
        out += "{\"name\":" + codec::json_string(name) + ",\"executable\":";
        const auto& files = programs[name];
        out += files.empty() ? "null" : codec::json_string(files[0]);
        out += ",\"executables\":[";
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (i) out += ',';
            codec::append_json_string(out, files[i]);
        }
        out += "],\"description\":" + description + ",\"metadata\":" + metadata + "}";
    }
    return out + "]";
}

struct Plan {
    std::string name, path;
    const std::string* source = nullptr;
    int line = 1;
    bool hidden = false;
    std::string text, tags;  ///< from the comment above the plan: text, JSON list of tags
};

/// Reads the comment directly above `plan`.
void read_plan_comment(Plan& plan) {
    std::vector<std::string_view> block;
    std::string_view rest = *plan.source;
    int line = 0;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        std::string_view row = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
        ++line;
        if (row.starts_with("plan ")) {
            plan.line = line;
            break;
        }
        if (row.starts_with("#")) {
            row.remove_prefix(1);
            if (row.starts_with(" ")) row.remove_prefix(1);
            block.push_back(row);
        } else {
            block.clear();
        }
    }
    plan.tags = "[";
    for (std::string_view row : block) {
        if (!row.starts_with("@")) {
            if (!plan.text.empty()) plan.text += '\n';
            plan.text += row;
            continue;
        }
        row.remove_prefix(1);
        const std::size_t blank = row.find(' ');
        const std::string_view tag = row.substr(0, blank);
        std::string_view text =
            blank == std::string_view::npos ? std::string_view{} : row.substr(blank + 1);
        if (tag == "private" || (tag == "api" && text == "private")) plan.hidden = true;
        if (plan.tags.size() > 1) plan.tags += ',';
        plan.tags += "{\"tag_name\":" + codec::json_string(tag);
        if (tag == "param") {
            const std::size_t cut = text.find(' ');
            plan.tags += ",\"name\":" + codec::json_string(text.substr(0, cut));
            text = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);
        }
        plan.tags += ",\"text\":" + codec::json_string(text) + "}";
    }
    plan.tags += "]";
}

void plans_json(const module::Tarball& tarball, std::string* list, std::string* details) {
    *list = "[";
    *details = "[";
    const std::string& module = tarball.metadata.module.name;
    for (const auto& [path, content] : tarball.texts) {
        if (!path.starts_with("plans/")) continue;
        if (!path.ends_with(".pp") && !path.ends_with(".yaml")) continue;
        Plan plan{.path = path, .source = &content};
        std::string inner(stem(std::string_view(path).substr(6)));
        plan.name = module;
        if (inner != "init") {
            plan.name += "::";
            for (char c : inner) {
                if (c == '/') {
                    plan.name += "::";
                } else {
                    plan.name += c;
                }
            }
        }
        read_plan_comment(plan);
        const std::string uri =
            fmt::format("/v3/releases/{}/plans/{}", tarball.metadata.slug(), plan.name);
        if (list->size() > 1) {
            *list += ',';
            *details += ',';
        }
        *list += fmt::format("{{\"uri\":{},\"name\":{},\"private\":{}}}", codec::json_string(uri),
                             codec::json_string(plan.name), plan.hidden);
        *details += fmt::format(
            "{{\"uri\":{},\"name\":{},\"filename\":{},\"private\":{},\"plan_metadata\":{{"
            "\"name\":{},\"file\":{},\"line\":{},\"private\":{},\"source\":{},\"defaults\":{{}},"
            "\"docstring\":{{\"text\":{},\"tags\":{}}}}}}}",
            codec::json_string(uri), codec::json_string(plan.name), codec::json_string(path),
            plan.hidden, codec::json_string(plan.name), codec::json_string(path), plan.line,
            plan.hidden, codec::json_string(content), codec::json_string(plan.text), plan.tags);
    }
    *list += ']';
    *details += ']';
}

std::string index_block(const module::Metadata& m) {
    std::string v1 = "[", names, tags = "[", systems, requirements;
    for (const module::Dependency& d : m.dependencies) {
        if (v1.size() > 1) v1 += ',';
        v1 += "[" + codec::json_string(d.name) + "," + codec::json_string(d.requirement) + "]";
        if (!names.empty()) names += ' ';
        names += d.name;
    }
    v1 += ']';
    std::string words = base::lower(m.module.slug() + " " + m.module.slashed() + " " + m.summary);
    for (const std::string& tag : m.tags) {
        if (tags.size() > 1) tags += ',';
        codec::append_json_string(tags, tag);
        words += ' ' + base::lower(tag);
    }
    tags += ']';
    for (const module::Metadata::System& s : m.systems) {
        systems += '\t' + flat(base::lower(s.name)) + '|';
        for (const std::string& r : s.releases) systems += flat(base::lower(r)) + '|';
    }
    for (const module::Dependency& r : m.requirements) {
        requirements += '\t' + flat(r.name) + '=' + flat(r.requirement);
    }
    std::string out;
    for (const std::string& row :
         {v1, names, flat(words), tags, systems, requirements,
          m.has_summary ? codec::json_string(m.summary) : std::string("null"),
          m.has_project_page ? codec::json_string(m.project_page) : std::string("null"),
          m.has_issues_url ? codec::json_string(m.issues_url) : std::string("null"),
          m.dependencies_json}) {
        out += row;
        out += '\n';
    }
    return out;
}

std::string assemble(const module::Metadata& m, std::uint64_t size, std::string_view md5,
                     std::string_view sha256, std::int64_t created, unsigned flags,
                     const std::array<std::string, kFragments>& fragments) {
    BUNRAKU_ASSERT((flags & kRemote) == 0 || (flags & kPulled) == 0);
    const std::string index = index_block(m);
    std::string out =
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", kMagic, m.module.author,
                    m.module.name, m.version, size, md5, sha256, created, flags, index.size());
    for (const std::string& f : fragments) out += fmt::format("\t{}", f.size());
    out += '\n';
    out += index;
    for (const std::string& f : fragments) out += f;
    return out;
}

}  // namespace

std::uint64_t RecordView::fragments_size() const {
    std::uint64_t sum = 0;
    for (std::uint32_t n : lengths) sum += n;
    return sum;
}

std::string RecordView::slug() const {
    std::string out(author);
    return out.append("-").append(name).append("-").append(version);
}

std::string make_record(const module::Tarball& tarball, std::uint64_t size, std::string_view md5,
                        std::string_view sha256, std::int64_t created, unsigned flags) {
    std::array<std::string, kFragments> f;
    f[static_cast<std::size_t>(Fragment::Metadata)] = tarball.metadata.json;
    std::string tasks = tasks_json(tarball), plans, details;
    plans_json(tarball, &plans, &details);
    if (tarball.metadata.pdk) flags |= kPdk;
    if (tasks.size() > 2) flags |= kHasTasks;
    if (plans.size() > 2) flags |= kHasPlans;
    f[static_cast<std::size_t>(Fragment::Tasks)] = std::move(tasks);
    f[static_cast<std::size_t>(Fragment::Plans)] = std::move(plans);
    f[static_cast<std::size_t>(Fragment::PlanDetails)] = std::move(details);
    f[static_cast<std::size_t>(Fragment::Readme)] = text_json(tarball, "readme");
    f[static_cast<std::size_t>(Fragment::Changelog)] = text_json(tarball, "changelog");
    f[static_cast<std::size_t>(Fragment::License)] = text_json(tarball, "license");
    f[static_cast<std::size_t>(Fragment::Reference)] = text_json(tarball, "reference");
    return assemble(tarball.metadata, size, md5, sha256, created, flags, f);
}

std::string make_record(const RemoteRelease& r) {
    unsigned flags = kRemote | (r.metadata.pdk ? kPdk : 0U);
    if (r.has_tasks) flags |= kHasTasks;
    if (r.has_plans) flags |= kHasPlans;
    return assemble(r.metadata, r.size, r.md5, r.sha256, r.created, flags, r.fragments);
}

std::string record_apart(std::string_view head, std::uint32_t generation,
                         const std::array<std::uint64_t, kFragments>& places) {
    const std::size_t end = head.find('\n');
    BUNRAKU_ASSERT(head.starts_with(kMagic) && end != std::string_view::npos);
    std::string out(kMagicApart);
    out += head.substr(kMagic.size(), end - kMagic.size());
    out += fmt::format("\t{}", generation);
    for (std::uint64_t place : places) out += fmt::format("\t{}", place);
    return out.append(head.substr(end));
}

std::string record_whole(std::string_view head, std::string_view fragments) {
    const std::size_t end = head.find('\n');
    BUNRAKU_ASSERT(head.starts_with(kMagicApart) && end != std::string_view::npos);
    std::string_view header = head.substr(kMagicApart.size(), end - kMagicApart.size());
    for (std::size_t i = kFields; i < kFieldsApart; ++i) {
        header = header.substr(0, header.rfind('\t'));
    }
    std::string out(kMagic);
    return out.append(header).append(head.substr(end)).append(fragments);
}

std::optional<RecordView> read_record(std::string_view* bytes) {
    const std::size_t end = bytes->find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view header = bytes->substr(0, end);
    std::array<std::string_view, kFieldsApart> fields;
    std::size_t n = 0;
    for (; n < fields.size(); ++n) {
        const std::size_t tab = header.find('\t');
        fields[n] = header.substr(0, tab);
        if (tab == std::string_view::npos) {
            ++n;
            break;
        }
        header.remove_prefix(tab + 1);
    }
    RecordView r;
    r.apart = fields[0] == kMagicApart;
    if (n != (r.apart ? kFieldsApart : kFields) || (!r.apart && fields[0] != kMagic)) {
        return std::nullopt;
    }
    r.author = fields[1];
    r.name = fields[2];
    r.version = fields[3];
    r.md5 = fields[5];
    r.sha256 = fields[6];
    std::uint64_t index_size = 0;
    if (!base::read_integer(fields[4], r.size) || !base::read_integer(fields[7], r.created) ||
        !base::read_integer(fields[8], r.flags) || !base::read_integer(fields[9], index_size)) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < kFragments; ++i) {
        if (!base::read_integer(fields[10 + i], r.lengths[i])) return std::nullopt;
        if (r.apart && !base::read_integer(fields[kFields + 1 + i], r.places[i])) {
            return std::nullopt;
        }
    }
    if (r.apart && !base::read_integer(fields[kFields], r.generation)) return std::nullopt;
    bytes->remove_prefix(end + 1);
    if (index_size > bytes->size()) return std::nullopt;
    std::string_view block = bytes->substr(0, index_size);
    for (std::size_t i = 0; i < kIndexLines; ++i) {
        const std::size_t eol = block.find('\n');
        if (eol == std::string_view::npos) return std::nullopt;
        r.index[i] = block.substr(0, eol);
        block.remove_prefix(eol + 1);
    }
    if (!block.empty()) return std::nullopt;
    bytes->remove_prefix(index_size);
    return r;
}

}  // namespace bunraku::forge
