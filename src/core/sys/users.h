// SPDX-License-Identifier: Apache-2.0
// Users and groups, from the name service or, in tests, from a table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::sys {

struct User {
    std::string name, password, comment, home, shell;
    std::uint32_t uid = 0, gid = 0;
};
struct Group {
    std::string name;
    std::uint32_t gid = 0;
    std::vector<std::string> members;
};

class Users {
public:
    virtual ~Users() = default;
    virtual std::optional<User> user(std::string_view name) = 0;
    virtual std::optional<User> user(std::uint32_t uid) = 0;
    virtual std::optional<Group> group(std::string_view name) = 0;
    virtual std::optional<Group> group(std::uint32_t gid) = 0;
    virtual std::vector<User> all_users() = 0;
    virtual std::vector<Group> all_groups() = 0;
    /// Returns the supplementary groups: those that list the user as a member, without the primary
    /// group.
    virtual std::vector<Group> groups_of(std::string_view user_name);
    virtual std::uint32_t effective_uid() = 0;
    virtual std::uint32_t effective_gid() = 0;
    bool is_root() { return effective_uid() == 0; }
};

std::unique_ptr<Users> make_real_users();

}  // namespace bunraku::sys
