// SPDX-License-Identifier: Apache-2.0
// The tables of a new store, as scripts for both backends. docs/design/0011-store-schema.md
// describes the columns. schema_changes.h converts older stores; the order of columns is the same
// in both, so a column that was added later is the last one of its table.
#pragma once

#include <string_view>

namespace bunraku::store {

inline constexpr std::string_view kTables = R"sql(
CREATE TABLE store_meta (
    name {text} PRIMARY KEY,
    value {int} NOT NULL
){rowless};
CREATE TABLE environments (
    id {id},
    name {text} NOT NULL UNIQUE
);
CREATE TABLE producers (
    id {id},
    name {text} NOT NULL UNIQUE
);
CREATE TABLE certnames (
    id {id},
    certname {text} NOT NULL UNIQUE,
    deactivated {int},
    expired {int},
    facts_expire {small},
    facts_expire_updated {int},
    latest_report_id {int},
    latest_report_timestamp {int}
);
-- catalogs
CREATE TABLE catalogs (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash {blob} NOT NULL,
    wire_digest {blob},
    version {text} NOT NULL,
    api_version {small} NOT NULL,
    environment_id {int},
    transaction_uuid {text},
    catalog_uuid {text},
    code_id {text},
    job_id {text},
    producer_id {int},
    producer_timestamp {int} NOT NULL,
    timestamp {int} NOT NULL,
sqlite: edges BLOB NOT NULL,
pg: edge_sources BIGINT[] NOT NULL,
pg: edge_targets BIGINT[] NOT NULL,
pg: edge_kinds BIGINT[] NOT NULL,
    kind_set_id {int} NOT NULL DEFAULT 0
);
CREATE INDEX catalogs_environment ON catalogs (environment_id);
-- What an agent's catalog has beyond the wire format; only of catalogs compiled by this program.
CREATE TABLE catalog_agent_data (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    version_is_number {small} NOT NULL,
    catalog_format {small} NOT NULL,
    classes TEXT NOT NULL,
    tags TEXT NOT NULL,
    resource_order {blob} NOT NULL,
    containment {blob} NOT NULL
);
CREATE TABLE parameters (
    id {id},
    hash {blob} NOT NULL UNIQUE,
    parameters {jsontext} NOT NULL,
    exact TEXT,
    sealed {blob}
);
CREATE TABLE resources (
    id {id},
    row_hash {blob} NOT NULL UNIQUE,
    parameters_id {int} NOT NULL,
    type {text} NOT NULL,
    title {text} NOT NULL,
    exported {small} NOT NULL,
    virtual {small} NOT NULL DEFAULT 0,
    file {text},
    line {int},
    tags {jsontext} NOT NULL,
    kind {text},
    aliases {json},
    tag_set_id {int} NOT NULL DEFAULT 0
);
CREATE INDEX resources_type_title ON resources (type, title);
CREATE INDEX resources_parameters ON resources (parameters_id);
CREATE INDEX resources_exported ON resources (type, title) WHERE exported = 1;
CREATE TABLE catalog_resources (
    certname_id {int} NOT NULL,
    resource_id {int} NOT NULL,
    PRIMARY KEY (certname_id, resource_id)
){rowless};
CREATE INDEX catalog_resources_resource ON catalog_resources (resource_id, certname_id);
-- What collectors ask for. Only exported resources are here: they are few.
CREATE TABLE exported_tags (
    tag {text} NOT NULL,
    resource_id {int} NOT NULL,
    PRIMARY KEY (tag, resource_id)
){rowless};
CREATE INDEX exported_tags_resource ON exported_tags (resource_id);
CREATE TABLE exported_params (
    name {text} NOT NULL,
    value {text} NOT NULL,
    member {small} NOT NULL,
    resource_id {int} NOT NULL,
    PRIMARY KEY (name, value, member, resource_id)
){rowless};
CREATE INDEX exported_params_resource ON exported_params (resource_id, name);
-- facts
CREATE TABLE factsets (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash {blob} NOT NULL,
    wire_digest {blob},
    package_digest {blob},
    environment_id {int},
    producer_id {int},
    producer_timestamp {int} NOT NULL,
    timestamp {int} NOT NULL,
    name_set_id {int} NOT NULL DEFAULT 0,
    steady_hash {blob}
);
CREATE TABLE facts (
    id {id},
    name {text} NOT NULL,
    match {text} NOT NULL,
    value {json} NOT NULL,
    number {real},
    UNIQUE (name, match)
);
CREATE TABLE factset_facts (
    certname_id {int} NOT NULL,
    fact_id {int} NOT NULL,
    PRIMARY KEY (certname_id, fact_id)
){rowless};
CREATE INDEX factset_facts_fact ON factset_facts (fact_id, certname_id);
CREATE TABLE fact_paths (
    id {id},
    path {text} NOT NULL,
    path_array {json} NOT NULL,
    name {text} NOT NULL,
    depth {int} NOT NULL,
    type {text} NOT NULL,
    UNIQUE (path, type)
);
CREATE INDEX fact_paths_name ON fact_paths (name);
CREATE TABLE fact_leaves (
    fact_id {int} NOT NULL,
    path_id {int} NOT NULL,
    match {text} NOT NULL,
    value {json} NOT NULL,
    number {real},
    PRIMARY KEY (fact_id, path_id)
){rowless};
CREATE INDEX fact_leaves_path ON fact_leaves (path_id, match);
-- packages
CREATE TABLE packages (
    id {id},
    name {text} NOT NULL,
    version {text} NOT NULL,
    provider {text} NOT NULL,
    UNIQUE (name, version, provider)
);
CREATE TABLE certname_packages (
    certname_id {int} NOT NULL,
    package_id {int} NOT NULL,
    PRIMARY KEY (certname_id, package_id)
){rowless};
CREATE INDEX certname_packages_package ON certname_packages (package_id, certname_id);
-- events of reports (schema_reports.h)
CREATE TABLE resource_events (
    certname_id {int} NOT NULL,
    report_id {int} NOT NULL,
    seq {int} NOT NULL,
    status {text} NOT NULL,
    timestamp {int} NOT NULL,
    resource_type {text} NOT NULL,
    resource_title {text} NOT NULL,
    property {text},
    name {text},
    new_value {json},
    old_value {json},
    message {text},
    file {text},
    line {int},
    containment_path {json},
    containing_class {text},
    corrective_change {small},
    PRIMARY KEY (certname_id, report_id, seq)
){rowless};
CREATE INDEX resource_events_timestamp ON resource_events (timestamp);
CREATE INDEX resource_events_resource ON resource_events (resource_type, resource_title);
CREATE INDEX resource_events_corrective ON resource_events (timestamp) WHERE corrective_change = 1;
-- catalog inputs
CREATE TABLE catalog_inputs (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    catalog_uuid {text},
    producer_timestamp {int} NOT NULL,
    hash {blob} NOT NULL
);
CREATE TABLE catalog_input_contents (
    certname_id {int} NOT NULL,
    type {text} NOT NULL,
    name {text} NOT NULL,
    PRIMARY KEY (certname_id, type, name)
){rowless};
-- What lost a user and may have lost the last one.
CREATE TABLE gc_candidates (
    kind {small} NOT NULL,
    id {int} NOT NULL,
    lost_at {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, id)
){rowless};
CREATE INDEX gc_candidates_lost_at ON gc_candidates (kind, lost_at);
)sql";

// Added with schema 3: indexes that lead from a query to resources.
inline constexpr std::string_view kSearchTables = R"sql(
CREATE INDEX resources_tag_set ON resources (tag_set_id, type);
CREATE TABLE tag_sets (
    id {id},
    hash {blob} NOT NULL UNIQUE
);
CREATE TABLE tag_set_members (
    tag {text} NOT NULL,
    tag_set_id {int} NOT NULL,
    PRIMARY KEY (tag, tag_set_id)
){rowless};
CREATE INDEX tag_set_members_set ON tag_set_members (tag_set_id);
CREATE TABLE parameter_values (
    value_hash {int} NOT NULL,
    type_hash {int} NOT NULL,
    parameters_id {int} NOT NULL,
    PRIMARY KEY (value_hash, type_hash, parameters_id)
){rowless};
CREATE INDEX parameter_values_parameters ON parameter_values (parameters_id);
CREATE TABLE catalog_types (
    certname_id {int} NOT NULL,
    type {text} NOT NULL,
    exported {small} NOT NULL,
    resources {int} NOT NULL,
    PRIMARY KEY (certname_id, type, exported)
){rowless};
CREATE INDEX catalog_types_type ON catalog_types (type, exported, certname_id, resources);
)sql";

// Added with schema 5: the distinct sets of fact names.
inline constexpr std::string_view kFactNameTables = R"sql(
CREATE TABLE fact_name_sets (
    id {id},
    hash {blob} NOT NULL UNIQUE
);
CREATE TABLE fact_name_set_members (
    name_set_id {int} NOT NULL,
    name {text} NOT NULL,
    PRIMARY KEY (name_set_id, name)
){rowless};
CREATE INDEX factsets_name_set ON factsets (name_set_id, certname_id);
)sql";

// Added with schema 6: earlier catalogs. `change` contains the resources that were added and
// removed; see history.h.
inline constexpr std::string_view kHistoryTables = R"sql(
CREATE TABLE catalog_versions (
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    valid_from {int} NOT NULL,
    hash {blob} NOT NULL,
    previous_hash {blob},
    version {text} NOT NULL,
    code_id {text},
    environment {text},
    added {int} NOT NULL,
    removed {int} NOT NULL,
    change {blob},
    PRIMARY KEY (certname_id, valid_from)
){rowless};
CREATE INDEX catalog_versions_valid_from ON catalog_versions (valid_from);
)sql";

// Added with schema 7: earlier facts. `changes` contains the previous values of the facts that
// differ.
inline constexpr std::string_view kFactHistoryTables = R"sql(
CREATE TABLE factset_versions (
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    valid_from {int} NOT NULL,
    hash {blob} NOT NULL,
    previous_hash {blob},
    changes TEXT,
    PRIMARY KEY (certname_id, valid_from)
){rowless};
CREATE INDEX factset_versions_valid_from ON factset_versions (valid_from);
)sql";

// Added with schema 8: counts that would otherwise require a scan of all resources, reports or
// events. Triggers count reports (schema_reports.h).
inline constexpr std::string_view kCounterTables = R"sql(
CREATE TABLE kind_sets (
    id {id},
    hash {blob} NOT NULL UNIQUE
);
CREATE TABLE kind_set_members (
    kind_set_id {int} NOT NULL,
    type {text} NOT NULL,
    title {text} NOT NULL,
    exported {small} NOT NULL,
    resources {int} NOT NULL,
    PRIMARY KEY (kind_set_id, type, exported, title)
){rowless};
CREATE INDEX catalogs_kind_set ON catalogs (kind_set_id, environment_id, certname_id);
CREATE TABLE report_counts (
    certname_id {int} NOT NULL,
    environment_id {int} NOT NULL,
    report_type {text} NOT NULL,
    status {text} NOT NULL,
    reports {int} NOT NULL,
    PRIMARY KEY (certname_id, environment_id, report_type, status)
){rowless};
-- What the collectors of each node's newest catalog ask for, see catalog::name_of_export.
CREATE TABLE exported_collections (
    certname_id {int} NOT NULL REFERENCES certnames (id) ON DELETE CASCADE,
    type {text} NOT NULL,
    name {text} NOT NULL,
    PRIMARY KEY (certname_id, name)
){rowless};
CREATE INDEX exported_collections_type ON exported_collections (type, certname_id);
-- The events of each node's newest report, in few words.
CREATE TABLE latest_events (
    certname_id {int} NOT NULL,
    seq {int} NOT NULL,
    report_id {int} NOT NULL,
    environment_id {int},
    status {text} NOT NULL,
    timestamp {int} NOT NULL,
    resource_type {text} NOT NULL,
    resource_title {text} NOT NULL,
    containing_class {text},
    PRIMARY KEY (certname_id, seq)
){rowless};
CREATE INDEX latest_events_resource
    ON latest_events (resource_type, resource_title, status, certname_id, report_id);
CREATE INDEX latest_events_class
    ON latest_events (containing_class, status, certname_id, report_id);
)sql";

// Added with schema 10: the source locations of resources, and a list of them for each newest
// catalog (`hash`). `generation` is the sum of store_meta `generation` and `search` when the list
// was written; see source_locations.h.
inline constexpr std::string_view kPlaceTables = R"sql(
CREATE TABLE places (
    id {id},
    hash {blob} NOT NULL UNIQUE,
    file {text},
    line {int}
);
CREATE TABLE catalog_places (
    certname_id {int} PRIMARY KEY REFERENCES certnames (id) ON DELETE CASCADE,
    hash {blob} NOT NULL,
    places {blob} NOT NULL,
    generation {int} NOT NULL DEFAULT 0
);
CREATE INDEX catalog_places_generation ON catalog_places (generation);
)sql";

// Added with schema 11: rollouts, which move nodes to another version of their environment in waves
// (docs/design/0401-rollouts.md). Versions are the names of folders that `deploy` made. Nodes are
// named, not referenced, because a rollout may know nodes that the store does not. `live` is 1
// until a rollout is closed: an environment has at most one live rollout.
inline constexpr std::string_view kRolloutTables = R"sql(
CREATE TABLE rollouts (
    id {id},
    environment {text} NOT NULL,
    from_version {text} NOT NULL,
    to_version {text} NOT NULL,
    plan_digest {text} NOT NULL,
    state {text} NOT NULL,
    wave {int} NOT NULL,
    moved {int} NOT NULL,
    resume_state {text} NOT NULL,
    hold {small} NOT NULL,
    sequence {int} NOT NULL,
    epoch {int} NOT NULL,
    started {int} NOT NULL,
    since {int} NOT NULL,
    starter {text} NOT NULL,
    approved {int} NOT NULL,
    reason {text} NOT NULL,
    live {small} NOT NULL
);
CREATE UNIQUE INDEX rollouts_live ON rollouts (environment) WHERE live = 1;
CREATE TABLE rollout_plans (
    digest {text} PRIMARY KEY,
    plan {text} NOT NULL
);
CREATE TABLE rollout_members (
    certname {text} NOT NULL,
    rollout_id {int} NOT NULL,
    wave {int} NOT NULL,
    judged {small} NOT NULL,
    verdict {text} NOT NULL DEFAULT '',
    detail {text} NOT NULL DEFAULT '',
    proofs {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (certname, rollout_id)
){rowless};
CREATE INDEX rollout_members_rollout ON rollout_members (rollout_id, wave);
CREATE TABLE node_versions (
    certname {text} NOT NULL,
    environment {text} NOT NULL,
    version {text} NOT NULL,
    previous {text} NOT NULL,
    since {int} NOT NULL,
    transaction_uuid {text} NOT NULL,
    idle {small} NOT NULL,
    epoch {int} NOT NULL,
    PRIMARY KEY (certname, environment)
){rowless};
CREATE TABLE rollout_events (
    rollout_id {int} NOT NULL,
    number {int} NOT NULL,
    time {int} NOT NULL,
    actor {text} NOT NULL,
    what {text} NOT NULL,
    detail {text} NOT NULL,
    sent {small} NOT NULL,
    PRIMARY KEY (rollout_id, number)
){rowless};
CREATE TABLE rollout_servers (
    server {text} PRIMARY KEY,
    epoch {int} NOT NULL,
    seen {int} NOT NULL,
    versions {text} NOT NULL,
    forgotten {small} NOT NULL
);
CREATE TABLE node_tries (
    certname {text} NOT NULL,
    environment {text} NOT NULL,
    version {text} NOT NULL,
    ends {int} NOT NULL,
    actor {text} NOT NULL,
    PRIMARY KEY (certname, environment)
){rowless};
)sql";

}  // namespace bunraku::store
