// A machine's facts as they go to its server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "core/value/value.h"
#include "net/http/client.h"

namespace bunraku::agent {

/// {"name", "values", "timestamp", "expiration"}: Puppet's document of a node's facts, which are
/// good for one `runinterval`.
value::Value facts_document(base::Arena& arena, const config::Settings& settings,
                            std::string_view node, const value::Value& facts, std::int64_t now_ns);

/// `puppet facts upload`: puts them on the server, under the name that node_name_value or
/// node_name_fact gives. The certificate is the one that is there; none is asked for. Errors are
/// Puppet's, and "" where they were logged already.
base::Result<void> upload_facts(const config::Settings& settings, base::LogSink& log,
                                sys::System& system, const std::string& user_agent,
                                const value::Value& facts, http::Network* network = nullptr);

}  // namespace bunraku::agent
