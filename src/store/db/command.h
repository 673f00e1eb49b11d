// Commands: what PuppetDB's clients send, decoded and validated, and put into the tables. One file
// a command, command_<name>.cc.
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

/// "replace catalog".
std::string_view command_name(CommandKind kind);
std::optional<CommandKind> command_from_name(std::string_view name);
/// The versions that can be decoded.
int oldest_version(CommandKind kind);
int newest_version(CommandKind kind);

struct CommandHeader {
    CommandKind kind = CommandKind::ReplaceCatalog;
    int version = 0;
    std::string certname;
    std::int64_t received = 0;            ///< milliseconds since the epoch
    std::int64_t producer_timestamp = 0;  ///< as the request's parameter has it; 0: it has none
};

enum class Applied {
    Stored,
    Unchanged,  ///< the same content again
    Obsolete,   ///< older than what is known
    Duplicate,  ///< a report that is there already
};

/// Which facts are not kept.
struct FactsBlocklist {
    std::vector<std::string> names;
    bool regex = false;  ///< `names` are regular expressions (Ruby's)
    bool empty() const { return names.empty(); }
    /// Compiles the expressions; fails with the first that is none.
    Result<void> prepare();
    bool blocks(std::string_view name) const;

private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

struct CommandOptions {
    std::int64_t resource_events_ttl_ms = 0;  ///< older events are not kept; 0: all are
    FactsBlocklist blocklist;
};

/// A command that has been decoded and found well-formed.
class PreparedCommand {
public:
    virtual ~PreparedCommand() = default;
    /// Inside a transaction of `writer`. An error without a code is the command's own fault: trying
    /// again does not help.
    virtual Result<Applied> apply(Writer& writer) = 0;
    /// The resources that the node exports since then and did not before.
    virtual std::span<const std::int64_t> new_exports() const { return {}; }
};

/// `body` outlives what is given back. Errors are the command's fault: they say what is wrong.
Result<std::unique_ptr<PreparedCommand>> prepare_command(const CommandHeader& header,
                                                         std::string_view body,
                                                         const CommandOptions& options);

// Used by prepare_command; throw JsonError.
std::unique_ptr<PreparedCommand> prepare_catalog(const CommandHeader&, std::string_view body);
std::unique_ptr<PreparedCommand> prepare_facts(const CommandHeader&, std::string_view body,
                                               const CommandOptions&);
std::unique_ptr<PreparedCommand> prepare_report(const CommandHeader&, std::string_view body,
                                                const CommandOptions&);
std::unique_ptr<PreparedCommand> prepare_deactivate(const CommandHeader&, std::string_view body);
std::unique_ptr<PreparedCommand> prepare_expiration(const CommandHeader&, std::string_view body);
std::unique_ptr<PreparedCommand> prepare_inputs(const CommandHeader&, std::string_view body);

}  // namespace bunraku::store
