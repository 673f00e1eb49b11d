// SPDX-License-Identifier: Apache-2.0
// Commands: decodes and validates what PuppetDB's clients send, and writes it to the tables. Each
// command has its own file, command_<name>.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/writer.h"

namespace bunraku::store {

enum class CommandKind : std::uint8_t {
    ReplaceCatalog = 1,
    ReplaceFacts,
    StoreReport,
    DeactivateNode,
    ConfigureExpiration,
    ReplaceCatalogInputs,
};
inline constexpr CommandKind kCommandKinds[] = {
    CommandKind::ReplaceCatalog,      CommandKind::ReplaceFacts,
    CommandKind::StoreReport,         CommandKind::DeactivateNode,
    CommandKind::ConfigureExpiration, CommandKind::ReplaceCatalogInputs};

/// Returns the name, such as "replace catalog".
std::string_view command_name(CommandKind kind);
std::optional<CommandKind> command_from_name(std::string_view name);
/// Returns the oldest version that can be decoded.
int oldest_version(CommandKind kind);
int newest_version(CommandKind kind);

struct CommandHeader {
    CommandKind kind = CommandKind::ReplaceCatalog;
    int version = 0;
    std::string certname;
    std::int64_t received = 0;            ///< milliseconds since the epoch
    std::int64_t producer_timestamp = 0;  ///< request parameter; 0 if absent
};

enum class Applied {
    Stored,
    Unchanged,  ///< the same content was stored before
    Obsolete,   ///< older than the stored data
    Duplicate,  ///< the report exists already
};

/// The facts that are not stored.
struct FactsBlocklist {
    std::vector<std::string> names;
    bool regex = false;  ///< `names` are Ruby regular expressions
    bool empty() const { return names.empty(); }
    /// Compiles the expressions. Fails with the first invalid one.
    Result<void> prepare();
    bool blocks(std::string_view name) const;

private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

struct CommandOptions {
    std::int64_t resource_events_ttl_ms = 0;  ///< older events are not stored; 0 means no limit
    FactsBlocklist blocklist;
};

/// A command that was decoded and is well-formed.
class PreparedCommand {
public:
    virtual ~PreparedCommand() = default;
    /// Applies the command inside a transaction of `writer`. An error without a code means that the
    /// command itself is invalid, so a retry does not help.
    virtual Result<Applied> apply(Writer& writer) = 0;
    /// Applies the command without a transaction of the caller, in one round trip, if nothing but
    /// its metadata is new. Returns nullopt if it must be applied with apply(). PostgreSQL only.
    virtual Result<std::optional<Applied>> apply_unchanged(Writer&) { return std::nullopt; }
    /// Returns the resources that the node exports since this command and did not export before.
    virtual std::span<const std::int64_t> new_exports() const { return {}; }
};

/// Decodes a command. `body` must outlive the result. Errors describe what is wrong with the
/// command.
Result<std::unique_ptr<PreparedCommand>> prepare_command(const CommandHeader& header,
                                                         std::string_view body,
                                                         const CommandOptions& options);

// Used by prepare_command(). They throw JsonError.
std::unique_ptr<PreparedCommand> prepare_catalog(const CommandHeader&, std::string_view body);
std::unique_ptr<PreparedCommand> prepare_facts(const CommandHeader&, std::string_view body,
                                               const CommandOptions&);
std::unique_ptr<PreparedCommand> prepare_report(const CommandHeader&, std::string_view body,
                                                const CommandOptions&);
std::unique_ptr<PreparedCommand> prepare_deactivate(const CommandHeader&, std::string_view body);
std::unique_ptr<PreparedCommand> prepare_expiration(const CommandHeader&, std::string_view body);
std::unique_ptr<PreparedCommand> prepare_inputs(const CommandHeader&, std::string_view body);

}  // namespace bunraku::store
