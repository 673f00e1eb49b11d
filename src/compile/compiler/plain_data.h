// SPDX-License-Identifier: Apache-2.0
// Conversion of catalogs for the setting `rich_data` = false.
#pragma once

#include "core/base/diagnostic.h"
#include "language/evaluator/interpreter.h"
#include "resources/catalog/catalog.h"

namespace bunraku::compiler {

/// Returns a copy of the catalog whose parameters hold JSON data only. Rich values become text;
/// Sensitive values stay sensitive. `strict` decides whether each loss is an error (thrown), a
/// warning or ignored, with Puppet's messages (ToDataConverter).
catalog::Catalog without_rich_data(const catalog::Catalog& catalog, evaluator::Strict strict,
                                   base::LogSink& log);

/// Returns true if a parameter holds a Ruby object that rich data cannot represent.
bool holds_runtime_objects(const catalog::Catalog& catalog);
/// Replaces Ruby objects that rich data cannot represent with text. Logs a warning, or throws
/// Puppet's error if `strict` is error.
catalog::Catalog without_runtime_objects(const catalog::Catalog& catalog, evaluator::Strict strict,
                                         base::LogSink& log);

}  // namespace bunraku::compiler
