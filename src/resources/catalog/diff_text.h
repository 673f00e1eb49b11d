// SPDX-License-Identifier: Apache-2.0
// The difference of two catalogs as text for people and as JSON for programs.
#pragma once

#include <string>

#include "resources/catalog/diff.h"

namespace bunraku::catalog {

struct DiffTextOptions {
    bool color = false;
    bool detail_add = false;  ///< show the parameters of added resources too
    bool truncate = true;     ///< truncate values that do not fit on a line of the screen
    bool places = false;      ///< show file and line of each resource
    int context = 3;          ///< unchanged lines around the changed lines of a text
    const Naming* naming = nullptr;
};

/// Writes "+ File[/x]", "- File[/y]", and for a changed resource each parameter with its old and
/// new value. Multi-line texts, arrays and values inside hashes are shown as line differences.
/// Sensitive values are never shown.
void write_diff_text(std::string& out, const CatalogDiff& diff, const Catalog& before,
                     const Catalog& after, const DiffTextOptions& options = {});

/// Writes {"added": [..], "removed": [..], "changed": [..], "classes": {..}, "relations": {..}} as
/// compact JSON.
void write_diff_json(std::string& out, const CatalogDiff& diff, const Catalog& before,
                     const Catalog& after, const Naming* naming = nullptr);

}  // namespace bunraku::catalog
