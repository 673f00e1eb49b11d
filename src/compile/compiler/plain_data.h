// Catalogs without rich data: what the setting `rich_data` = false makes of them.
#pragma once

#include "core/base/diagnostic.h"
#include "language/evaluator/interpreter.h"
#include "resources/catalog/catalog.h"

namespace bunraku::compiler {

/// A copy of the catalog whose parameters hold JSON data only: everything rich as text, Sensitive
/// values kept as such. Each loss is an error (thrown), a warning or nothing, as `strict` says, in
/// Puppet's words (ToDataConverter).
catalog::Catalog without_rich_data(const catalog::Catalog& catalog, evaluator::Strict strict,
                                   base::LogSink& log);

/// True where a parameter holds an object of Ruby's own, which rich data has no form for.
bool holds_runtime_objects(const catalog::Catalog& catalog);
/// What rich data has no form for (objects of Ruby's own) becomes text, with a warning or, where
/// `strict` is error, with Puppet's error.
catalog::Catalog without_runtime_objects(const catalog::Catalog& catalog, evaluator::Strict strict,
                                         base::LogSink& log);

}  // namespace bunraku::compiler
