// The type file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apply/providers/file/bucket.h"
#include "apply/providers/file/fileset.h"
#include "apply/resource.h"

namespace bunraku::apply {

/// What a `source` on this machine says about itself.
struct SourceInfo {
    std::string uri;   ///< as the resource names it
    std::string path;  ///< on this machine
    sys::FileStatus status;
    std::string destination;  ///< of a link
    std::string checksum;     ///< "{sha256}..", read when first wanted
};

class File final : public Resource {
public:
    using Resource::Resource;

    // file.cc: attributes
    std::span<const ProviderClass> provider_classes() const override;
    void validate_value(const Attribute& a, const Value& v) override;
    Value munge(const Attribute& a, const Value& v) override;
    Value default_for(const Attribute& a) override;
    Value should_value(const Param& p) const override;
    void validate() override;
    void after_initialize() override;
    void finish() override;
    void set_sensitive(std::vector<std::string> names) override;
    void collect_auto_relations(std::vector<AutoRelation>& out) const override;
    std::vector<std::string> path_elements() const override;
    std::vector<std::string> ancestors() const override;
    /// Stays what `newchild` makes of a source already looked at.
    void use_source_info(SourceInfo info) { source_info_ = std::move(info); }

    // file_compare.cc: reading and comparing
    void retrieve(CurrentValues& out) override;
    Value retrieve_property(const Param& p) override;
    bool insync(Param& p, const Value& is) override;
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
    bool recurses() const;
    bool replaces() const { return flag("replace"); }
    bool follows() const { return is_word(get("links"), "follow"); }
    std::string where() const { return text("path"); }
    std::string checksum_type() const;
    const sys::FileStatus* stat() const;
    void forget_stat() const { stat_known_ = false; }

    bool should_be_file() const;
    bool content_insync(Param& p, const Value& is);
    bool owner_insync(Param& p, const Value& is);
    bool mode_insync(Param& p, const Value& is);
    bool times_match(std::string_view kind, std::string_view is, std::string_view should) const;
    void show_difference(const Param& p);
    std::uint32_t wanted_mode(std::string_view desired, std::uint32_t current) const;
    std::optional<std::uint32_t> uid_of(const Value& v) const;
    std::optional<std::uint32_t> gid_of(const Value& v) const;

    SourceInfo& source_info();
    std::string source_checksum();
    void copy_source_values();

    void sync_ensure(const std::string& wanted);
    void sync_owner(Param& p, bool group);
    void make_directory();
    void make_link();
    /// The body comes from the source, the content or the bucket; empty where there is none.
    void write(bool with_body);
    std::string new_body();
    void replace_file(const std::string& body, std::optional<std::uint32_t> mode);
    void check_written(const std::string& body);
    void fix_properties();
    bool remove_existing(const std::string& wanted);
    void back_up();
    void back_up_with_suffix(const std::string& suffix);
    Bucket* bucket();

    Walk walk_options() const;
    std::unique_ptr<File> new_child(const std::string& relative);

    mutable bool stat_known_ = false;
    mutable std::optional<sys::FileStatus> stat_;
    std::optional<Value> body_;  ///< the text given as `content`, unless it is a checksum
    std::optional<SourceInfo> source_info_;
    std::unique_ptr<Bucket> bucket_;
    bool bucket_known_ = false;
};

}  // namespace bunraku::apply
