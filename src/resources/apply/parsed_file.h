// Resources that are records of a text file: host, mount, cron, mailalias, keys. All files of a
// type are read at once, and those that changed are written; lines that nobody manages stay as they
// are. The order of reading, matching and writing is that of puppet/provider/parsedfile 8.11.
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

/// One record, or one line that is none.
struct Record {
    bool entry = false;
    std::string text;      ///< of a line that is no entry
    std::string kind;      ///< of such a line, where it matters: "comment", "environment"
    bool on_disk = false;  ///< it was read, or stands among the records by now
    bool unnamed = false;  ///< the name is ours, and not in the file
    std::vector<std::pair<std::string, Value>> values;

    const Value* find(std::string_view field) const;
    /// undef: nothing is known.
    Value value(std::string_view field) const;
    std::string get(std::string_view field) const;
    void set(std::string_view field, const Value& v);
    bool is_absent(std::string_view field) const;
};
using RecordPtr = std::shared_ptr<Record>;

/// What the resources of one type share during a run.
struct ParsedState {
    std::vector<RecordPtr> records;
    std::vector<std::string> known;  ///< targets that were looked at
    std::set<std::string> modified;
    std::set<std::string> backed_up;  ///< since the records were read
    std::map<std::string, std::string> unreadable;
};

/// The first match of a regular expression (which is compiled once) in a line.
std::optional<regex::Match> line_match(std::string_view expression, std::string_view line);

/// Gives a file a new content, as Puppet's file type `flat` does: owner and mode stay, and a link
/// one; `mode` is that of a file that is made. Says so and throws where that fails.
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
    /// One line; null: it cannot be understood.
    virtual RecordPtr parse_line(const std::string& line) const = 0;
    /// All of a file; line by line where a type says nothing else.
    virtual std::vector<RecordPtr> parse(const std::string& text, const std::string& target) const;
    /// Whether lines have such a field.
    virtual bool has_field(std::string_view field) const = 0;
    virtual std::string render(const Record& record) const = 0;
    /// What stands in a file below its header.
    virtual std::string compose(const std::vector<RecordPtr>& records) const;
    /// Joins records, gives names to those that have none.
    virtual void after_reading(std::vector<RecordPtr>&) const {}
    /// A record without resource may belong to one by what it holds.
    virtual ParsedResource* match(Record&, const std::vector<ParsedResource*>&) const {
        return nullptr;
    }
    /// Whether a record with this name is that of the resource.
    virtual bool takes(const Record&) const { return true; }
    virtual std::string key_of(const Record& record) const { return record.get("name"); }
    virtual std::string key() const { return name(); }
    virtual std::string title_of(const Record& record) const { return record.get("name"); }
    virtual std::string read_target(const std::string& target) const;
    virtual void write_target(const std::string& target, const std::string& text);
    virtual bool backs_up() const { return true; }
    /// The mode of a file that is made.
    virtual std::uint32_t new_mode() const { return 0600; }
    virtual std::string header() const;
    virtual std::string to_file(std::string text) const { return header() + text; }
    /// Whether a target that cannot be read is a failure when it is to be written.
    virtual bool keeps_read_errors() const { return false; }

    virtual void create();
    virtual void destroy();
    bool exists() const;
    void mark_modified();
    void backup_target(const std::string& target);

    static RecordPtr text_record(const std::string& line, std::string kind = {});
    static RecordPtr entry_record();
    /// The captures of a match as fields; what is empty is absent.
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
