// transactionstore.yaml: what each property was last brought to, so that a later run can tell a
// change that corrects (somebody altered the machine) from one that was asked for.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "resources/apply/context.h"

namespace bunraku::codec {
struct YamlNode;
}

namespace bunraku::apply {

/// Puppet 8.11's, transaction/persistence.rb.
class TransactionStore {
public:
    TransactionStore(Context& context, std::string path)
        : context_(context), path_(std::move(path)) {}
    /// A file that cannot be read as such is put aside (".bad").
    void load();
    base::Result<void> save() const;

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
    /// What stands behind "system_value:" of a property, as text: nearly all of it is written again
    /// as it was, so that only what is asked for is read.
    using Parameters = std::vector<std::pair<std::string_view, std::string_view>>;
    struct Old {
        std::string_view written;  ///< the reference as it stands in the file
        Parameters parameters;
    };
    struct New {
        std::string written;
        std::vector<std::pair<std::string, std::string>> parameters;
    };
    bool read_plainly(std::string_view text);
    void read_any(const codec::YamlNode& resources);
    std::string_view kept(std::string text);
    std::optional<std::string_view> old_text(const std::string& ref,
                                             std::string_view property) const;
    New& fresh(const std::string& ref);

    Context& context_;
    std::string path_;
    std::deque<std::string> texts_;  ///< what the views below stand in
    std::unordered_map<std::string_view, Old> old_;
    std::vector<New> new_;
    std::unordered_map<std::string, std::size_t> places_;  ///< in new_
    std::string last_;                                     ///< reference of the last of them
};

}  // namespace bunraku::apply
