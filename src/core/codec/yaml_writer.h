// SPDX-License-Identifier: Apache-2.0
// Writes YAML like Ruby's Psych: libyaml's emitter, and Psych's choice of styles.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bunraku::codec {

struct YamlWriteOptions {
    int indentation = 2;
    int line_width = 0;  ///< 0 means libyaml's 80, -1 means no limit
    bool canonical = false;
};

/// Writes a document event by event.
class YamlWriter {
public:
    explicit YamlWriter(const YamlWriteOptions& options = {});
    ~YamlWriter();
    YamlWriter(const YamlWriter&) = delete;

    /// `anchor` names the collection for alias(); it may be empty.
    void start_mapping(std::string_view anchor = {});
    void end_mapping();
    void start_sequence(std::string_view anchor = {});
    void end_sequence();
    void alias(std::string_view anchor);
    /// Writes a String, quoted if it would otherwise be read as another type.
    void string(std::string_view text);
    /// Writes a String in double quotes.
    void quoted(std::string_view text);
    /// Writes a key; libyaml chooses the style.
    void key(std::string_view text);
    /// Writes a text unchanged: numbers, booleans, "" for nil.
    void plain(std::string_view text);

    /// Ends the document and returns its text.
    std::string finish();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::codec
