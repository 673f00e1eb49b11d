// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3 description of the API, for client generators.
#include <fmt/format.h>

#include "modules/forge/api.h"

namespace bunraku::forge {

namespace {

struct Parameter {
    std::string_view name, type, text;
};
struct Operation {
    std::string_view path, method, id, text;
    std::string_view parameters;  ///< names separated by blanks
    std::string_view answer;      ///< schema of the response; may be empty
    int status = 200;
    bool token = false;
};

constexpr Parameter kParameters[] = {
    {"limit", "integer", "1 to 100 results a page"},
    {"offset", "integer", "results before the first one"},
    {"sort_by", "string", "an order, see the text of the operation"},
    {"query", "string", "words in names, summaries and tags"},
    {"owner", "string", "the author"},
    {"tag", "string", "a tag"},
    {"module", "string", "AUTHOR-NAME"},
    {"version", "string", "one version"},
    {"slugs", "string", "AUTHOR-NAME, several with blanks or commas between them"},
    {"starts_with", "string", "the beginning of a module's slug"},
    {"exclude_fields", "string", "fields to leave out, blanks or commas between them"},
    {"with_html", "boolean", "README, CHANGELOG and the like as HTML"},
    {"show_deleted", "boolean", "deleted releases too"},
    {"hide_deprecated", "boolean", "without deprecated modules"},
    {"only_latest", "boolean", "filters look at the current release alone"},
    {"with_tasks", "boolean", "with tasks"},
    {"with_plans", "boolean", "with plans"},
    {"with_pdk", "boolean", "made with the PDK"},
    {"with_release_since", "string", "released since that date"},
    {"operatingsystem", "string", "supports it"},
    {"operatingsystemrelease", "string", "and this release of it"},
    {"puppet_requirement", "string", "a range of Puppet's versions"},
    {"openvox_requirement", "string", "a range of OpenVox's versions"},
    {"pe_requirement", "string", "a range of Puppet Enterprise's versions"},
    {"reason", "string", "why"},
};

constexpr std::string_view kFilters =
    "limit offset sort_by query owner tag with_tasks with_plans with_pdk with_release_since "
    "operatingsystem operatingsystemrelease puppet_requirement openvox_requirement pe_requirement "
    "show_deleted hide_deprecated exclude_fields with_html";

constexpr Operation kOperations[] = {
    {"/v3/modules", "get", "getModules", "Modules. sort_by: rank, downloads or latest_release.",
     "starts_with slugs only_latest", "ModulePage"},
    {"/v3/modules/{module_slug}", "get", "getModule", "A module.", "exclude_fields with_html",
     "Module"},
    {"/v3/modules/{module_slug}", "delete", "deleteModule", "Deletes all releases.", "reason", "",
     204, true},
    {"/v3/modules/{module_slug}", "patch", "deprecateModule",
     "Deprecates: {\"action\":\"deprecate\",\"params\":{\"reason\":..,\"replacement_slug\":..}}.",
     "", "", 204, true},
    {"/v3/releases", "get", "getReleases",
     "Releases, the newest version first. sort_by: version, release_date or module.",
     "module version", "ReleasePage"},
    {"/v3/releases", "post", "addRelease",
     "Uploads and publishes: {\"file\":BASE64}, or multipart/form-data with file and signature.",
     "", "ReleaseMinimal", 201, true},
    {"/v3/releases/{release_slug}", "get", "getRelease", "A release.", "exclude_fields with_html",
     "Release"},
    {"/v3/releases/{release_slug}", "delete", "deleteRelease", "Deletes a release.", "reason", "",
     204, true},
    {"/v3/releases/{release_slug}/plans", "get", "getReleasePlans", "Its plans.", "limit offset",
     "PlanPage"},
    {"/v3/releases/{release_slug}/plans/{plan_name}", "get", "getReleasePlan", "One plan.", "",
     "Plan"},
    {"/v3/files/{filename}", "get", "getFile",
     "The archive of a release (RELEASE.tar.gz), or its signature (RELEASE.tar.gz.minisig).", "",
     ""},
    {"/v3/users", "get", "getUsers",
     "Authors. sort_by: username, releases, downloads or latest_release.",
     "limit offset sort_by exclude_fields", "UserPage"},
    {"/v3/users/{user_slug}", "get", "getUser", "An author.", "exclude_fields", "User"},
    {"/v3/search_filters", "get", "getFilters", "Saved searches of the token's holder.", "", "",
     200, true},
    {"/v3/search_filters", "post", "addFilter", "Saves a search.", "", "", 200, true},
    {"/v3/search_filters/{id}", "delete", "deleteFilter", "Forgets it.", "", "", 204, true},
};

void append_parameter(std::string& out, std::string_view name, std::string_view where,
                      std::string_view type, std::string_view text) {
    if (!out.empty()) out += ',';
    out += fmt::format(
        R"({{"name":"{}","in":"{}","required":{},"schema":{{"type":"{}"}},"description":"{}"}})",
        name, where, where == "path", type, text);
}

std::string parameters_of(const Operation& o) {
    std::string out;
    for (std::size_t at = 0; (at = o.path.find('{', at)) != std::string_view::npos; ++at) {
        const std::size_t end = o.path.find('}', at);
        append_parameter(out, o.path.substr(at + 1, end - at - 1), "path", "string", "which one");
    }
    const auto has = [](std::string_view list, std::string_view name) {
        return (" " + std::string(list) + " ").find(" " + std::string(name) + " ") !=
               std::string::npos;
    };
    const bool listing = o.method == "get" && (o.path == "/v3/modules" || o.path == "/v3/releases");
    for (const Parameter& p : kParameters) {
        if (has(o.parameters, p.name) || (listing && has(kFilters, p.name))) {
            append_parameter(out, p.name, "query", p.type, p.text);
        }
    }
    return out;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) out += c == '"' ? std::string("\\\"") : std::string(1, c);
    return out;
}

constexpr std::string_view kSchemas = R"({
"Pagination":{"type":"object","properties":{"limit":{"type":"integer"},"offset":{"type":"integer"},"first":{"type":"string"},"previous":{"type":"string","nullable":true},"current":{"type":"string"},"next":{"type":"string","nullable":true},"total":{"type":"integer"}}},
"Error":{"type":"object","properties":{"message":{"type":"string"},"errors":{"type":"array","items":{"type":"string"}}}},
"Owner":{"type":"object","properties":{"uri":{"type":"string"},"slug":{"type":"string"},"username":{"type":"string"},"gravatar_id":{"type":"string"}}},
"ReleaseMinimal":{"type":"object","properties":{"uri":{"type":"string"},"slug":{"type":"string"},"file_uri":{"type":"string"}}},
"Release":{"type":"object","properties":{"uri":{"type":"string"},"slug":{"type":"string"},"module":{"type":"object"},"version":{"type":"string"},"metadata":{"type":"object"},"tags":{"type":"array","items":{"type":"string"}},"pdk":{"type":"boolean"},"file_uri":{"type":"string"},"file_size":{"type":"integer"},"file_md5":{"type":"string","nullable":true},"file_sha256":{"type":"string","nullable":true},"downloads":{"type":"integer"},"readme":{"type":"string","nullable":true},"changelog":{"type":"string","nullable":true},"license":{"type":"string","nullable":true},"reference":{"type":"string","nullable":true},"tasks":{"type":"array","items":{"type":"object"}},"plans":{"type":"array","items":{"type":"object"}},"created_at":{"type":"string"},"updated_at":{"type":"string"},"deleted_at":{"type":"string","nullable":true},"deleted_for":{"type":"string","nullable":true}}},
"Module":{"type":"object","properties":{"uri":{"type":"string"},"slug":{"type":"string"},"name":{"type":"string"},"downloads":{"type":"integer"},"created_at":{"type":"string"},"updated_at":{"type":"string"},"deprecated_at":{"type":"string","nullable":true},"deprecated_for":{"type":"string","nullable":true},"superseded_by":{"type":"object","nullable":true},"owner":{"$ref":"#/components/schemas/Owner"},"current_release":{"$ref":"#/components/schemas/Release"},"releases":{"type":"array","items":{"$ref":"#/components/schemas/ReleaseMinimal"}},"homepage_url":{"type":"string","nullable":true},"issues_url":{"type":"string","nullable":true}}},
"User":{"type":"object","properties":{"uri":{"type":"string"},"slug":{"type":"string"},"username":{"type":"string"},"display_name":{"type":"string"},"release_count":{"type":"integer"},"module_count":{"type":"integer"},"created_at":{"type":"string"},"updated_at":{"type":"string"}}},
"Plan":{"type":"object","properties":{"uri":{"type":"string"},"name":{"type":"string"},"filename":{"type":"string"},"plan_metadata":{"type":"object"},"private":{"type":"boolean"}}},
"ModulePage":{"type":"object","properties":{"pagination":{"$ref":"#/components/schemas/Pagination"},"results":{"type":"array","items":{"$ref":"#/components/schemas/Module"}}}},
"ReleasePage":{"type":"object","properties":{"pagination":{"$ref":"#/components/schemas/Pagination"},"results":{"type":"array","items":{"$ref":"#/components/schemas/Release"}}}},
"UserPage":{"type":"object","properties":{"pagination":{"$ref":"#/components/schemas/Pagination"},"results":{"type":"array","items":{"$ref":"#/components/schemas/User"}}}},
"PlanPage":{"type":"object","properties":{"pagination":{"$ref":"#/components/schemas/Pagination"},"results":{"type":"array","items":{"$ref":"#/components/schemas/Plan"}}}}
})";

}  // namespace

std::string openapi_json() {
    std::string paths;
    for (std::size_t i = 0; i < std::size(kOperations); ++i) {
        const Operation& o = kOperations[i];
        const bool begins = i == 0 || kOperations[i - 1].path != o.path;
        const bool ends = i + 1 == std::size(kOperations) || kOperations[i + 1].path != o.path;
        if (begins) paths += fmt::format("{}\"{}\":{{", paths.empty() ? "" : ",\n", o.path);
        std::string content;
        if (!o.answer.empty()) {
            content = fmt::format(
                R"(,"content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/{}"}}}}}})",
                o.answer);
        }
        paths += fmt::format(
            R"({}"{}":{{"operationId":"{}","summary":"{}","parameters":[{}],"responses":{{"{}":{{"description":"done"{}}},)"
            R"("default":{{"description":"why not","content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/Error"}}}}}}}}}}{}}})",
            begins ? "" : ",", o.method, o.id, escaped(o.text), parameters_of(o), o.status, content,
            o.token ? R"(,"security":[{"token":[]}])" : "");
        if (ends) paths += '}';
    }
    return fmt::format(
        R"({{"openapi":"3.0.3","info":{{"title":"Bunraku forge","version":"3","description":"The Forge API v3 below the root, below /pulp_puppet/forge/repository/ID and below /pulp_puppet/forge/consumer/ID."}},)"
        R"("servers":[{{"url":"/"}}],"paths":{{{}}},"components":{{"securitySchemes":{{"token":{{"type":"http","scheme":"bearer"}}}},"schemas":{}}}}})",
        paths, kSchemas);
}

}  // namespace bunraku::forge
