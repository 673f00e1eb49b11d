// SPDX-License-Identifier: Apache-2.0
// A fragment of a file that a concat_file assembles.
#pragma once

#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

/// Levels of puppetlabs-concat (module_releases.h).
enum ConcatLevel : std::int8_t {
    kConcatFirst = 0,
    kConcatSecretContent = 1,  ///< 7.4.0: `content` may be sensitive; adds create_empty_file
    /// 10.0.0: sensitive fragments make the file's content sensitive; allows several tags
    kConcatSecretFile = 2
};

class ConcatFragment final : public ModuleResource {
public:
    using ModuleResource::ModuleResource;

    bool does(const Given& given) const override;
    void validate_value(const Attribute& a, const Value& v) override;
    Value default_for(const Attribute& a) override;
    void validate() override;
    void set_sensitive(std::vector<std::string> names) override;
    bool needs_ensure_retrieved() const override { return false; }
    void collect_auto_relations(std::vector<AutoRelation>& out) const override;

    /// Reports whether the fragment is part of that concat_file.
    bool belongs_to(const Resource& file) const;
};

}  // namespace bunraku::apply
