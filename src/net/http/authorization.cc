// SPDX-License-Identifier: Apache-2.0
// Manages the current rules: finds auth.conf, reads it again, and checks the access of routes.
#include <cerrno>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/hocon.h"
#include "core/sys/disk.h"
#include "net/http/auth_conf.h"
#include "net/http/conf_files.h"

namespace bunraku::http {

using base::failure;
using base::Level;
using base::Result;
using codec::YamlNode;
using Kind = YamlNode::Kind;

Result<std::shared_ptr<Authorization>> Authorization::read(
    std::function<Result<std::string>()> find, OidNames names, config::Compatibility level,
    base::LogSink& log) {
    std::shared_ptr<Authorization> out(new Authorization(log));
    out->find_ = std::move(find);
    out->names_ = std::move(names);
    out->level_ = level;
    BUNRAKU_TRY_VOID(out->reload());
    return out;
}

Result<void> Authorization::reload() {
    // The file may have been created or moved since.
    const auto path = BUNRAKU_TRY(find_());
    std::shared_ptr<const AuthConf> next;
    if (auto text = sys::disk().read(path)) {
        next = std::make_shared<const AuthConf>(BUNRAKU_TRY(AuthConf::parse(*text, path, names_)));
    } else if (text.error().code == ENOENT || text.error().code == ENOTDIR || path.empty()) {
        std::lock_guard lock(mutex_);
        // Using the built-in rules instead of the site's rules could allow requests that the site
        // denies.
        if (current_ && !current_->is_stock()) {
            return failure(fmt::format(
                "{} no longer exists; its rules stay in force until the server is restarted",
                path_));
        }
        if (!current_) current_ = std::make_shared<const AuthConf>(AuthConf::stock(names_, level_));
        return {};
    } else {
        return failure(fmt::format("Could not read {}: {}", path, text.error().message));
    }
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(next);
    current_ = std::move(next);
    path_ = path;
    log_.log(Level::Info, fmt::format("Using the access rules in {}", path));
    return {};
}

std::shared_ptr<const AuthConf> Authorization::current() const {
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(current_);
    return current_;
}

http::Access Authorization::access() {
    return http::Access::rule([this](
                                  const http::Request& request) -> std::optional<http::Response> {
        const auto conf = current();
        auto verdict = conf->decide(request);
        if (verdict.allowed) return std::nullopt;
        const auto client = conf->caller(request);
        log_.log(
            base::Level::Err,
            fmt::format("Forbidden request: {}({}) access to {} (method :{}) (authenticated: "
                        "{}) {}.",
                        client ? client->name : "", request.peer.address, request.path,
                        base::lower(request.method), client ? "true" : "false",
                        verdict.rule.empty() ? std::string("denied, since no rule matches")
                                             : fmt::format("denied by rule '{}'", verdict.rule)));
        return http::Response::text(
            403, verdict.rule.empty()
                     ? "global deny all - no rules matched"
                     : fmt::format("Forbidden request: {} (method :{}). Please see the server logs "
                                   "for details.",
                                   request.path, base::lower(request.method)));
    });
}

Result<OidNames> read_oid_names(const std::string& path) {
    OidNames out;
    auto text = sys::disk().read(path);
    if (!text) return out;
    auto document = codec::parse_yaml(*text, path);
    if (!document) return failure(document.error().message);
    const auto* mapping =
        document->kind == Kind::Mapping ? codec::find_member(&*document, "oid_mapping") : nullptr;
    if (!mapping || mapping->kind != Kind::Mapping) return out;
    for (const auto& [oid, names] : mapping->entries) {
        const auto* name =
            names.kind == Kind::Mapping ? codec::find_member(&names, "shortname") : nullptr;
        if (oid.kind == Kind::String && name && name->kind == Kind::String)
            out.emplace_back(oid.text, name->text);
    }
    return out;
}

Result<std::shared_ptr<Authorization>> read_authorization(const config::Settings& settings,
                                                          base::LogSink& log) {
    const auto find = [&settings]() -> Result<std::string> {
        auto path = settings.text("auth_config");
        if (!path.empty()) return path;
        return puppetserver_section_file(settings, "authorization", "auth.conf");
    };
    auto names = BUNRAKU_TRY(read_oid_names(settings.text("trusted_oid_mapping_file")));
    return Authorization::read(find, std::move(names), settings.compatibility(), log);
}

}  // namespace bunraku::http
