// SPDX-License-Identifier: Apache-2.0
// Resources that are records of a text file: host, mount, cron, mailalias, keys. All files of a
// type are read at once, and changed files are written. Unmanaged lines are preserved. The order of
// reading, matching and writing is that of puppet/provider/parsedfile 8.11.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/regex/regex.h"
#include "resources/apply/resource.h"

namespace bunraku::apply {

/// One record, or one line that is not a record.
struct Record {
    bool entry = false;
    std::string text;  ///< the text of a line that is not a record
    std::string kind;  ///< the kind of such a line if it matters: "comment", "environment"
    /// true if the record was read from the file or has since been added to the records
    bool on_disk = false;
    bool unnamed = false;  ///< true if the name is generated and does not appear in the file
    std::vector<std::pair<std::string, Value>> values;

    const Value* find(std::string_view field) const;
    /// Returns undef if the record does not have the field.
    Value value(std::string_view field) const;
    std::string get(std::string_view field) const;
    void set(std::string_view field, const Value& v);
    bool is_absent(std::string_view field) const;
};
using RecordPtr = std::shared_ptr<Record>;

/// State that the resources of one type share during a run.
struct ParsedState {
    std::vector<RecordPtr> records;
    std::vector<std::string> known;  ///< targets that have been examined
    std::set<std::string> modified;
    std::set<std::string> backed_up;  ///< targets backed up since the records were read
    std::map<std::string, std::string> unreadable;
};

/// Returns the first match of a regular expression in a line. Compiled expressions are cached.
std::optional<regex::Match> line_match(std::string_view expression, std::string_view line);

/// Replaces the content of a file, as Puppet's file type `flat` does. Owner and mode are preserved,
/// and links are followed. A new file gets `mode`. Logs an error and throws on failure.
void overwrite(Context& context, const std::string& target, const std::string& text,
               std::uint32_t mode);

class ParsedResource : public Resource {
public:
    using Resource::Resource;

    void initialize(ResourceData data) override;
    Value default_for(const Attribute& a) override;
    Lines lines_allowed(const Attribute&) const override { return Lines::One; }
    Value retrieve_property(const Param& p) override;
    void sync(Param& p) override;
    void flush() override;
    void prefetch(std::span<Resource* const> all) override;
    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override;

protected:
    virtual std::string default_target() const = 0;
    /// Parses one line. Returns null if the line is invalid.
    virtual RecordPtr parse_line(const std::string& line) const = 0;
    /// Parses a whole file; by default line by line.
    virtual std::vector<RecordPtr> parse(const std::string& text, const std::string& target) const;
    /// Reports whether records have the field.
    virtual bool has_field(std::string_view field) const = 0;
    virtual std::string render(const Record& record) const = 0;
    /// Returns the content of a file without its header.
    virtual std::string compose(const std::vector<RecordPtr>& records) const;
    /// Merges records that belong together, and names those without a name.
    virtual void after_reading(std::vector<RecordPtr>&) const {}
    /// Returns the resource to which an unmatched record belongs by its content, or null.
    virtual ParsedResource* match(Record&, const std::vector<ParsedResource*>&) const {
        return nullptr;
    }
    /// Reports whether a record with the resource's name belongs to the resource.
    virtual bool takes(const Record&) const { return true; }
    virtual std::string key_of(const Record& record) const { return record.get("name"); }
    virtual std::string key() const { return name(); }
    virtual std::string title_of(const Record& record) const { return record.get("name"); }
    virtual std::string read_target(const std::string& target) const;
    virtual void write_target(const std::string& target, const std::string& text);
    virtual bool backs_up() const { return true; }
    /// Returns the mode of a new file.
    virtual std::uint32_t new_mode() const { return 0600; }
    virtual std::string header() const;
    virtual std::string to_file(std::string text) const { return header() + text; }
    /// Reports whether a target that could not be read causes an error when it is written.
    virtual bool keeps_read_errors() const { return false; }

    virtual void create();
    virtual void destroy();
    bool exists() const;
    void mark_modified();
    void backup_target(const std::string& target);

    static RecordPtr text_record(const std::string& line, std::string kind = {});
    static RecordPtr entry_record();
    /// Returns a record with the captures of a match as fields. Empty captures are absent.
    RecordPtr captured(const regex::Match& m, const std::string& line,
                       std::initializer_list<std::string_view> fields) const;

    ParsedState& state() const;
    RecordPtr hash_;

private:
    std::vector<std::string> targets(std::span<Resource* const> resources) const;
    std::vector<RecordPtr> prefetch_target(const std::string& target) const;
    void flush_record();
    void flush_target(const std::string& target);
};

}  // namespace bunraku::apply
