// SPDX-License-Identifier: Apache-2.0
#include "modules/module/deploy_info.h"

#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"

namespace bunraku::module {

using base::Result;

namespace {

std::string time_text(std::time_t t) {
    std::tm parts{};
    ::localtime_r(&t, &parts);
    char text[64];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &parts);
    return text;
}

}  // namespace

std::string DeployInfo::text() const {
    std::string rows;
    for (const Module& m : modules) {
        rows += fmt::format(
            "{}\n    {{\n      \"name\": {},\n      \"version\": {},\n      \"sha\": {}\n    }}",
            rows.empty() ? "" : ",", codec::json_string(m.name), codec::json_string(m.version),
            m.sha.empty() ? "null" : codec::json_string(m.sha));
    }
    return fmt::format(
        "{{\n  \"name\": {},\n  \"signature\": {},\n  \"started_at\": {},\n"
        "  \"finished_at\": {},\n  \"deploy_success\": true,\n  \"module_deploys\": [{}{}]\n}}\n",
        codec::json_string(name), codec::json_string(signature),
        codec::json_string(time_text(started)), codec::json_string(time_text(finished)), rows,
        rows.empty() ? "" : "\n  ");
}

std::vector<DeployInfo::Module> deployed_modules(sys::FileSystem& files,
                                                 const std::string& folder) {
    std::vector<DeployInfo::Module> out;
    const auto text = files.read(folder + "/.r10k-deploy.json");
    if (!text) return out;
    base::Arena arena;
    const auto json = value::parse_json(arena, *text);
    if (!json || !json->is_hash()) return out;
    const value::Value* list = json->as_hash().find("module_deploys");
    if (!list || !list->is_array()) return out;
    for (const value::Value& m : list->as_array()) {
        if (!m.is_hash()) continue;
        out.push_back({.name = std::string(text_at(m, "name")),
                       .version = std::string(text_at(m, "version")),
                       .sha = std::string(text_at(m, "sha"))});
    }
    return out;
}

Result<void> make_git_folder(sys::FileSystem& files, const std::string& folder,
                             const std::string& commit, const std::string& mirror) {
    const std::string git = folder + "/.git";
    for (const char* part : {"/refs/heads", "/refs/tags", "/objects/info", "/objects/pack"})
        BUNRAKU_TRY_VOID(files.make_directories(git + part));
    const auto write = [&](const char* name, const std::string& text) {
        return files.replace(git + name, text, {.mode = 0644});
    };
    BUNRAKU_TRY_VOID(write("/HEAD", commit + "\n"));
    BUNRAKU_TRY_VOID(write("/objects/info/alternates", mirror + "/objects\n"));
    return write("/config",
                 "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n");
}

}  // namespace bunraku::module
