// What a client demands of releases before it takes them (CONFDIR/forge_trust.conf): signatures,
// and that a forge's signed metadata names just these bytes.
//
//   forge https://forge.example.org/pulp_puppet/forge/repository/site    what follows is about it
//   root /etc/puppetlabs/site-root.json [ADDRESS of the metadata]
//   signer acme RWQ...                                                   may sign for that author
//   require_signed acme
//   forge *                                                              of all of them
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

/// A client of the metadata at `address` ("http(s)://", "file://" or a folder). What it saw stays
/// in a folder of its own below `state`, for as long as one begins with the same root.
base::Result<std::unique_ptr<TufClient>> tuf_client_of(const std::string& address,
                                                       const std::string& root_file,
                                                       const std::string& state,
                                                       const FeedOptions& access);
/// Where the metadata of a forge or a published tree is; empty: its address does not tell.
std::string metadata_address(std::string_view forge);

/// Used by many threads at once.
class ForgeTrust {
public:
    /// Null: there is no such file. One that cannot be understood lets nothing through.
    static std::shared_ptr<ForgeTrust> read(const std::string& path, const std::string& state);

    /// The one of this machine: CONFDIR/forge_trust.conf, VARDIR/forge_seen.
    static std::shared_ptr<ForgeTrust> of(const std::string& confdir, const std::string& vardir) {
        return read(confdir + "/forge_trust.conf", vardir + "/forge_seen");
    }

    /// Is anything demanded of that forge's releases?
    bool demands(std::string_view forge) const {
        return !broken_.empty() || !sections_of(forge).empty();
    }
    /// May these bytes be installed as `release` of `forge`? The error says why not. `access`: how
    /// that forge is reached. Asks for its metadata (once in a process) and for the signature.
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
