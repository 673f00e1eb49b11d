// SPDX-License-Identifier: Apache-2.0
// The actions of the command `ca` on the certificate authority: of this machine, or over HTTP.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"

namespace bunraku::server {

/// What an action is to do, and the streams that it writes to.
struct CaInput {
    config::Settings settings;
    std::string program;                 ///< "bunraku", for messages
    std::vector<std::string> certnames;  ///< from --certname, split at commas
    std::vector<std::string> serials;
    std::string alternative_names, ca_name, ttl, format;
    std::string private_key, bundle, lists;  ///< for `import`
    std::string stage;                       ///< for `rollover`
    std::string within;                      ///< for `doctor`
    bool all = false, json = false, ca_client = false, force = false, infra = false;
    bool expired = false, revoked = false;
    bool duplicates = false, entries = false;
    std::FILE* out = stdout;  ///< receives results
    std::FILE* err = stderr;  ///< receives errors
};

/// An exit code. An error is fatal and is reported like a fatal error of puppetserver-ca.
using CaOutcome = base::Result<int>;

CaOutcome ca_list(const CaInput& input);
CaOutcome ca_sign(const CaInput& input);
CaOutcome ca_revoke(const CaInput& input);
CaOutcome ca_clean(const CaInput& input);
CaOutcome ca_generate(const CaInput& input);

CaOutcome ca_setup(CaInput& input);
CaOutcome ca_import(CaInput& input);
CaOutcome ca_enable(const CaInput& input);
CaOutcome ca_migrate(const CaInput& input);
CaOutcome ca_prune(const CaInput& input);
CaOutcome ca_delete(const CaInput& input);

CaOutcome ca_doctor(const CaInput& input);
CaOutcome ca_rollover(const CaInput& input);

/// Writes "Error:" and these lines to `input.err`. Returns the exit code 1.
int ca_wrong(const CaInput& input, const std::vector<std::string>& lines);
/// Parses a duration such as "90d", "1y" or "3600". If it is invalid, prints an error and returns
/// nullopt.
std::optional<std::int64_t> ca_ttl(const CaInput& input, const std::string& text);
/// Returns true and prints an error if a server is running that does not use Bunraku's lock.
base::Result<bool> ca_must_stop(const CaInput& input);

}  // namespace bunraku::server
