// Queries from outside, PQL and AST: whatever the text, SQL or an error.
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
            store::AreRegex::compile(text)->matches("web01.example.com");
            return 0;
        }
        store::Ast ast = data[0] % 3 == 0 ? store::parse_pql(text) : store::read_query_json(text);
        // What was read can be written and read again.
        if (!(store::read_query_json(store::to_json(ast)) == ast)) std::abort();
        store::QueryOptions options;
        options.include_total = true;
        options.summarize_by = "resource";
        store::FromQuery from = store::parse_from(store::root_query(ast), options);
        for (store::Backend backend : {store::Backend::Sqlite, store::Backend::Postgresql}) {
            auto sql = store::compile_query(from.entity, from.query, options, backend);
            // No value of the query is in the text: only its shape is.
            std::size_t marks = 0;
            for (char c : sql.sql.text) marks += c == '?';
            if (marks != sql.sql.values.size()) std::abort();
        }
    } catch (const store::QueryError&) {
    }
    return 0;
}
