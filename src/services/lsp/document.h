// SPDX-License-Identifier: Apache-2.0
// A document that is open in the editor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/value/value.h"
#include "services/lsp/text_position.h"

namespace bunraku::lsp {

class Document {
public:
    Document(std::string uri, std::string path, std::int64_t version, std::string text);

    /// Largest text of a document in bytes. The parser's offsets have 32 bits, and a larger text is
    /// not source code.
    static constexpr std::size_t kMaxText = std::size_t{32} << 20;

    const std::string& uri() const { return uri_; }
    const std::string& path() const { return path_; }
    std::int64_t version() const { return version_; }
    const std::string& text() const { return text_; }
    const LineIndex& lines() const { return lines_; }

    /// Applies one entry of `contentChanges`: a range and its new text, or a whole text. The error
    /// describes an entry that is not valid; the text is unchanged then.
    base::Result<void> apply(const value::Value& change, Encoding encoding);
    void set_version(std::int64_t version) { version_ = version; }

private:
    std::string uri_, path_;
    std::int64_t version_ = 0;
    std::string text_;
    LineIndex lines_;
};

/// Returns the position in a JSON object; nullopt if it is missing or not valid.
std::optional<Position> read_position(const value::Value* json);
std::optional<Range> read_range(const value::Value* json);

}  // namespace bunraku::lsp
