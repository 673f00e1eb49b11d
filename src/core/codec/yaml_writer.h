// YAML as Ruby's Psych writes it: libyaml's emitter, Psych's choice of styles.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bunraku::codec {

struct YamlWriteOptions {
    int indentation = 2;
    int line_width = 0;  ///< 0: libyaml's 80; -1: no limit
    bool canonical = false;
};

/// Writes one document, event by event.
class YamlWriter {
public:
    explicit YamlWriter(const YamlWriteOptions& options = {});
    ~YamlWriter();
    YamlWriter(const YamlWriter&) = delete;

    /// `anchor` names the collection for alias(); empty: none.
    void start_mapping(std::string_view anchor = {});
    void end_mapping();
    void start_sequence(std::string_view anchor = {});
    void end_sequence();
    void alias(std::string_view anchor);
    /// A String, quoted where it would be read as something else.
    void string(std::string_view text);
    /// A String in double quotes.
    void quoted(std::string_view text);
    /// A key that libyaml finds the style for.
    void key(std::string_view text);
    /// What is written as it is: numbers, booleans, "" for nil.
    void plain(std::string_view text);

    /// Ends the document and gives its text.
    std::string finish();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::codec
