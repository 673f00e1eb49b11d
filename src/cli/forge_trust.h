// `forge key|sign|trust|metadata|bundle`: who may sign, what is signed, and how it travels.
#pragma once

#include <string>
#include <vector>

#include "modules/forge/forge_store.h"

namespace bunraku::cli {

struct ForgeTrustArguments {
    std::string repo, out, key, role, root_key, in, without;
    std::vector<std::string> signers, required;
    bool forget = false, unsigned_too = false, publish = false;
};

/// `words`: what stands behind the action. They print what they did, or why not; give the exit
/// code.
int forge_key(const ForgeTrustArguments& args, const std::vector<std::string>& words);
int forge_sign(const ForgeTrustArguments& args, const std::vector<std::string>& files);
int forge_trust(forge::ForgeStore& forge_store, const ForgeTrustArguments& args);
int forge_metadata(forge::ForgeStore& forge_store, const ForgeTrustArguments& args,
                   const std::vector<std::string>& words);
int forge_bundle(forge::ForgeStore& forge_store, const ForgeTrustArguments& args,
                 const std::vector<std::string>& words);

}  // namespace bunraku::cli
