// SPDX-License-Identifier: Apache-2.0
// Who may use a forge: consumers, tokens and users. Part of the forge's state (forge_store.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "modules/forge/readers.h"

namespace bunraku::forge {

class ForgeStore;

struct Binding {
    std::string consumer, repository;
};

/// A token with write access. Only a digest of the token is stored.
struct Token {
    std::string name, sha256;
    std::vector<std::string> repositories;  ///< "*" means all repositories
    bool reads_only = false;
    std::int64_t until = 0;  ///< seconds since the epoch; 0 means no expiry
    bool allows(std::string_view repository) const;
    bool over(std::int64_t now) const { return until != 0 && until <= now; }
};

/// The files consumers, tokens and users. Refers to the store, which must outlive it.
class ForgeAccess {
public:
    explicit ForgeAccess(const ForgeStore& store) : store_(store) {}

    base::Result<bool> bind(std::string_view consumer, std::string_view repo) const;
    base::Result<bool> unbind(std::string_view consumer, std::string_view repo) const;
    /// Removes the bindings of a repository.
    base::Result<void> unbind_all(std::string_view repo) const;
    std::vector<Binding> bindings() const;
    std::string consumers_file() const;

    /// Creates a token and returns its text, which is not stored.
    base::Result<std::string> add_token(const std::string& name,
                                        const std::vector<std::string>& repositories,
                                        bool reads_only = false, std::int64_t until = 0) const;
    base::Result<bool> remove_token(const std::string& name) const;
    std::vector<Token> tokens() const;
    std::string tokens_file() const;

    /// Creates a user and returns the password, which is not stored. For an existing user, replaces
    /// the password, groups and expiry.
    base::Result<std::string> add_user(const std::string& name,
                                       const std::vector<std::string>& groups,
                                       std::int64_t until) const;
    base::Result<bool> remove_user(const std::string& name) const;
    std::vector<User> users() const;
    std::string users_file() const;

private:
    base::Result<void> change_bindings(
        const std::function<void(std::vector<Binding>&)>& change) const;

    const ForgeStore& store_;
};

}  // namespace bunraku::forge
