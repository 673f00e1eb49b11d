// Who may ask for what of puppetserver's APIs: its auth.conf, by the rules of
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

/// OIDs and short names beyond Puppet's own (custom_trusted_oid_mapping.yaml).
using OidNames = std::vector<std::pair<std::string, std::string>>;

class AuthConf {
public:
    /// The text of auth.conf; `name` is for messages, which are trapperkeeper-authorization's.
    static base::Result<AuthConf> parse(std::string_view text, const std::string& name,
                                        OidNames names = {});
    /// The rules that puppetserver 8 comes with.
    static AuthConf stock(OidNames names = {});

    struct Verdict {
        bool allowed = false;
        std::string rule;  ///< the name of the rule that decided; empty: none matched
    };
    /// `request.path` is canonical. Its certificate counts where it is verified and has a name.
    Verdict decide(const http::Request& request) const;
    /// Whether these are the rules of `stock`: nobody wrote any.
    bool is_stock() const { return is_stock_; }
    /// X-Client-Verify, X-Client-DN and X-Client-Cert say who a client is. Counts on connections
    /// without TLS alone: over TLS every client could write them.
    bool allow_header_cert_info() const { return header_info_; }
    /// Who asks: by certificate or, where that is allowed, by header; null: nobody we know.
    std::shared_ptr<const http::ClientCertificate> caller(const http::Request& request) const;

private:
    struct Entry;
    struct Rule;
    static base::Result<Rule> read_rule(const codec::YamlNode& node, std::size_t index);
    static base::Result<void> add_entries(Rule& rule, const codec::YamlNode& node, bool allow);
    void sort();
    bool matches(const Entry& entry, const http::ClientCertificate& who,
                 const std::vector<std::string>& captures) const;

    std::vector<std::shared_ptr<const Rule>> rules_;
    OidNames names_;
    bool header_info_ = false;
    bool is_stock_ = false;
};

/// The rules in force; roles share it, a reload changes it for all.
class Authorization {
public:
    /// `find` names the file, now and whenever the rules are read again. Without a file the stock
    /// rules hold.
    static base::Result<std::shared_ptr<Authorization>> read(std::function<std::string()> find,
                                                             OidNames names, base::LogSink& log);
    /// Fails and leaves the old rules in force if the file cannot be read, or is gone.
    base::Result<void> reload();
    std::shared_ptr<const AuthConf> current() const;
    const OidNames& oid_names() const { return names_; }
    /// For routes of puppetserver's APIs: refused with 403 and puppetserver's text.
    http::Access access();

private:
    explicit Authorization(base::LogSink& log) : log_(log) {}
    std::function<std::string()> find_;
    std::string path_;  ///< of the rules in force; empty: the stock rules
    OidNames names_;
    base::LogSink& log_;
    mutable std::mutex mutex_;
    std::shared_ptr<const AuthConf> current_;
};

/// custom_trusted_oid_mapping.yaml: OIDs and the names they are given. Nothing where it is not
/// there.
base::Result<OidNames> read_oid_names(const std::string& path);

/// Reads the file of the setting `auth_config`, or puppetserver's auth.conf. `settings` must
/// outlive the result.
base::Result<std::shared_ptr<Authorization>> read_authorization(const config::Settings& settings,
                                                                base::LogSink& log);

}  // namespace bunraku::http
