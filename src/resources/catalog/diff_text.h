// The difference of two catalogs for people and for programs.
#pragma once

#include <string>

#include "resources/catalog/diff.h"

namespace bunraku::catalog {

struct DiffTextOptions {
    bool color = false;
    bool detail_add = false;  ///< the parameters of added resources too
    bool truncate = true;     ///< cut values that are longer than a screen's line
    bool places = false;      ///< file and line of each resource
    int context = 3;          ///< equal lines around the changed ones of a text
    const Naming* naming = nullptr;
};

/// "+ File[/x]", "- File[/y]", and for a changed resource each parameter with its old and new
/// value; texts of several lines, arrays and what stands inside hashes as line differences.
/// Sensitive values are never shown.
void write_diff_text(std::string& out, const CatalogDiff& diff, const Catalog& before,
                     const Catalog& after, const DiffTextOptions& options = {});

/// {"added": [..], "removed": [..], "changed": [..], "classes": {..}, "relations": {..}}, compact.
void write_diff_json(std::string& out, const CatalogDiff& diff, const Catalog& before,
                     const Catalog& after, const Naming* naming = nullptr);

}  // namespace bunraku::catalog
