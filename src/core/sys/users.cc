// SPDX-License-Identifier: Apache-2.0
// Users and groups from the name service.
#include "core/sys/users.h"

#include <algorithm>
#include <cerrno>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

namespace bunraku::sys {

namespace {

std::string text(const char* p) { return p ? p : ""; }

User convert(const passwd& p) {
    return {text(p.pw_name),  text(p.pw_passwd), text(p.pw_gecos), text(p.pw_dir),
            text(p.pw_shell), p.pw_uid,          p.pw_gid};
}
Group convert(const group& g) {
    Group out{text(g.gr_name), g.gr_gid, {}};
    for (char** m = g.gr_mem; m && *m; ++m) out.members.emplace_back(*m);
    return out;
}

/// Calls one of the get*_r functions with a large enough buffer.
template <class Record, class Result, class Call>
std::optional<Result> query(Call call) {
    std::vector<char> buffer(4096);
    for (;;) {
        Record record{};
        Record* found = nullptr;
        int rc = call(&record, buffer.data(), buffer.size(), &found);
        if (rc == ERANGE && buffer.size() < (16u << 20)) {
            buffer.resize(buffer.size() * 4);
            continue;
        }
        if (rc == EINTR) continue;
        if (!found) return std::nullopt;
        return convert(*found);
    }
}

class RealUsers final : public Users {
public:
    std::optional<User> user(std::string_view name) override {
        std::string n(name);
        return query<passwd, User>([&](passwd* p, char* b, std::size_t s, passwd** f) {
            return ::getpwnam_r(n.c_str(), p, b, s, f);
        });
    }
    std::optional<User> user(std::uint32_t uid) override {
        return query<passwd, User>([&](passwd* p, char* b, std::size_t s, passwd** f) {
            return ::getpwuid_r(uid, p, b, s, f);
        });
    }
    std::optional<Group> group(std::string_view name) override {
        std::string n(name);
        return query<::group, Group>([&](::group* g, char* b, std::size_t s, ::group** f) {
            return ::getgrnam_r(n.c_str(), g, b, s, f);
        });
    }
    std::optional<Group> group(std::uint32_t gid) override {
        return query<::group, Group>([&](::group* g, char* b, std::size_t s, ::group** f) {
            return ::getgrgid_r(gid, g, b, s, f);
        });
    }
    std::vector<User> all_users() override {
        std::vector<User> out;
        ::setpwent();
        while (const passwd* p = ::getpwent()) out.push_back(convert(*p));
        ::endpwent();
        return out;
    }
    std::vector<Group> all_groups() override {
        std::vector<Group> out;
        ::setgrent();
        while (const ::group* g = ::getgrent()) out.push_back(convert(*g));
        ::endgrent();
        return out;
    }
    std::uint32_t effective_uid() override { return ::geteuid(); }
    std::uint32_t effective_gid() override { return ::getegid(); }
};

}  // namespace

std::vector<Group> Users::groups_of(std::string_view user_name) {
    std::vector<Group> out;
    for (Group& g : all_groups()) {
        if (std::find(g.members.begin(), g.members.end(), user_name) != g.members.end()) {
            out.push_back(std::move(g));
        }
    }
    return out;
}

std::unique_ptr<Users> make_real_users() { return std::make_unique<RealUsers>(); }

}  // namespace bunraku::sys
