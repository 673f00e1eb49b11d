// The report of a run that was never made: what an agent would say of the catalog it got.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/value/value.h"

namespace bunraku::load {

/// What is remembered of a catalog.
struct KnownCatalog {
    struct Resource {
        std::string type, title, file;
        std::int64_t line = 0;
    };
    std::string version, uuid, code_id, environment;
    std::uint64_t resources = 0;
    std::vector<Resource> named;        ///< all, or a sample that runs can find changed
    std::vector<std::string> sources;   ///< "modules/app/motd": not described by the catalog
    std::vector<std::string> contents;  ///< the same, of those that are described

    /// `most`: so many resources are named, spread over the catalog.
    static KnownCatalog of(const value::Value& catalog, std::size_t most);
};

struct ReportOptions {
    std::string node, transaction_uuid, server;
    std::int64_t now_ns = 0;
    double seconds = 0, retrieval_seconds = 0;
    std::vector<std::size_t> drifted;  ///< of `named`: found changed, and put right
    bool whole = false;  ///< with the statuses of resources that are as they should be
};
/// Format 12, as JSON.
std::string simulated_report(const KnownCatalog& catalog, const ReportOptions& options);
/// Of a run in which nothing happened: what differs from the last such run's, and what both have in
/// common.
std::string simulated_difference(const ReportOptions& options);
std::string simulated_identity(const KnownCatalog& catalog, const ReportOptions& options);

}  // namespace bunraku::load
