// SPDX-License-Identifier: Apache-2.0
// The report of a simulated run, as a real agent would send it for its catalog.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/value/value.h"

namespace bunraku::load {

/// The data of a catalog that a simulated agent remembers.
struct KnownCatalog {
    struct Resource {
        std::string type, title, file;
        std::int64_t line = 0;
    };
    std::string version, uuid, code_id, environment;
    std::uint64_t resources = 0;
    /// all resources, or a sample that runs can report as changed
    std::vector<Resource> named;
    /// such as "modules/app/motd"; without metadata in the catalog
    std::vector<std::string> sources;
    std::vector<std::string> contents;  ///< the same, with metadata in the catalog

    /// Reads a catalog. Records at most `most` resources, spread over the catalog.
    static KnownCatalog of(const value::Value& catalog, std::size_t most);
};

struct ReportOptions {
    std::string node, transaction_uuid, server;
    std::int64_t now_ns = 0;
    double seconds = 0, retrieval_seconds = 0;
    std::vector<std::size_t> drifted;  ///< indexes into `named` of resources that were changed
    bool whole = false;                ///< include the statuses of unchanged resources
};
/// Returns the report in format 12, as JSON.
std::string simulated_report(const KnownCatalog& catalog, const ReportOptions& options);
/// Return the two parts of the report of an unchanged run: the part that differs between such runs,
/// and the part that they share.
std::string simulated_difference(const ReportOptions& options);
std::string simulated_identity(const KnownCatalog& catalog, const ReportOptions& options);

}  // namespace bunraku::load
