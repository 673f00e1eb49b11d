// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <functional>
#include <map>
#include <vector>

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "core/codec/libarchive.h"
#include "core/codec/sha1.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/db/schema.h"
#include "store/db/schema_tables.h"
#include "store/engine/anonymize.h"
#include "store/engine/archive.h"
#include "store/engine/store.h"
#include "store/query/dialect.h"
#include "store/query/report_sql.h"

namespace bunraku::store {

namespace {

using codec::libarchive;
using query::report_text_sql;
using query::ReportText;

std::string text(std::string_view value) {
    std::string out;
    codec::append_json_string(out, value);
    return out;
}
std::string text(const Statement& s, int column) {
    return s.is_null(column) ? "null" : text(s.text(column));
}
std::string flag(const Statement& s, int column) {
    return s.is_null(column) ? "null" : s.boolean(column) ? "true" : "false";
}
std::string time(const Statement& s, int column) {
    return s.is_null(column) ? "null" : "\"" + catalog::format_wire_time(s.integer(column)) + "\"";
}
std::string number(const Statement& s, int column) {
    return s.is_null(column) ? "null" : std::to_string(s.integer(column));
}
/// Returns the column's JSON as stored.
std::string json(const Statement& s, int column) {
    return s.is_null(column) ? "null" : std::string(s.text(column));
}

/// Returns a certname as a path component, so that unpacking an archive cannot write to another
/// folder.
std::string path_part(std::string_view certname) {
    std::string out;
    for (char c : certname) {
        auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f || c == '/') {
            out += fmt::format("%{:02X}", byte);
        } else {
            out += c;
        }
    }
    return out;
}

std::string file_name(std::string_view certname, std::int64_t stamp) {
    return fmt::format(
        "{}-{}.json", path_part(certname),
        codec::to_hex(codec::sha1(fmt::format("\"{}\"", catalog::format_wire_time(stamp)))));
}

}  // namespace

struct ArchiveExport::Impl {
    std::unique_ptr<Database> db;
    std::optional<Transaction> moment;
    Dialect dialect{Backend::Sqlite};
    struct archive* tar = nullptr;
    std::string ready;  ///< compressed bytes that were not returned yet
    std::vector<std::pair<std::int64_t, std::string>> nodes;
    std::size_t at = 0;
    bool begun = false, ended = false;
    Anonymizer names;

    ~Impl() {
        if (tar) libarchive().write_free(tar);
    }

    static la_ssize_t on_write(struct archive*, void* self, const void* bytes, size_t size) {
        static_cast<Impl*>(self)->ready.append(static_cast<const char*>(bytes), size);
        return static_cast<la_ssize_t>(size);
    }

    Result<void> add(const std::string& path, std::string_view body) {
        const codec::Utf8Names utf8_names;
        struct archive_entry* entry = libarchive().entry_new();
        libarchive().entry_set_pathname(entry, ("puppetdb-bak/" + path).c_str());
        libarchive().entry_set_size(entry, static_cast<la_int64_t>(body.size()));
        libarchive().entry_set_filetype(entry, AE_IFREG);
        libarchive().entry_set_perm(entry, 0600);
        libarchive().entry_set_mtime(entry, now_ms() / 1000, 0);
        int rc = libarchive().write_header(tar, entry);
        libarchive().entry_free(entry);
        if (rc < ARCHIVE_WARN || libarchive().write_data(tar, body.data(), body.size()) !=
                                     static_cast<la_ssize_t>(body.size())) {
            return base::failure(
                fmt::format("Could not write the archive: {}", libarchive().error_string(tar)),
                static_cast<int>(Failure::Other));
        }
        return {};
    }

    /// Applies one of the anonymizer's functions to a column. Returns JSON.
    std::string shown(const Statement& s, int column,
                      std::string (Anonymizer::*change)(std::string_view) const) const {
        return s.is_null(column) ? "null" : text((names.*change)(s.text(column)));
    }

    // --- Data of a node

    Result<void> node(std::int64_t id, const std::string& name) {
        std::string certname = names.node(name);
        BUNRAKU_TRY_VOID(expiration(id, certname));
        BUNRAKU_TRY_VOID(facts(id, certname));
        BUNRAKU_TRY_VOID(catalog(id, certname));
        BUNRAKU_TRY_VOID(inputs(id, certname));
        BUNRAKU_TRY_VOID(reports(id, certname));
        return deactivation(id, certname);
    }

    /// Written after all other parts of the node. PuppetDB does not have this part and ignores it.
    Result<void> deactivation(std::int64_t id, const std::string& name) {
        Statement s = BUNRAKU_TRY(db->prepare(
            "SELECT deactivated FROM certnames WHERE id = ? AND deactivated IS NOT NULL"));
        s.bind(id);
        if (!BUNRAKU_TRY(s.step())) return {};
        return add(
            "deactivate_node/" + file_name(name, s.integer(0)),
            fmt::format("{{\"certname\":{},\"producer_timestamp\":{}}}", text(name), time(s, 0)));
    }

    Result<void> expiration(std::int64_t id, const std::string& name) {
        Statement s =
            BUNRAKU_TRY(db->prepare("SELECT facts_expire, facts_expire_updated FROM certnames"
                                    " WHERE id = ? AND facts_expire_updated IS NOT NULL"));
        s.bind(id);
        if (!BUNRAKU_TRY(s.step())) return {};
        return add("configure_expiration/" + file_name(name, s.integer(1)),
                   fmt::format("{{\"certname\":{},\"producer_timestamp\":{},\"expire\":{{\"facts\":"
                               "{}}}}}",
                               text(name), time(s, 1), flag(s, 0)));
    }

    Result<void> facts(std::int64_t id, const std::string& name) {
        std::string body;
        bool packages = false;
        {
            Statement s = BUNRAKU_TRY(db->prepare(
                "SELECT e.name, p.name, f.producer_timestamp, f.package_digest FROM factsets f"
                " LEFT JOIN environments e ON e.id = f.environment_id"
                " LEFT JOIN producers p ON p.id = f.producer_id WHERE f.certname_id = ?"));
            s.bind(id);
            if (!BUNRAKU_TRY(s.step())) return {};
            body = fmt::format(
                "{{\"certname\":{},\"environment\":{},\"producer\":{},"
                "\"producer_timestamp\":{},\"values\":{{",
                text(name), shown(s, 0, &Anonymizer::environment), shown(s, 1, &Anonymizer::node),
                time(s, 2));
            packages = !s.is_null(3);
        }
        {
            Statement s = BUNRAKU_TRY(db->prepare(fmt::format(
                "SELECT f.name, {} FROM factset_facts l JOIN facts f ON f.id = l.fact_id"
                " WHERE l.certname_id = ? ORDER BY f.name",
                dialect.json_text("f.value"))));
            s.bind(id);
            bool first = true;
            while (BUNRAKU_TRY(s.step())) {
                if (!first) body += ',';
                first = false;
                body += shown(s, 0, &Anonymizer::fact_name) + ":" +
                        names.fact_value(s.text(0), json(s, 1));
            }
            body += '}';
        }
        if (packages) {
            body += ",\"package_inventory\":[";
            Statement s = BUNRAKU_TRY(
                db->prepare("SELECT p.name, p.version, p.provider FROM certname_packages l"
                            " JOIN packages p ON p.id = l.package_id WHERE l.certname_id = ?"
                            " ORDER BY 1, 2, 3"));
            s.bind(id);
            bool first = true;
            while (BUNRAKU_TRY(s.step())) {
                body +=
                    fmt::format("{}[{},{},{}]", first ? "" : ",", shown(s, 0, &Anonymizer::other),
                                shown(s, 1, &Anonymizer::other), text(s, 2));
                first = false;
            }
            body += ']';
        }
        return add("facts/" + path_part(name) + ".json", body + "}");
    }

    Result<void> catalog(std::int64_t id, const std::string& name) {
        std::string body, path;
        {
            Statement s = BUNRAKU_TRY(db->prepare(
                "SELECT c.version, e.name, c.transaction_uuid, c.catalog_uuid, c.code_id, c.job_id,"
                " p.name, c.producer_timestamp FROM catalogs c"
                " LEFT JOIN environments e ON e.id = c.environment_id"
                " LEFT JOIN producers p ON p.id = c.producer_id WHERE c.certname_id = ?"));
            s.bind(id);
            if (!BUNRAKU_TRY(s.step())) return {};
            body = fmt::format(
                "{{\"certname\":{},\"version\":{},\"environment\":{},\"transaction_uuid\":{},"
                "\"catalog_uuid\":{},\"code_id\":{},\"job_id\":{},\"producer\":{},"
                "\"producer_timestamp\":{},\"resources\":[",
                text(name), shown(s, 0, &Anonymizer::other), shown(s, 1, &Anonymizer::environment),
                shown(s, 2, &Anonymizer::uuid), shown(s, 3, &Anonymizer::uuid),
                shown(s, 4, &Anonymizer::other), shown(s, 5, &Anonymizer::other),
                shown(s, 6, &Anonymizer::node), time(s, 7));
            path = "catalogs/" + file_name(name, s.integer(7));
        }
        {
            Statement s = BUNRAKU_TRY(db->prepare(fmt::format(
                "SELECT r.type, r.title, r.exported, r.file, r.line, {}, {} FROM catalog_resources"
                " l JOIN resources r ON r.id = l.resource_id JOIN parameters p"
                " ON p.id = r.parameters_id WHERE l.certname_id = ? ORDER BY r.type, r.title",
                dialect.json_text("r.tags"), dialect.json_text("p.parameters"))));
            s.bind(id);
            bool first = true;
            while (BUNRAKU_TRY(s.step())) {
                body += fmt::format(
                    "{}{{\"type\":{},\"title\":{},\"exported\":{},\"file\":{},"
                    "\"line\":{},\"tags\":{},\"parameters\":{}}}",
                    first ? "" : ",", shown(s, 0, &Anonymizer::type),
                    text(names.title(s.text(0), s.text(1))), flag(s, 2),
                    shown(s, 3, &Anonymizer::file), names.line(number(s, 4)),
                    names.tags(json(s, 5)), names.parameters(json(s, 6)));
                first = false;
            }
            body += "],\"edges\":[";
        }
        Statement s = BUNRAKU_TRY(db->prepare(
            fmt::format("SELECT a.type, a.title, b.type, b.title, e.kind FROM catalogs c {}"
                        " JOIN resources a ON a.id = e.source JOIN resources b ON b.id = e.target"
                        " WHERE c.certname_id = ? ORDER BY 1, 2, 3, 4, 5",
                        dialect.edges("c", "e"))));
        s.bind(id);
        bool first = true;
        while (BUNRAKU_TRY(s.step())) {
            auto kind = static_cast<std::size_t>(s.integer(4));
            body += fmt::format(
                "{}{{\"source\":{{\"type\":{},\"title\":{}}},\"target\":{{\"type\":"
                "{},\"title\":{}}},\"relationship\":\"{}\"}}",
                first ? "" : ",", shown(s, 0, &Anonymizer::type),
                text(names.title(s.text(0), s.text(1))), shown(s, 2, &Anonymizer::type),
                text(names.title(s.text(2), s.text(3))),
                query::kEdgeKinds[kind < query::kEdgeKinds.size() ? kind : 0]);
            first = false;
        }
        return add(path, body + "]}");
    }

    Result<void> inputs(std::int64_t id, const std::string& name) {
        std::string body, path;
        {
            Statement s = BUNRAKU_TRY(
                db->prepare("SELECT catalog_uuid, producer_timestamp FROM catalog_inputs"
                            " WHERE certname_id = ?"));
            s.bind(id);
            if (!BUNRAKU_TRY(s.step())) return {};
            path = "catalog_inputs/" + file_name(name, s.integer(1));
            body = fmt::format(
                "{{\"certname\":{},\"catalog_uuid\":{},\"producer_timestamp\":{},"
                "\"inputs\":[",
                text(name), shown(s, 0, &Anonymizer::uuid), time(s, 1));
        }
        Statement s = BUNRAKU_TRY(
            db->prepare("SELECT type, name FROM catalog_input_contents WHERE certname_id = ?"
                        " ORDER BY 1, 2"));
        s.bind(id);
        bool first = true;
        while (BUNRAKU_TRY(s.step())) {
            body += fmt::format("{}[{},{}]", first ? "" : ",", shown(s, 0, &Anonymizer::input_type),
                                shown(s, 1, &Anonymizer::input_name));
            first = false;
        }
        return add(path, body + "]}");
    }

    Result<void> reports(std::int64_t id, const std::string& name) {
        Statement s = BUNRAKU_TRY(db->prepare(fmt::format(
            "SELECT r.id, k.puppet_version, k.report_format, k.configuration_version, r.start_time,"
            " r.end_time, r.producer_timestamp, p.name, k.corrective_change, k.noop,"
            " k.noop_pending, {}, {}, k.code_id, k.job_id, k.cached_catalog_status, e.name,"
            " k.status, CASE WHEN r.plan IS NULL THEN 'agent' ELSE 'plan' END, {}, {}"
            " FROM reports r LEFT JOIN report_kinds k ON k.id = r.kind_id"
            " LEFT JOIN environments e ON e.id = k.environment_id"
            " LEFT JOIN producers p ON p.id = k.producer_id WHERE r.certname_id = ?",
            dialect.uuid_text("r.transaction_uuid"),
            dialect.uuid_text("coalesce(r.catalog_uuid, k.catalog_uuid)"),
            dialect.json_text(report_text_sql(dialect, ReportText::Metrics, "r")),
            dialect.json_text(report_text_sql(dialect, ReportText::Logs, "r")))));
        s.bind(id);
        while (BUNRAKU_TRY(s.step())) {
            std::string body = fmt::format(
                "{{\"certname\":{},\"puppet_version\":{},\"report_format\":{},"
                "\"configuration_version\":{},\"start_time\":{},\"end_time\":{},"
                "\"producer_timestamp\":{},\"producer\":{},\"corrective_change\":{},\"noop\":{},"
                "\"noop_pending\":{},\"transaction_uuid\":{},\"catalog_uuid\":{},\"code_id\":{},"
                "\"job_id\":{},\"cached_catalog_status\":{},\"environment\":{},\"status\":{},"
                "\"type\":{},\"metrics\":{},\"logs\":{},\"resources\":[",
                text(name), text(s, 1), number(s, 2), shown(s, 3, &Anonymizer::other), time(s, 4),
                time(s, 5), time(s, 6), shown(s, 7, &Anonymizer::node), flag(s, 8), flag(s, 9),
                flag(s, 10), shown(s, 11, &Anonymizer::uuid), shown(s, 12, &Anonymizer::uuid),
                shown(s, 13, &Anonymizer::other), shown(s, 14, &Anonymizer::other), text(s, 15),
                // A report must contain an environment.
                s.is_null(16) ? "\"\"" : shown(s, 16, &Anonymizer::environment), text(s, 17),
                text(s, 18), s.is_null(19) ? "[]" : names.metrics(json(s, 19)),
                s.is_null(20) ? "[]" : names.logs(json(s, 20)));
            BUNRAKU_TRY_VOID(events(id, s.integer(0), body));
            BUNRAKU_TRY_VOID(add("reports/" + file_name(name, s.integer(6)), body + "]}"));
        }
        return {};
    }

    Result<void> events(std::int64_t node, std::int64_t report, std::string& body) {
        Statement s = BUNRAKU_TRY(db->prepare(fmt::format(
            "SELECT resource_type, resource_title, file, line, {0}, status, timestamp, property,"
            " name, {1}, {2}, message, corrective_change FROM resource_events"
            " WHERE certname_id = ? AND report_id = ? ORDER BY seq",
            dialect.json_text("containment_path"), dialect.json_text("new_value"),
            dialect.json_text("old_value"))));
        s.bind(node).bind(report);
        std::string last;
        bool open = false;
        while (BUNRAKU_TRY(s.step())) {
            bool skipped = s.text(5) == "skipped";
            std::string resource = fmt::format(
                "{{\"resource_type\":{},\"resource_title\":{},\"file\":{},\"line\":{},"
                "\"containment_path\":{},\"skipped\":{},",
                shown(s, 0, &Anonymizer::type), text(names.title(s.text(0), s.text(1))),
                shown(s, 2, &Anonymizer::file), names.line(number(s, 3)),
                s.is_null(4) ? "[]" : names.containment_path(json(s, 4)), skipped);
            if (resource != last || skipped) {
                if (open) body += "]},";
                body += resource + fmt::format(
                                       "\"timestamp\":{},\"corrective_change\":{},"
                                       "\"events\":[",
                                       time(s, 6), flag(s, 12));
                last = resource;
                open = true;
            } else {
                body += ',';
            }
            if (skipped) continue;
            body += fmt::format(
                "{{\"status\":{},\"timestamp\":{},\"property\":{},\"name\":{},"
                "\"new_value\":{},\"old_value\":{},\"message\":{},"
                "\"corrective_change\":{}}}",
                text(s, 5), time(s, 6), shown(s, 7, &Anonymizer::parameter_name), text(s, 8),
                names.parameter_value(s.text(7), json(s, 9)),
                names.parameter_value(s.text(7), json(s, 10)),
                s.is_null(11) ? "null" : text(names.message(s.text(7), s.text(11))), flag(s, 12));
        }
        if (open) body += "]}";
        return {};
    }

    Result<void> begin() {
        BUNRAKU_ASSERT(nodes.empty() && at == 0 && !begun);
        begun = true;
        Statement s = BUNRAKU_TRY(db->prepare("SELECT id, certname FROM certnames ORDER BY 2"));
        while (BUNRAKU_TRY(s.step())) nodes.emplace_back(s.integer(0), s.text(1));
        std::string versions;
        for (CommandKind kind : {CommandKind::ReplaceCatalog, CommandKind::StoreReport,
                                 CommandKind::ReplaceFacts, CommandKind::ConfigureExpiration,
                                 CommandKind::ReplaceCatalogInputs, CommandKind::DeactivateNode}) {
            std::string name(command_name(kind));
            for (char& c : name) {
                if (c == ' ') c = '_';
            }
            if (!versions.empty()) versions += ',';
            versions += fmt::format("\"{}\":{}", name, newest_version(kind));
        }
        return add("export-metadata.json",
                   fmt::format("{{\"timestamp\":\"{}\",\"command_versions\":{{{}}}}}",
                               catalog::format_wire_time(now_ms()), versions));
    }
};

ArchiveExport::ArchiveExport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ArchiveExport::~ArchiveExport() = default;

Result<std::unique_ptr<ArchiveExport>> ArchiveExport::start(const std::string& database,
                                                            std::string_view profile) {
    auto impl = std::make_unique<Impl>();
    auto names = Anonymizer::of_profile(
        profile, fmt::format("{}{}", now_ms(), reinterpret_cast<std::uintptr_t>(impl.get())));
    if (!names) {
        return base::failure(
            fmt::format("Unknown anonymization profile '{}': expected none, low,"
                        " moderate or full",
                        profile));
    }
    impl->names = *names;
    impl->db = BUNRAKU_TRY(Database::open(database, Database::Access::Read, 10000));
    BUNRAKU_TRY_VOID(check_schema(*impl->db));
    impl->dialect = Dialect(impl->db->backend());
    // The whole archive is one snapshot of the store.
    impl->moment.emplace(BUNRAKU_TRY(Transaction::begin_read(*impl->db)));
    BUNRAKU_TRY_VOID(codec::load_libarchive());
    impl->tar = libarchive().write_new();
    libarchive().write_add_filter_gzip(impl->tar);
    libarchive().write_set_filter_option(impl->tar, "gzip", "compression-level", "3");
    libarchive().write_set_format_pax_restricted(impl->tar);
    if (libarchive().write_open(impl->tar, impl.get(), nullptr, &Impl::on_write, nullptr) !=
        ARCHIVE_OK) {
        return base::failure("Could not make an archive", static_cast<int>(Failure::Other));
    }
    return std::unique_ptr<ArchiveExport>(new ArchiveExport(std::move(impl)));
}

Result<bool> ArchiveExport::next(std::string& out) {
    Impl& i = *impl_;
    if (i.ended) return false;
    if (!i.begun) BUNRAKU_TRY_VOID(i.begin());
    while (i.ready.size() < 65536 && i.at < i.nodes.size()) {
        const auto& [id, name] = i.nodes[i.at++];
        try {
            BUNRAKU_TRY_VOID(i.node(id, name));
        } catch (const codec::JsonError& e) {
            return base::failure(e.message, static_cast<int>(Failure::Other));
        }
    }
    if (i.at == i.nodes.size() && i.ready.size() < 65536) {
        BUNRAKU_ASSERT(i.begun && !i.ended);
        libarchive().write_close(i.tar);
        i.ended = true;
    }
    out += i.ready;
    i.ready.clear();
    return true;
}

}  // namespace bunraku::store
