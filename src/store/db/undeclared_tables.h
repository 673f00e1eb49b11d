// SPDX-License-Identifier: Apache-2.0
// The tables of resources that are no longer declared (docs/design/0402).
#pragma once

#include <string_view>

namespace bunraku::store {

// Added with schema 11. `undeclared` has a row for each resource that an earlier catalog of the
// node declared and a later one does not. `key` is a digest of its type and name variable. `closed`
// is the time at which the resource was declared again or, if `removed` is 1, removed. `removal`
// has the data for removing it (undeclared_removal.h). `created_resources` has the declared
// resources that the agent of a node created, as hashes of type and title.
inline constexpr std::string_view kUndeclaredTables = R"sql(
CREATE TABLE undeclared (
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    key {blob} NOT NULL,
    type {text} NOT NULL,
    title {text} NOT NULL,
    name {text} NOT NULL,
    since {int} NOT NULL,
    closed {int},
    removed {small} NOT NULL DEFAULT 0,
    environment {text},
    version {text} NOT NULL,
    code_id {text},
    file {text},
    line {int},
    created {small} NOT NULL,
    removal {text},
    PRIMARY KEY (certname_id, key)
){rowless};
CREATE INDEX undeclared_closed ON undeclared (closed) WHERE closed IS NOT NULL;
CREATE TABLE created_resources (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hashes {blob} NOT NULL
);
)sql";

}  // namespace bunraku::store
