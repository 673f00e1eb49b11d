// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/forge_access.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "modules/forge/forge_store.h"
#include "modules/forge/store_files.h"

namespace bunraku::forge {

using base::failure;
using base::Result;

bool Token::allows(std::string_view repository) const {
    return std::any_of(repositories.begin(), repositories.end(),
                       [&](const std::string& r) { return r == "*" || r == repository; });
}

std::string ForgeAccess::consumers_file() const { return store_.root() + "/consumers"; }
std::string ForgeAccess::tokens_file() const { return store_.root() + "/tokens"; }
std::string ForgeAccess::users_file() const { return store_.root() + "/users"; }

std::vector<Binding> ForgeAccess::bindings() const {
    std::vector<Binding> out;
    auto text = store_.files_->read(consumers_file());
    if (!text) return out;
    for (std::string_view row : base::split(*text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() == 2) out.push_back({std::string(f[0]), std::string(f[1])});
    }
    return out;
}

Result<void> ForgeAccess::change_bindings(
    const std::function<void(std::vector<Binding>&)>& change) const {
    auto held = BUNRAKU_TRY(store_.lock(".consumers"));
    std::vector<Binding> all = bindings();
    change(all);
    std::string text;
    for (const Binding& b : all) text += b.consumer + "\t" + b.repository + "\n";
    return store_.files_->replace(consumers_file(), text, {.mode = 0644, .sync = true});
}

Result<bool> ForgeAccess::bind(std::string_view consumer, std::string_view repo) const {
    if (!module::valid_identifier(consumer)) {
        return failure(fmt::format("'{}' is not a valid consumer ID", one_line(consumer)));
    }
    BUNRAKU_TRY_VOID(store_.need(repo));
    bool added = false;
    BUNRAKU_TRY_VOID(change_bindings([&](std::vector<Binding>& all) {
        for (const Binding& b : all) {
            if (b.consumer == consumer && b.repository == repo) return;
        }
        all.push_back({std::string(consumer), std::string(repo)});
        added = true;
    }));
    return added;
}

Result<bool> ForgeAccess::unbind(std::string_view consumer, std::string_view repo) const {
    bool removed = false;
    BUNRAKU_TRY_VOID(change_bindings([&](std::vector<Binding>& all) {
        removed = std::erase_if(all, [&](const Binding& b) {
                      return b.consumer == consumer && b.repository == repo;
                  }) > 0;
    }));
    return removed;
}

Result<void> ForgeAccess::unbind_all(std::string_view repo) const {
    return change_bindings([&](std::vector<Binding>& all) {
        std::erase_if(all, [&](const Binding& b) { return b.repository == repo; });
    });
}

std::vector<Token> ForgeAccess::tokens() const {
    std::vector<Token> out;
    auto text = store_.files_->read(tokens_file());
    if (!text) return out;
    for (std::string_view row : base::split(*text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() != 3 && f.size() != 5) continue;
        Token t{std::string(f[0]), std::string(f[1]), {}};
        if (f.size() == 5) {
            t.reads_only = f[3] == "read";
            t.until = base::parse_integer<std::int64_t>(f[4]).value_or(1);
        }
        for (std::string_view r : base::split(f[2], ',')) t.repositories.emplace_back(r);
        out.push_back(std::move(t));
    }
    return out;
}

Result<std::string> ForgeAccess::add_token(const std::string& name,
                                           const std::vector<std::string>& repositories,
                                           bool reads_only, std::int64_t until) const {
    if (!module::valid_identifier(name)) {
        return failure(fmt::format("'{}' is not a valid name of a token", one_line(name)));
    }
    std::string list;
    for (const std::string& r : repositories) {
        if (r != "*" && !module::valid_identifier(r)) return failure(no_repository(r));
        if (!list.empty()) list += ',';
        list += r;
    }
    if (list.empty()) return failure("a token needs at least one repository, or '*' for all");
    const std::string token = BUNRAKU_TRY(new_secret());
    auto held = BUNRAKU_TRY(store_.lock(".tokens"));
    std::string text;
    for (const Token& t : tokens()) {
        if (t.name == name) return failure(fmt::format("there is a token '{}' already", name));
    }
    auto old = store_.files_->read(tokens_file());
    text =
        (old ? *old : std::string()) + fmt::format("{}\t{}\t{}\t{}\t{}\n", name, sha256_of(token),
                                                   list, reads_only ? "read" : "write", until);
    BUNRAKU_TRY_VOID(store_.files_->replace(tokens_file(), text, {.mode = 0600, .sync = true}));
    return token;
}

Result<bool> ForgeAccess::remove_token(const std::string& name) const {
    auto held = BUNRAKU_TRY(store_.lock(".tokens"));
    auto old = store_.files_->read(tokens_file());
    if (!old) return false;
    std::string text;
    bool found = false;
    for (std::string_view row : base::split(*old, '\n')) {
        if (row.empty()) continue;
        if (base::split(row, '\t')[0] == name) {
            found = true;
        } else {
            text.append(row).append("\n");
        }
    }
    if (!found) return false;
    BUNRAKU_TRY_VOID(store_.files_->replace(tokens_file(), text, {.mode = 0600, .sync = true}));
    return true;
}

std::vector<User> ForgeAccess::users() const {
    std::vector<User> out;
    auto text = store_.files_->read(users_file());
    if (!text) return out;
    for (std::string_view row : base::split(*text, '\n')) {
        const auto f = base::split(row, '\t');
        if (f.size() != 4) continue;
        User u{std::string(f[0]), std::string(f[1]), {}, 0};
        u.until = base::parse_integer<std::int64_t>(f[2]).value_or(1);
        for (std::string_view g : base::split(f[3], ',')) {
            if (!g.empty()) u.groups.emplace_back(g);
        }
        out.push_back(std::move(u));
    }
    return out;
}

namespace {

std::string text_of(const std::vector<User>& users) {
    std::string out;
    for (const User& u : users) {
        out += fmt::format("{}\t{}\t{}\t", u.name, u.sha256, u.until);
        for (std::size_t i = 0; i < u.groups.size(); ++i) out += (i ? "," : "") + u.groups[i];
        out += '\n';
    }
    return out;
}

}  // namespace

Result<std::string> ForgeAccess::add_user(const std::string& name,
                                          const std::vector<std::string>& groups,
                                          std::int64_t until) const {
    for (const std::string& each : groups) {
        if (!module::valid_identifier(each)) {
            return failure(fmt::format("'{}' is not a valid name of a group", one_line(each)));
        }
    }
    if (!module::valid_identifier(name)) {
        return failure(fmt::format("'{}' is not a valid name of a user", one_line(name)));
    }
    const std::string password = BUNRAKU_TRY(new_secret());
    auto held = BUNRAKU_TRY(store_.lock(".users"));
    std::vector<User> all = users();
    std::erase_if(all, [&](const User& u) { return u.name == name; });
    all.push_back({name, sha256_of(password), groups, until});
    BUNRAKU_TRY_VOID(
        store_.files_->replace(users_file(), text_of(all), {.mode = 0600, .sync = true}));
    return password;
}

Result<bool> ForgeAccess::remove_user(const std::string& name) const {
    auto held = BUNRAKU_TRY(store_.lock(".users"));
    std::vector<User> all = users();
    if (std::erase_if(all, [&](const User& u) { return u.name == name; }) == 0) return false;
    BUNRAKU_TRY_VOID(
        store_.files_->replace(users_file(), text_of(all), {.mode = 0600, .sync = true}));
    return true;
}

}  // namespace bunraku::forge
