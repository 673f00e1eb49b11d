// Resources that are records of a text file: host, mount, cron, mailalias, keys. A file is read
// once for all of its resources, and written when one of them changed; lines that nobody manages
// stay as they are.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apply/resource.h"

namespace bunraku::apply {

/// One record or one line that is none.
struct Record {
    bool entry = false;
    std::string text;  ///< of a line that is no entry
    std::string name;
    std::vector<std::pair<std::string, Value>> values;

    const Value* find(std::string_view field) const;
    std::string get(std::string_view field) const;
    void set(std::string_view field, const Value& v);
};

struct ParsedTarget {
    std::vector<std::unique_ptr<Record>> records;
};

class ParsedResource : public Resource {
public:
    using Resource::Resource;

    Value default_for(const Attribute& a) override;
    Value retrieve_property(const Param& p) override;
    void sync(Param& p) override;
    void flush() override;
    void prefetch(std::span<Resource* const> all) override;
    bool can_list() const override { return true; }
    std::vector<std::unique_ptr<Resource>> instances() override;

protected:
    virtual std::string default_target() const = 0;
    /// The file (or the crontab's user) that holds the resource.
    virtual std::string target() const;
    virtual void parse(std::string_view text, ParsedTarget& into) const = 0;
    virtual std::string render(const Record& record) const = 0;
    virtual bool is_mine(const Record& record) const { return record.name == name(); }
    virtual std::string read_target(const std::string& target) const;
    virtual void write_target(const std::string& target, const std::string& text);
    virtual std::string comment_sign() const { return "#"; }
    virtual std::string title_of(const Record& record) const { return record.name; }
    /// The values of a new record; the name is set already.
    virtual void fill(Record& record) const;

    Record* record();
    void create_record();
    void remove_record();
    void mark_changed();
    ParsedTarget& load(const std::string& target);
    static void add_line(ParsedTarget& into, std::string_view line);

private:
    bool dirty_ = false;
};

/// Calls f for every line, without its end.
template <class F>
void each_text_line(std::string_view text, F&& f) {
    while (!text.empty()) {
        std::size_t nl = text.find('\n');
        f(text.substr(0, nl));
        if (nl == std::string_view::npos) break;
        text.remove_prefix(nl + 1);
    }
}
}  // namespace bunraku::apply
