// transactionstore.yaml: what each property was last brought to, so that a later run can tell a
// change that corrects (somebody altered the machine) from one that was asked for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apply/context.h"
#include "codec/yaml.h"

namespace bunraku::apply {

/// Puppet 8.11's, transaction/persistence.rb.
class TransactionStore {
public:
    TransactionStore(Context& context, std::string path)
        : context_(context), path_(std::move(path)) {}
    /// A file that cannot be read as such is put aside (".bad").
    void load();
    void save() const;

    /// What a property should be, as it was kept; nullopt: nothing is.
    std::optional<std::vector<Value>> system_value(const std::string& ref,
                                                   std::string_view property) const;
    /// `symbol`: which of the values Ruby has as symbols.
    void keep(const std::string& ref, std::string_view property, const std::vector<Value>& values,
              const std::function<bool(const Value&)>& symbol);
    /// What was known of the property, or of all of the resource, stays.
    void keep_old(const std::string& ref, std::string_view property);
    void keep_old(const std::string& ref);

private:
    using Parameters = std::vector<std::pair<std::string, codec::YamlNode>>;
    const codec::YamlNode* old_value(const std::string& ref, std::string_view property) const;

    Context& context_;
    std::string path_;
    std::map<std::string, Parameters> old_, new_;
    std::vector<std::string> order_;  ///< of the new ones
    Parameters& fresh(const std::string& ref);
};

}  // namespace bunraku::apply
