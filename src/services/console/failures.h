// SPDX-License-Identifier: Apache-2.0
// Groups the failures of all nodes: the same failure of many nodes is one kind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "services/console/fleet.h"
#include "services/console/message_parts.h"
#include "store/engine/runs.h"
#include "store/engine/service.h"

namespace bunraku::console {

struct FailureKind {
    struct Node {
        std::string certname, run;  ///< `run` is the hash of the report, hexadecimal
        std::int64_t time = 0;
        std::string code;
    };
    struct Part {
        std::string text;              ///< of one node
        std::string_view kind;         ///< as in MessagePart
        std::set<std::string> values;  ///< of all nodes, at most kMostValues
    };
    std::string id;    ///< in addresses
    std::string type;  ///< resource type; empty if the whole run failed
    std::vector<Part> title, message;
    std::string file;  ///< of the manifest; may be empty
    std::int64_t line = 0;
    std::vector<Node> nodes;  ///< sorted by name
    std::int64_t since = 0;   ///< the oldest stored failure of the resource, or 0
    std::string since_code;

    static constexpr std::size_t kMostValues = 100;
};

/// Reads the failures of the latest runs. It remembers those of each report, so that a page reads
/// only new reports. Thread-safe.
class FailureKinds {
public:
    /// Returns the kinds on the nodes that the viewer may see, those with most nodes first.
    base::Result<std::vector<FailureKind>> current(store::Service& store, const Fleet& fleet,
                                                   const Viewer& viewer);

    /// If more nodes fail, the newest runs are read.
    static constexpr std::size_t kMostNodes = 2000;

private:
    struct Failure {
        std::string type, title, message, file;
        std::int64_t line = 0, time = 0;
    };
    using Failures = std::shared_ptr<const std::vector<Failure>>;
    static base::Result<Failures> read(store::Database& db, const store::RunRow& run);
    base::Result<Failures> failures_of(store::Service& store, const store::RunRow& run);
    base::Result<void> add_first(store::Service& store, FailureKind& kind,
                                 const std::string& title);

    std::mutex mutex_;
    std::map<std::int64_t, Failures> by_report_;
    std::map<std::string, store::FirstFailure> first_;  ///< by kind
};

/// An error in the log of a run.
struct LoggedError {
    std::string message, file;
    std::int64_t line = 0;
};
/// Returns the first error in the log, for example of a failed compile.
base::Result<std::optional<LoggedError>> first_error(store::Database& db, const store::RunRow& run);

/// Returns the title and message of a kind in one line of text, without markup.
std::string failure_text(const FailureKind& kind);

}  // namespace bunraku::console
