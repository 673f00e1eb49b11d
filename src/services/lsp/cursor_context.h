// SPDX-License-Identifier: Apache-2.0
// What the code before the cursor expects, from its tokens alone, so that the rest of the line may
// be missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/lsp/text_position.h"

namespace bunraku::lsp {

enum class Expected : std::uint8_t {
    Statement,   ///< the beginning of a statement
    Expression,  ///< a value
    Variable,
    ClassName,
    Attribute,       ///< an attribute of `type`, or of the class `title`
    AttributeValue,  ///< a value of `attribute`
    TypeName,        ///< a capitalized name
    FactKey,         ///< a key of $facts below the path `fact_path`
    HieraKey,
    TemplateName,
    FileName,          ///< "module/file", as in file()
    ServedFile,        ///< the part after "puppet:///modules/"
    ResourceTitle,     ///< of a resource of `type`
    DataKey,           ///< a key of Hiera data
    HieraSetting,      ///< a setting of hiera.yaml
    Interpolation,     ///< the beginning of %{..}
    TemplateVariable,  ///< "@name" in an ERB template
    Nothing,
};

struct CursorContext {
    Expected expected = Expected::Statement;
    Span word;              ///< the part of a name before the cursor
    std::string type;       ///< of the resource around the cursor
    std::string title;      ///< of the resource around the cursor, if it is a literal
    std::string attribute;  ///< whose value is expected
    std::string fact_path;
    bool in_string = false;
    /// The call around the cursor, for signature help: its function and the index of the argument.
    std::string function;
    int argument = -1;
};

CursorContext context_at(std::string_view text, std::uint32_t offset, bool epp);

}  // namespace bunraku::lsp
