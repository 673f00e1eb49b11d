// SPDX-License-Identifier: Apache-2.0
// Names and bodies in requests of the certificate API. For use inside this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::server {

/// The names in {"certnames": [..]}.
struct CaNameList {
    bool is_json = false, async = false, given = false;
    std::vector<std::string> names;
};
CaNameList read_ca_names(std::string_view body);

/// Reports whether a name can be part of a file path in the authority's folder.
bool is_file_name(std::string_view name);
/// Reports whether a text contains at most one PEM object. The purpose of a second one would be
/// unclear.
bool one_object(std::string_view pem);

}  // namespace bunraku::server
