// SPDX-License-Identifier: Apache-2.0
// `forge key|sign|trust|metadata|bundle`: keys, signatures, signed metadata, and bundles for
// transport.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "modules/forge/forge_store.h"

namespace bunraku::forge {

/// The arguments of the commands, and the streams that they write to.
struct TrustArguments {
    std::string repo, out, key, role, root_key, in, without;
    std::vector<std::string> signers, required;
    bool any_file = false, forget = false, unsigned_too = false, publish = false;
    /// Returns the text of an error about wrong usage with a hint about the help.
    std::function<std::string(std::string_view text)> usage_text;
    std::FILE* results = stdout;
    std::FILE* errors = stderr;
};

/// `words` are the arguments after the action. These functions write the result or an error,
/// and return the exit code.
int key_command(const TrustArguments& args, const std::vector<std::string>& words);
int sign_command(const TrustArguments& args, const std::vector<std::string>& files);
int trust_command(ForgeStore& forge_store, const TrustArguments& args);
int metadata_command(ForgeStore& forge_store, const TrustArguments& args,
                     const std::vector<std::string>& words);
int bundle_command(ForgeStore& forge_store, const TrustArguments& args,
                   const std::vector<std::string>& words);

}  // namespace bunraku::forge
