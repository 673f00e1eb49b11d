// SPDX-License-Identifier: Apache-2.0
// The types nagios_*: Nagios definitions in files (nagios_core 1.0.1).
#pragma once

#include "resources/apply/parsed_file.h"

namespace bunraku::apply {

class Naginator final : public ParsedResource {
public:
    using ParsedResource::ParsedResource;
    std::span<const ProviderClass* const> provider_classes() const override;
    bool generates() const override { return true; }
    std::vector<std::unique_ptr<Resource>> generate() override;

protected:
    std::string default_target() const override;
    bool has_field(std::string_view field) const override;
    std::vector<RecordPtr> parse(const std::string& text, const std::string& target) const override;
    RecordPtr parse_line(const std::string&) const override { return nullptr; }
    std::string render(const Record& record) const override;
    std::string compose(const std::vector<RecordPtr>& records) const override;
    bool takes(const Record& record) const override { return record.kind == kind(); }

private:
    std::string_view kind() const;  ///< Returns the kind of object, for example "host".
};

}  // namespace bunraku::apply
