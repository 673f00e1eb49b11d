// SPDX-License-Identifier: Apache-2.0
// The facts of a machine in the form in which they are sent to its server.
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

/// Returns Puppet's document of a node's facts: {"name", "values", "timestamp", "expiration"}. The
/// facts are valid for one `runinterval`.
value::Value facts_document(base::Arena& arena, const config::Settings& settings,
                            std::string_view node, const value::Value& facts, std::int64_t now_ns);

/// Implements `puppet facts upload`: sends the facts to the server under the name from
/// node_name_value or node_name_fact. Uses the existing certificate and does not request one.
/// Errors have Puppet's text, or are "" if they were logged already.
base::Result<void> upload_facts(const config::Settings& settings, base::LogSink& log,
                                sys::System& system, const std::string& user_agent,
                                const value::Value& facts, http::Network* network = nullptr);

}  // namespace bunraku::agent
