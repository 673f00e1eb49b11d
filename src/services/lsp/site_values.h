// SPDX-License-Identifier: Apache-2.0
// NodeValues by the lookups of the compiler.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "compile/site/site.h"
#include "services/lsp/node_values.h"

namespace bunraku::lsp {

class SiteValues final : public NodeValues {
public:
    /// `log` receives the warnings of environments. It must outlive the object.
    SiteValues(config::Settings settings, base::LogSink& log);

    void choose(const std::string& node, const std::string& facts) override;
    const std::string& node() const override { return node_; }
    void use(const std::string& environment,
             const std::map<std::string, std::string>& unsaved) override;
    std::optional<NodeValue> hiera(std::string_view key) override;
    std::optional<NodeValue> fact(std::string_view path) override;
    std::vector<std::string> facts() override;

private:
    void load_facts();
    site::Session* session();
    std::optional<NodeValue> look_up(site::Session& session, std::string_view key) const;

    base::LogSink& log_;
    site::Site site_;
    std::string node_, source_;
    bool loaded_ = false;
    base::Arena arena_;
    value::Value facts_;
    std::string environment_;
    std::map<std::string, std::string> unsaved_;
    std::unique_ptr<site::Session> session_;
    bool failed_ = false;  ///< True if the session cannot be made.
    std::map<std::string, std::optional<NodeValue>, std::less<>> known_;
};

}  // namespace bunraku::lsp
