// SPDX-License-Identifier: Apache-2.0
// Formats the columns of a statement as JSON.
#pragma once

#include <string>

#include "store/db/database.h"
#include "store/query/compile.h"

namespace bunraku::store {

/// Appends the value of column `i` in output format. Appends the text of OutputColumn::Nested
/// unchanged.
void append_column(std::string& out, const Statement& s, int i, query::OutputColumn::Kind kind);

}  // namespace bunraku::store
