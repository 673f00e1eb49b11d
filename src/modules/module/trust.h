// SPDX-License-Identifier: Apache-2.0
// A client's requirements for releases (CONFDIR/forge_trust.conf): signatures, and matching digests
// in the signed metadata of the forge.
//
//   forge https://forge.example.org/pulp_puppet/forge/repository/site    the next lines are for it
//   root /etc/puppetlabs/site-root.json [ADDRESS of the metadata]
//   signer acme RWQ...                                                   may sign for that author
//   require_signed acme
//   forge *                                                              for all forges
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "modules/module/feed.h"
#include "modules/module/signature.h"
#include "modules/module/tuf.h"

namespace bunraku::module {

/// Returns a client for the metadata at `address` ("http(s)://", "file://" or a folder). Its state
/// is stored in a subfolder of `state` that depends on the initial root.
base::Result<std::unique_ptr<TufClient>> tuf_client_of(const std::string& address,
                                                       const std::string& root_file,
                                                       const std::string& state,
                                                       const FeedOptions& access);
/// Returns the metadata address of a forge or a published tree. Empty if it cannot be derived.
std::string metadata_address(std::string_view forge);

/// The configured requirements and their verification. Thread-safe.
class ForgeTrust {
public:
    /// Returns null if the file does not exist. If it is invalid, all releases are refused.
    static std::shared_ptr<ForgeTrust> read(const std::string& path, const std::string& state);

    /// Reads the configuration of this machine: CONFDIR/forge_trust.conf and VARDIR/forge_seen.
    static std::shared_ptr<ForgeTrust> of(const std::string& confdir, const std::string& vardir) {
        return read(confdir + "/forge_trust.conf", vardir + "/forge_seen");
    }

    /// Reports whether there are requirements for the releases of that forge.
    bool demands(std::string_view forge) const {
        return !broken_.empty() || !sections_of(forge).empty();
    }
    /// Checks whether these bytes may be installed as `release` of `forge`. The error gives the
    /// reason. `access` describes the connection to the forge. Fetches the metadata (once per
    /// process) and the signature.
    base::Result<void> check(const std::string& forge, const FeedOptions& access,
                             const ReleaseName& release, std::string_view bytes);

private:
    struct Section {
        std::string forge, root, address;
        SignatureRules rules;
    };
    base::Result<void> parse(std::string_view text);
    std::vector<const Section*> sections_of(std::string_view forge) const;
    base::Result<TufClient*> metadata(const Section& section, const FeedOptions& access);

    std::string path_, state_, broken_;
    std::vector<Section> sections_;
    std::mutex mutex_;
    struct Known {
        std::unique_ptr<TufClient> client;
        base::Result<void> outcome;
    };
    std::map<std::string, Known> known_;  ///< by forge
};

}  // namespace bunraku::module
