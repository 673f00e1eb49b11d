// The store that a command compiles with: the embedded one, or a PuppetDB-compatible service.
#pragma once

#include <memory>
#include <string>

#include "base/diagnostic.h"
#include "base/result.h"
#include "catalog/catalog.h"
#include "catalog/naming.h"
#include "compiler/exported_source.h"
#include "config/settings.h"
#include "store/store.h"

namespace bunraku::cli {

/// A service is asked where the setting puppetdb_url (--puppetdb-url) names one, and where
/// storeconfigs_backend is "puppetdb" and was set, or there is a puppetdb.conf in confdir.
/// Everything is opened on first use; errors are thrown.
class StoreAccess {
public:
    /// Both must outlive it.
    StoreAccess(const config::Settings& settings, base::LogSink& log);
    ~StoreAccess();

    compiler::ExportedSource& exported();
    /// PQL, or a syntax tree in arrays.
    base::Result<value::Value> query(const value::Value& query, base::Arena& arena);
    /// Remembers a compiled catalog; a service gets the facts before it, where there are some.
    void store_catalog(const std::string& node, const catalog::Catalog& catalog,
                       const value::Value& facts, const catalog::Naming& naming);
    /// The embedded one.
    store::Store& embedded();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::cli
