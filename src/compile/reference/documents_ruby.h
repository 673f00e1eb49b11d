// SPDX-License-Identifier: Apache-2.0
// The Ruby part of documents.cc.
#pragma once

#include "compile/reference/documents.h"

namespace bunraku::reference {

/// Returns `name(Type $parameter = default, ..)` with the types of the tags.
std::string signature_text(std::string_view name,
                           const std::vector<std::pair<std::string, std::string>>& parameters,
                           const DocText& doc);
/// Removes the indentation of the last line from all lines, as YARD does for methods.
std::string without_indent(std::string_view code);
void add_ruby_documents(std::vector<DocItem>& out, const std::string& folder,
                        const std::string& ruby, const std::vector<std::string>& sources,
                        base::LogSink& log);

}  // namespace bunraku::reference
