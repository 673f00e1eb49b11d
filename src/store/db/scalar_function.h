// SPDX-License-Identifier: Apache-2.0
// Registers SQL functions in SQLite.
#pragma once

#include <sqlite3.h>

namespace bunraku::store {

using ScalarFunction = void (*)(sqlite3_context*, int, sqlite3_value**);

inline constexpr int kFunctionFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

/// Catches all exceptions, because none may pass through SQLite's frames.
template <ScalarFunction F>
void guarded(sqlite3_context* context, int argc, sqlite3_value** argv) {
    try {
        F(context, argc, argv);
    } catch (...) {
        sqlite3_result_error_nomem(context);
    }
}

inline void add_function(sqlite3* db, const char* name, int arity, ScalarFunction f) {
    sqlite3_create_function_v2(db, name, arity, kFunctionFlags, nullptr, f, nullptr, nullptr,
                               nullptr);
}

}  // namespace bunraku::store
