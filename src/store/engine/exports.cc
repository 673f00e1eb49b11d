// SPDX-License-Identifier: Apache-2.0
#include "store/engine/exports.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/codec/json_text.h"
#include "resources/catalog/exported.h"
#include "store/engine/query.h"

namespace bunraku::store {

namespace {

struct Exporter {
    ExportClash::Side side;
    std::int64_t resource = 0;
};

/// Returns the active nodes that export the resource.
Result<std::vector<Exporter>> exporters_of(Database& db, std::string_view type,
                                           std::string_view title) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT n.certname, r.file, r.line, r.id FROM resources r"
                   " JOIN catalog_resources l ON l.resource_id = r.id"
                   " JOIN certnames n ON n.id = l.certname_id"
                   " WHERE r.exported = 1 AND r.type = ? AND r.title = ?"
                   " AND n.deactivated IS NULL AND n.expired IS NULL ORDER BY n.certname"));
    s.bind(type).bind(title);
    std::vector<Exporter> out;
    while (BUNRAKU_TRY(s.step())) {
        out.push_back(
            {{std::string(s.text(0)), std::string(s.text(1)), s.integer(2)}, s.integer(3)});
    }
    return out;
}

/// Reports whether a collector collects the stored resource. Returns false if the collector's query
/// cannot be evaluated again.
Result<bool> takes(Database& db, const std::string& name, std::int64_t resource) {
    base::Arena arena(1024);
    const auto asked = catalog::export_of_name(name, arena);
    if (!asked) return false;
    if (!asked->query) return true;
    const SqlCondition condition = BUNRAKU_TRY(to_sql(*asked->query));
    Statement s = BUNRAKU_TRY(db.prepare_once(
        fmt::format("SELECT 1 FROM resources r WHERE r.id = ? AND {}", condition.sql)));
    s.bind(resource);
    for (const auto& value : condition.values) {
        std::visit([&](const auto& v) { s.bind(v); }, value);
    }
    return s.step();
}

Result<bool> takes(const std::string& name, const catalog::Resource& resource) {
    base::Arena arena(1024);
    const auto asked = catalog::export_of_name(name, arena);
    return asked && catalog::collects(asked->query.get(), resource);
}

void append_side(std::string& out, const ExportClash::Side& side) {
    out += fmt::format("{{\"certname\":{},\"file\":{},\"line\":{}}}",
                       codec::json_string(side.certname),
                       side.file.empty() ? "null" : codec::json_string(side.file),
                       side.line == 0 ? "null" : std::to_string(side.line));
}

}  // namespace

std::string ExportClash::text() const {
    auto place = [](const Side& side) {
        const std::string where =
            base::format_location({side.file, static_cast<int>(side.line), 0});
        return side.certname + (where.empty() ? "" : " at " + where);
    };
    return fmt::format(
        "A duplicate resource was found while collecting exported resources, with the type and"
        " title {}[{}]: exported by {} and exported by {}, collected by {}",
        type, title, place(other), place(own), fmt::join(collectors, ", "));
}

Result<const std::vector<ExportChecker::Collection>*> ExportChecker::collections(
    const std::string& type) {
    auto at = known_.find(type);
    if (at != known_.end()) return &at->second;
    Statement s = BUNRAKU_TRY(db_.prepare(
        "SELECT n.certname, x.name FROM exported_collections x"
        " JOIN certnames n ON n.id = x.certname_id WHERE x.type = ?"
        " AND n.deactivated IS NULL AND n.expired IS NULL ORDER BY n.certname, x.name"));
    s.bind(type);
    std::vector<Collection> out;
    while (BUNRAKU_TRY(s.step())) {
        out.push_back({std::string(s.text(0)), std::string(s.text(1))});
    }
    return &known_.emplace(type, std::move(out)).first->second;
}

template <class Takes>
Result<void> ExportChecker::add(std::vector<ExportClash>& out, ExportClash clash,
                                const Takes& takes_own) {
    const auto* asked = BUNRAKU_TRY(collections(clash.type));
    if (asked->empty()) return {};
    for (const Exporter& e : BUNRAKU_TRY(exporters_of(db_, clash.type, clash.title))) {
        if (e.side.certname == clash.own.certname) continue;
        for (const Collection& c : *asked) {
            if (!clash.collectors.empty() && clash.collectors.back() == c.certname) continue;
            if (BUNRAKU_TRY(takes_own(c.name)) && BUNRAKU_TRY(takes(db_, c.name, e.resource))) {
                clash.collectors.push_back(c.certname);
            }
        }
        if (clash.collectors.empty()) continue;
        clash.other = e.side;
        out.push_back(std::move(clash));
        break;
    }
    return {};
}

Result<std::vector<ExportClash>> ExportChecker::clashes(std::string_view certname,
                                                        const catalog::Catalog& catalog) {
    std::vector<ExportClash> out;
    for (const catalog::Resource& r : catalog.resources) {
        if (!r.exported) continue;
        ExportClash own{r.ref.type, r.ref.title, {std::string(certname), r.file, r.line}, {}, {}};
        BUNRAKU_TRY_VOID(
            add(out, std::move(own), [&](const std::string& name) { return takes(name, r); }));
    }
    return out;
}

Result<std::vector<ExportClash>> ExportChecker::clashes(std::string_view certname,
                                                        std::span<const std::int64_t> resources) {
    std::vector<ExportClash> out;
    for (const std::int64_t id : resources) {
        ExportClash own;
        {
            Statement s = BUNRAKU_TRY(
                db_.prepare("SELECT type, title, file, line FROM resources WHERE id = ?"));
            s.bind(id);
            if (!BUNRAKU_TRY(s.step())) continue;  // a newer catalog has replaced it
            own = {std::string(s.text(0)),
                   std::string(s.text(1)),
                   {std::string(certname), std::string(s.text(2)), s.integer(3)},
                   {},
                   {}};
        }
        BUNRAKU_TRY_VOID(add(out, std::move(own),
                             [&](const std::string& name) { return takes(db_, name, id); }));
    }
    return out;
}

Result<std::vector<SharedExport>> ExportChecker::all(std::size_t most) {
    std::vector<SharedExport> out;
    {
        Statement s = BUNRAKU_TRY(
            db_.prepare("SELECT r.type, r.title FROM resources r"
                        " JOIN catalog_resources l ON l.resource_id = r.id"
                        " JOIN certnames n ON n.id = l.certname_id WHERE r.exported = 1"
                        " AND n.deactivated IS NULL AND n.expired IS NULL GROUP BY r.type, r.title"
                        " HAVING count(*) > 1 ORDER BY r.type, r.title LIMIT ?"));
        s.bind(most);
        while (BUNRAKU_TRY(s.step()))
            out.push_back({std::string(s.text(0)), std::string(s.text(1)), {}, {}});
    }
    for (SharedExport& shared : out) {
        const auto* asked = BUNRAKU_TRY(collections(shared.type));
        std::vector<Exporter> exporters = BUNRAKU_TRY(exporters_of(db_, shared.type, shared.title));
        for (const Collection& c : *asked) {
            std::size_t taken = 0;
            for (const Exporter& e : exporters)
                taken += BUNRAKU_TRY(takes(db_, c.name, e.resource));
            if (taken > 1) shared.collectors.push_back(c.certname);
        }
        auto& collectors = shared.collectors;
        collectors.erase(std::unique(collectors.begin(), collectors.end()), collectors.end());
        for (Exporter& e : exporters) shared.exporters.push_back(std::move(e.side));
    }
    return out;
}

Result<void> ExportChecker::append_all(std::string& out, std::size_t most) {
    BUNRAKU_ASSERT(!out.empty());
    for (const SharedExport& shared : BUNRAKU_TRY(all(most))) {
        if (out.back() == '}') out += ',';
        out += fmt::format("{{\"type\":{},\"title\":{},\"exporters\":[",
                           codec::json_string(shared.type), codec::json_string(shared.title));
        for (const auto& side : shared.exporters) {
            if (out.back() == '}') out += ',';
            append_side(out, side);
        }
        out += "],\"collectors\":[";
        for (const std::string& c : shared.collectors) {
            if (out.back() == '"') out += ',';
            out += codec::json_string(c);
        }
        out += "]}";
    }
    return {};
}

Result<std::vector<std::string>> known_collections(Database& db, std::string_view certname) {
    std::vector<std::string> known;
    Statement s =
        BUNRAKU_TRY(db.prepare("SELECT x.name FROM exported_collections x JOIN certnames n"
                               " ON n.id = x.certname_id WHERE n.certname = ? ORDER BY x.name"));
    s.bind(certname);
    while (BUNRAKU_TRY(s.step())) known.emplace_back(s.text(0));
    return known;
}

Result<void> remember_collections(Writer& writer, std::string_view certname,
                                  const std::vector<std::string>& names) {
    Database& db = writer.db();
    if (BUNRAKU_TRY(known_collections(db, certname)) == names) return {};
    auto write = [&]() -> Result<void> {
        Transaction transaction = BUNRAKU_TRY(writer.begin());
        const Writer::Node node = BUNRAKU_TRY(writer.node(certname, Writer::IfMissing::Create));
        Statement gone =
            BUNRAKU_TRY(db.prepare("DELETE FROM exported_collections WHERE certname_id = ?"));
        gone.bind(node.id);
        BUNRAKU_TRY_VOID(gone.run());
        Statement s = BUNRAKU_TRY(db.prepare(
            "INSERT INTO exported_collections (certname_id, type, name) VALUES (?, ?, ?)"));
        for (const std::string& name : names) {
            s.bind(node.id).bind(std::string_view(name).substr(0, name.find(' '))).bind(name);
            BUNRAKU_TRY_VOID(s.run());
            s.reset();
        }
        return transaction.commit();
    };
    auto done = write();
    if (!done) writer.forget();
    return done;
}

Result<std::string> exports_json(Database& db, std::size_t most) {
    std::string out = "{\"exported\":[";
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("SELECT t.type, count(*), sum(t.resources) FROM catalog_types t"
                                   " JOIN certnames n ON n.id = t.certname_id WHERE t.exported = 1"
                                   " AND n.deactivated IS NULL AND n.expired IS NULL"
                                   " GROUP BY t.type ORDER BY t.type"));
        while (BUNRAKU_TRY(s.step())) {
            if (out.back() == '}') out += ',';
            out += fmt::format("{{\"type\":{},\"nodes\":{},\"resources\":{}}}",
                               codec::json_string(s.text(0)), s.integer(1), s.text(2));
        }
    }
    out += "],\"collected\":[";
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("SELECT x.type, n.certname, x.name FROM exported_collections x"
                       " JOIN certnames n ON n.id = x.certname_id"
                       " WHERE n.deactivated IS NULL AND n.expired IS NULL ORDER BY 1, 2, 3"));
        while (BUNRAKU_TRY(s.step())) {
            if (out.back() == '}') out += ',';
            const std::string_view name = s.text(2);
            const std::size_t space = name.find(' ');
            // A query without a JSON form appears as "?".
            const std::string query = space == std::string_view::npos ? "null"
                                      : name.substr(space + 1).front() != '['
                                          ? codec::json_string("?")
                                          : std::string(name.substr(space + 1));
            out += fmt::format("{{\"type\":{},\"certname\":{},\"query\":{}}}",
                               codec::json_string(s.text(0)), codec::json_string(s.text(1)), query);
        }
    }
    out += "],\"clashes\":[";
    BUNRAKU_TRY_VOID(ExportChecker(db).append_all(out, most));
    return out + "]}";
}

}  // namespace bunraku::store
