// SPDX-License-Identifier: Apache-2.0
// transactionstore.yaml: the last value set for each property. A later run uses it to distinguish a
// corrective change (the machine was altered since) from an intentional one.
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

/// Follows Puppet 8.11's transaction/persistence.rb.
class TransactionStore {
public:
    TransactionStore(Context& context, std::string path)
        : context_(context), path_(std::move(path)) {}
    /// Loads the file. Renames an invalid file to ".bad".
    void load();
    base::Result<void> save() const;

    /// Returns the stored desired value of a property, or nullopt.
    std::optional<std::vector<Value>> system_value(const std::string& ref,
                                                   std::string_view property) const;
    /// Stores values of a property. `symbol` reports whether Ruby has a value as a symbol.
    void store_values(const std::string& ref, std::string_view property,
                      const std::vector<Value>& values,
                      const std::function<bool(const Value&)>& symbol);
    /// Keeps the stored values of the property, or of the whole resource.
    void retain(const std::string& ref, std::string_view property);
    void retain(const std::string& ref);

private:
    /// The text after "system_value:" for each property. Most of it is written back unchanged, so a
    /// value is parsed only when it is requested.
    using Parameters = std::vector<std::pair<std::string_view, std::string_view>>;
    struct Old {
        std::string_view written;  ///< the reference as written in the file
        Parameters parameters;
    };
    struct New {
        std::string written;
        std::vector<std::pair<std::string, std::string>> parameters;
    };
    bool read_plainly(std::string_view text);
    void read_any(const codec::YamlNode& resources);
    std::string_view stored_text(std::string text);
    std::optional<std::string_view> old_text(const std::string& ref,
                                             std::string_view property) const;
    New& fresh(const std::string& ref);

    Context& context_;
    std::string path_;
    std::deque<std::string> texts_;  ///< storage for the string views below
    std::unordered_map<std::string_view, Old> old_;
    std::vector<New> new_;
    std::unordered_map<std::string, std::size_t> positions_;  ///< positions in new_
    std::string last_;                                        ///< reference of the last entry
};

}  // namespace bunraku::apply
