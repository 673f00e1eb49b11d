// The part of documents.cc that comes from Ruby code.
#pragma once

#include "compile/reference/documents.h"

namespace bunraku::reference {

/// `name(Type $parameter = default, ..)`; types are those of the tags.
std::string signature_text(std::string_view name,
                           const std::vector<std::pair<std::string, std::string>>& parameters,
                           const DocText& doc);
/// Code without the indentation of its last line, as YARD shows what it takes for a method.
std::string without_indent(std::string_view code);
void add_ruby_documents(std::vector<DocItem>& out, const std::string& folder,
                        const std::string& ruby, const std::vector<std::string>& sources,
                        base::LogSink& log);

}  // namespace bunraku::reference
