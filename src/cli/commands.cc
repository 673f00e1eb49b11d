// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

namespace bunraku::cli {

const Command* find_command(std::string_view name) {
    for (const Command* c : all_commands()) {
        if (c->name == name || (!c->alias.empty() && c->alias == name)) return c;
    }
    return nullptr;
}

bool prints_plain_system_errors(std::string_view name) {
    const Command* command = find_command(name);
    return command && command->system_errors == SystemErrors::Plain;
}

std::string_view command_help(std::string_view name) {
    for (const HelpText& h : help_texts()) {
        if (h.name == name) return h.text;
    }
    return {};
}

}  // namespace bunraku::cli
