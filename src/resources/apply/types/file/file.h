// SPDX-License-Identifier: Apache-2.0
// The type file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "resources/apply/resource.h"
#include "resources/apply/types/file/bucket.h"
#include "resources/apply/types/file/fileset.h"

namespace bunraku::apply {

class File final : public Resource {
public:
    using Resource::Resource;

    // file.cc: attributes
    std::span<const ProviderClass* const> provider_classes() const override;
    std::string_view foreign_providers() const override { return "windows"; }
    void validate_value(const Attribute& a, const Value& v) override;
    Value munge(const Attribute& a, const Value& v) override;
    Value default_for(const Attribute& a) override;
    bool shares_defaults() const override { return true; }
    Value should_value(const Param& p) const override;
    void validate() override;
    void after_initialize() override;
    void finish() override;
    void set_sensitive(std::vector<std::string> names) override;
    void collect_auto_relations(std::vector<AutoRelation>& out) const override;
    std::vector<std::string> path_elements() const override;
    void find_parent(const std::function<bool(std::string_view)>& is_parent) const override;
    /// Sets the metadata of a source that the parent has already queried.
    void use_source_info(ContentMetadata info) {
        source_info_ = std::make_unique<ContentMetadata>(std::move(info));
    }
    /// Records that the resource was found in a walk of `top` that did not follow links.
    void found_below(std::shared_ptr<const std::string> top) { found_below_ = std::move(top); }
    std::string link_free_below() const override {
        return found_below_ ? *found_below_ : std::string();
    }
    /// Sets a content that is not in the catalog. Reports show its digest unchanged.
    void set_generated_content(const Value& content);

    // file_compare.cc: reading and comparing
    void retrieve(CurrentValues& out) override;
    Value retrieve_property(const Param& p) override;
    bool insync(Param& p, const Value& is) override;
    /// Puppet treats content as bytes. Reports therefore contain the content, and even its digest,
    /// in base64.
    Value reported_should(const Param& p, const Value& should) const override;
    std::string is_text(const Param& p, const Value& is) const override;
    std::string should_text(const Param& p, const Value& should) const override;
    std::string change_text(const Param& p, const Value& is, const Value& should) const override;
    std::string event_name(const Param& p) const override;
    bool present(const CurrentValues& current) const override { return current.present(); }

    // file_change.cc: changing
    void sync(Param& p) override;
    void flush() override { stat_known_ = false; }

    // file_recurse.cc
    bool eval_generates() const override { return true; }
    std::vector<std::unique_ptr<Resource>> eval_generate() override;

private:
    Value munge_content(const Value& v);
    Value munge_ensure(const Attribute& a, const Value& v);
    /// Logs Puppet's warning about a content that is a checksum, once per location.
    void warn_of_checksum();
    /// Logs a deprecation warning once for each place in the code.
    void warn_once(const std::string& text);

    bool recurses() const;
    bool replaces() const { return flag("replace"); }
    bool follows() const { return is_word(get("links"), "follow"); }
    const std::string& where() const;
    /// Returns the kind of checksum of the file on disk. `etag` means md5 until a web server has
    /// named another kind.
    std::string_view checksum_type() const;
    /// Returns the kind of checksum to request from a source.
    std::string source_checksum_type(std::string_view uri) const;
    const sys::FileStatus* stat() const;
    void forget_stat() const { stat_known_ = false; }

    bool should_be_file() const;
    bool content_insync(Param& p, const Value& is);
    bool owner_insync(Param& p, const Value& is);
    bool mode_insync(Param& p, const Value& is);
    bool times_match(std::string_view kind, std::string_view is, std::string_view should) const;
    void show_difference(const Param& p);
    std::uint32_t wanted_mode(std::string_view desired, std::uint32_t current) const;
    Value id_of(const Value& v, bool group) const;

    /// Returns the source for a URI. Throws if its scheme is not supported.
    ContentSource& content_of(const std::string& uri);
    /// Returns the metadata of the first of `sources` that exists, or nullopt.
    std::optional<ContentMetadata> find_source(std::span<const Value> sources);
    ContentMetadata& source_info();
    std::string source_checksum();
    void copy_source_values();

    void sync_ensure(const std::string& wanted);
    void sync_owner(Param& p, bool group);
    void make_directory();
    void make_link(bool cleared);
    void write(bool with_body);
    /// Returns the body from the source, the content or the bucket; empty if there is none. If
    /// `check` is true, the body must match the expected checksum.
    sys::Fill body(bool check);
    std::string bucket_body(const std::string& sum);
    /// Returns checksum_value if it applies. For a content it applies only if `checksum` is also
    /// given, because otherwise Puppet 8.11 does not yet know it when it needs it.
    Value fixed_sum() const;
    void check_body(const std::string& have);
    void replace_file(const sys::Fill& fill, std::uint32_t mode);
    sys::WriteOptions file_options(std::uint32_t mode) const;
    void fix_properties();
    bool remove_existing(const std::string& wanted);
    void back_up();
    void back_up_with_suffix(const std::string& suffix);
    Bucket* bucket();

    /// The generated resources by relative path.
    using Generated = std::map<std::string, std::unique_ptr<File>>;
    ContentSearch walk_options() const;
    std::unique_ptr<File> new_child(const std::string& relative);
    /// Returns the child with this path, and creates it if necessary.
    File& child_of(Generated& generated, const std::string& relative);
    /// Adds a link for each file below `target`, and a folder for each folder.
    void generate_links(Generated& generated, const std::string& target);
    /// Adds the files of the sources. Returns false if a source is not a directory.
    bool generate_copies(Generated& generated);
    std::shared_ptr<const std::string> walked_;  ///< where(), shared by all children

    std::shared_ptr<const std::string> found_below_;
    mutable std::string where_;  ///< cached path, if it differs from the title
    mutable bool stat_known_ = false;
    mutable std::optional<sys::FileStatus> stat_;
    std::optional<Value> body_;  ///< the text of `content`, unless that is a checksum
    std::unique_ptr<ContentMetadata> source_info_;
    bool generated_content_ = false;
    std::unique_ptr<Bucket> bucket_;
    bool bucket_known_ = false;
};

}  // namespace bunraku::apply
