// The actions of `ca`; inside this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"

namespace bunraku::cli {

/// What the command line says.
struct CaInput {
    config::Settings settings;
    std::string program;                 ///< "bunraku", for messages
    std::vector<std::string> certnames;  ///< of --certname, split at commas
    std::vector<std::string> serials;
    std::string alternative_names, ca_name, ttl, format;
    std::string private_key, bundle, lists;  ///< of `import`
    std::string stage;                       ///< of `rollover`
    std::string within;                      ///< of `doctor`
    bool all = false, json = false, ca_client = false, force = false, infra = false;
    bool expired = false, revoked = false;
    bool duplicates = false, entries = false;
};

/// An exit code; an error is fatal: told as puppetserver-ca tells it.
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

/// "Error:" and these lines on standard error; the exit code 1.
int ca_wrong(const std::vector<std::string>& lines);
/// "90d", "1y", "3600"; nullopt, and told on standard error: none.
std::optional<std::int64_t> ca_ttl(const std::string& text);
/// True, and told: a server that knows nothing of our lock runs.
base::Result<bool> ca_must_stop(const config::Settings& settings);

}  // namespace bunraku::cli
