// SPDX-License-Identifier: Apache-2.0
#include "store/engine/query.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "resources/catalog/json_text.h"
#include "store/engine/impl.h"

namespace bunraku::store {

namespace {

using catalog::CollectorQuery;
using Kind = CollectorQuery::Kind;

constexpr int kMaxDepth = 200;  // SQLite rejects much deeper expressions

class Translator {
public:
    base::Result<SqlCondition> run(const CollectorQuery& query) {
        out_.selective = BUNRAKU_TRY(term(query, 0));
        return std::move(out_);
    }

private:
    /// Appends the term. Returns true if it alone matches only a few rows.
    base::Result<bool> term(const CollectorQuery& q, int depth) {
        if (depth > kMaxDepth) return base::failure("The collector's query is nested too deeply");
        switch (q.kind) {
            case Kind::Equal:
            case Kind::NotEqual: return comparison(q);
            case Kind::And:
            case Kind::Or: break;
        }
        if (!q.left || !q.right) return base::failure("The collector's query is incomplete");
        out_.sql += '(';
        bool left = BUNRAKU_TRY(term(*q.left, depth + 1));
        out_.sql += q.kind == Kind::And ? " AND " : " OR ";
        bool right = BUNRAKU_TRY(term(*q.right, depth + 1));
        out_.sql += ')';
        return q.kind == Kind::And ? left || right : left && right;
    }

    base::Result<bool> comparison(const CollectorQuery& q) {
        bool equal = q.kind == Kind::Equal;
        if (q.attribute == "title") {
            out_.sql += equal ? "r.title = ?" : "r.title <> ?";
            out_.values.emplace_back(catalog::plain_text(q.operand));
            // The index over exported resources already contains the title after the type.
            return false;
        }
        if (q.attribute == "tag") return tags(q, equal);
        if (q.operand.is_undef()) {
            out_.sql += equal ? "r.id NOT IN" : "r.id IN";
            out_.sql += " (SELECT resource_id FROM exported_params WHERE name = ? AND member = 0)";
            out_.values.emplace_back(q.attribute);
            return false;
        }
        out_.sql += equal ? "r.id IN" : "r.id NOT IN";
        out_.sql += " (SELECT resource_id FROM exported_params WHERE name = ? AND value = ?";
        // An array equals each of its members, but also differs from them.
        out_.sql += equal ? ")" : " AND member = 0)";
        out_.values.emplace_back(q.attribute);
        out_.values.emplace_back(match_text(q.operand));
        return equal;
    }

    base::Result<bool> tags(const CollectorQuery& q, bool equal) {
        std::vector<catalog::Value> wanted{q.operand};
        if (q.operand.is_array()) {
            auto items = q.operand.as_array();
            wanted.assign(items.begin(), items.end());
        }
        out_.sql += equal ? "r.id IN" : "r.id NOT IN";
        out_.sql += " (SELECT resource_id FROM exported_tags WHERE tag IN (";
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (wanted[i].is_numeric()) return base::failure("Cannot transform a number to a tag");
            if (i > 0) out_.sql += ',';
            out_.sql += '?';
            out_.values.emplace_back(base::lower(catalog::plain_text(wanted[i])));
        }
        out_.sql += "))";
        return equal;
    }

    SqlCondition out_;
};

}  // namespace

base::Result<SqlCondition> to_sql(const CollectorQuery& query) { return Translator().run(query); }

}  // namespace bunraku::store
