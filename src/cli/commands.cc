// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

namespace bunraku::cli {

const Command* find_command(std::string_view name) {
    for (const Command* c : all_commands()) {
        if (c->name == name || (!c->alias.empty() && c->alias == name)) return c;
    }
    return nullptr;
}

std::string_view command_help(std::string_view name) {
    for (const HelpText& h : help_texts()) {
        if (h.name == name) return h.text;
    }
    return {};
}

}  // namespace bunraku::cli
