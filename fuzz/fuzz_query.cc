// SPDX-License-Identifier: Apache-2.0
// External queries in PQL and AST: for any text, the result is SQL or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/query/are_regex.h"
#include "store/query/compile.h"
#include "store/query/pql.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    try {
        if (data[0] % 3 == 2) {
            query::AreRegex::compile(text)->matches("web01.example.com");
            return 0;
        }
        query::Ast ast = data[0] % 3 == 0 ? query::parse_pql(text) : query::read_query_json(text);
        // A parsed query can be written and read again.
        if (!(query::read_query_json(query::to_json(ast)) == ast)) std::abort();
        query::QueryOptions options;
        options.include_total = true;
        options.summarize_by = "resource";
        query::FromQuery from = query::parse_from(query::root_query(ast), options);
        for (query::Backend backend : {query::Backend::Sqlite, query::Backend::Postgresql}) {
            auto sql = query::compile_query(from.entity, from.query, options, backend);
            // The SQL text depends only on the shape of the query and contains none of its values.
            std::size_t marks = 0;
            for (char c : sql.sql.text) marks += c == '?';
            if (marks != sql.sql.values.size()) std::abort();
        }
    } catch (const query::QueryError&) {
    }
    return 0;
}
