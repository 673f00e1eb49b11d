// SPDX-License-Identifier: Apache-2.0
#include "store/db/sqlite_functions.h"

#include <array>
#include <sqlite3.h>
#include <string_view>
#include <vector>

#include "core/base/assert.h"
#include "store/db/packed.h"
#include "store/db/query_functions.h"
#include "store/db/report_texts.h"

namespace bunraku::store {

namespace {

// Columns of edges_of(blob), an eponymous virtual table. The hidden column is the argument.

enum Column { kSource, kTarget, kKind, kBlob };

struct Cursor {
    sqlite3_vtab_cursor base;
    std::vector<PackedEdge> edges;
    std::size_t at = 0;
};

int connect(sqlite3* db, void*, int, const char* const*, sqlite3_vtab** out, char**) {
    int rc = sqlite3_declare_vtab(
        db, "CREATE TABLE x(source INTEGER, target INTEGER, kind INTEGER, blob HIDDEN)");
    if (rc != SQLITE_OK) return rc;
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    *out = new sqlite3_vtab{};
    return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
    delete table;
    return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
    for (int i = 0; i < info->nConstraint; ++i) {
        const auto& c = info->aConstraint[i];
        if (c.iColumn != kBlob || c.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!c.usable) return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1000;
        info->estimatedRows = 700;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    auto* c = new Cursor{};
    *out = &c->base;
    return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* c) {
    delete reinterpret_cast<Cursor*>(c);
    return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int, const char*, int argc, sqlite3_value** argv) {
    auto* c = reinterpret_cast<Cursor*>(base);
    c->at = 0;
    c->edges.clear();
    if (argc < 1 || sqlite3_value_type(argv[0]) != SQLITE_BLOB) return SQLITE_OK;
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(argv[0]));
    auto size = static_cast<std::size_t>(sqlite3_value_bytes(argv[0]));
    c->edges = unpack_edges({bytes ? bytes : "", size});
    return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
    BUNRAKU_ASSERT(reinterpret_cast<Cursor*>(base)->at <
                   reinterpret_cast<Cursor*>(base)->edges.size());
    ++reinterpret_cast<Cursor*>(base)->at;
    return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* base) {
    auto* c = reinterpret_cast<Cursor*>(base);
    return c->at >= c->edges.size();
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    auto* c = reinterpret_cast<Cursor*>(base);
    BUNRAKU_ASSERT(c->at < c->edges.size());
    const PackedEdge& e = c->edges[c->at];
    switch (column) {
        case kSource: sqlite3_result_int64(context, e.source); break;
        case kTarget: sqlite3_result_int64(context, e.target); break;
        case kKind: sqlite3_result_int64(context, e.kind); break;
        default: sqlite3_result_null(context);
    }
    return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(reinterpret_cast<Cursor*>(base)->at);
    return SQLITE_OK;
}

const sqlite3_module kEdgesOf = [] {
    sqlite3_module m{};
    m.iVersion = 0;
    m.xConnect = connect;
    m.xBestIndex = best_index;
    m.xDisconnect = disconnect;
    m.xOpen = open;
    m.xClose = close;
    m.xFilter = filter;
    m.xNext = next;
    m.xEof = eof;
    m.xColumn = column;
    m.xRowid = rowid;
    return m;
}();

std::array<void (*)(sqlite3*), 8> g_more{};

}  // namespace

void add_sqlite_functions(void (*register_them)(sqlite3* db)) {
    for (auto& slot : g_more) {
        if (slot == register_them) return;
        if (slot) continue;
        slot = register_them;
        return;
    }
}

void register_sqlite_functions(sqlite3* db) {
    sqlite3_create_module(db, "edges_of", &kEdgesOf, nullptr);
    register_query_functions(db);
    register_report_functions(db);
    for (auto* f : g_more) {
        if (f) f(db);
    }
}

}  // namespace bunraku::store
