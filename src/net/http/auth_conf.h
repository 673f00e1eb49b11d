// SPDX-License-Identifier: Apache-2.0
// Access rules for puppetserver's APIs: its auth.conf, with the semantics of
// trapperkeeper-authorization 1.0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/compatibility.h"
#include "core/config/settings.h"
#include "net/http/access.h"
#include "net/http/message.h"

namespace bunraku::regex {
class Regex;
}
namespace bunraku::codec {
struct YamlNode;
}

namespace bunraku::http {

/// OIDs and their short names, in addition to Puppet's own (custom_trusted_oid_mapping.yaml).
using OidNames = std::vector<std::pair<std::string, std::string>>;

class AuthConf {
public:
    /// Parses the text of auth.conf. `name` is for messages, which are those of
    /// trapperkeeper-authorization.
    static base::Result<AuthConf> parse(std::string_view text, const std::string& name,
                                        OidNames names = {});
    /// Returns the default rules of puppetserver 8 or, at the level openvox9, of openvox-server 9.
    static AuthConf stock(OidNames names = {}, config::Compatibility level = config::kDefaultLevel);

    struct Verdict {
        bool allowed = false;
        std::string rule;  ///< name of the deciding rule; empty if no rule matched
    };
    /// Decides about a request. `request.path` must be canonical. The certificate counts only if it
    /// is verified and has a name.
    Verdict decide(const http::Request& request) const;
    /// Reports whether these are the rules of `stock`, because the site has no auth.conf.
    bool is_stock() const { return is_stock_; }
    /// True if the headers X-Client-Verify, X-Client-DN and X-Client-Cert identify the client. This
    /// applies only to connections without TLS, because over TLS any client could send them.
    bool allow_header_cert_info() const { return header_info_; }
    /// Returns the client's certificate, from TLS or, if allowed, from the headers. Returns null if
    /// the client is not authenticated.
    std::shared_ptr<const http::ClientCertificate> caller(const http::Request& request) const;

private:
    struct Entry;
    struct Rule;
    static base::Result<Rule> read_rule(const codec::YamlNode& node, std::size_t index);
    // Parts of read_rule. `label` names the rule in messages.
    static base::Result<void> read_path(Rule& rule, const codec::YamlNode& type,
                                        const codec::YamlNode& path, const std::string& label);
    static base::Result<void> read_methods(Rule& rule, const codec::YamlNode& method,
                                           const std::string& label);
    static base::Result<void> read_query(Rule& rule, const codec::YamlNode& query,
                                         const std::string& label);
    static base::Result<void> add_entries(Rule& rule, const codec::YamlNode& node, bool allow);
    // Parts of add_entries.
    static base::Result<void> read_extensions(Entry& entry, const codec::YamlNode& node,
                                              const std::string& rule);
    static base::Result<void> read_name(Entry& entry, const std::string& name, const Rule& rule);
    void sort();
    bool matches(const Entry& entry, const http::ClientCertificate& client,
                 const std::vector<std::string>& captures) const;

    std::vector<std::shared_ptr<const Rule>> rules_;
    OidNames names_;
    bool header_info_ = false;
    bool is_stock_ = false;
};

/// The current rules. All roles share this object, so a reload affects all of them.
class Authorization {
public:
    /// Reads the rules. `find` returns the path of the file, now and at each reload. Without a
    /// file, the stock rules apply.
    static base::Result<std::shared_ptr<Authorization>> read(
        std::function<base::Result<std::string>()> find, OidNames names,
        config::Compatibility level, base::LogSink& log);
    /// Reads the rules again. Fails and leaves the old rules in force if the file cannot be read or
    /// no longer exists.
    base::Result<void> reload();
    std::shared_ptr<const AuthConf> current() const;
    const OidNames& oid_names() const { return names_; }
    /// Returns the access for routes of puppetserver's APIs. It refuses with 403 and puppetserver's
    /// text.
    http::Access access();

private:
    explicit Authorization(base::LogSink& log) : log_(log) {}
    std::function<base::Result<std::string>()> find_;
    std::string path_;  ///< path of the current rules; empty for the stock rules
    OidNames names_;
    config::Compatibility level_ = config::kDefaultLevel;  ///< for the stock rules
    base::LogSink& log_;
    mutable std::mutex mutex_;
    std::shared_ptr<const AuthConf> current_;
};

/// Reads custom_trusted_oid_mapping.yaml: OIDs and their short names. Returns an empty list if the
/// file does not exist.
base::Result<OidNames> read_oid_names(const std::string& path);

/// Reads the file of the setting `auth_config`, or the file in puppetserver's conf.d with the
/// section `authorization`. `settings` must outlive the result.
base::Result<std::shared_ptr<Authorization>> read_authorization(const config::Settings& settings,
                                                                base::LogSink& log);

}  // namespace bunraku::http
