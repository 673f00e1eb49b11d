// Columns of a statement as JSON.
#pragma once

#include <string>

#include "store/db/database.h"
#include "store/query/compile.h"

namespace bunraku::store {

/// Appends the value of column `i` as it is shown (OutputColumn::Nested as the text it is).
void append_column(std::string& out, const Statement& s, int i, query::OutputColumn::Kind kind);

}  // namespace bunraku::store
