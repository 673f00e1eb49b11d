// SPDX-License-Identifier: Apache-2.0
// The fact ruby and Ruby's load path. They are read from rbconfig.rb, which every Ruby installation
// contains, without running Ruby.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/text.h"
#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

using RubyConfig = std::map<std::string, std::string, std::less<>>;

/// Parses the lines CONFIG["name"] = "text" of rbconfig.rb and expands $(name).
RubyConfig parse_rbconfig(std::string_view text, std::string_view prefix) {
    RubyConfig raw;
    for (std::string_view line : split_lines(text)) {
        line = trim(line);
        constexpr std::string_view kStart = "CONFIG[\"";
        if (!line.starts_with(kStart)) continue;
        line.remove_prefix(kStart.size());
        const auto name = line.substr(0, line.find('"'));
        const auto assigned = line.find("] = ");
        if (assigned == line.npos) continue;
        std::string_view value = line.substr(assigned + 4);
        if (value.size() < 2 || value.front() != '"' || value.back() != '"') continue;
        raw.try_emplace(std::string(name), value.substr(1, value.size() - 2));
    }
    raw["prefix"] = prefix;
    raw["DESTDIR"] = "";
    RubyConfig out;
    for (const auto& [name, value] : raw) {
        std::string text_out = value;
        for (int depth = 0; depth < 20; ++depth) {
            const auto open = text_out.find("$(");
            const auto close = text_out.find(')', open);
            if (open == std::string::npos || close == std::string::npos) break;
            const auto found = raw.find(text_out.substr(open + 2, close - open - 2));
            text_out.replace(open, close - open + 1, found == raw.end() ? "" : found->second);
        }
        out[name] = std::move(text_out);
    }
    return out;
}

/// Returns the configuration of the Ruby on the PATH; empty if Ruby is not installed.
RubyConfig ruby_config(sys::System& system) {
    auto program = system.processes.which("ruby");
    if (!program) program = system.processes.which("/opt/puppetlabs/puppet/bin/ruby");
    if (!program) return {};
    const std::string real = system.files.real_path(*program).value_or(*program);
    const std::string bin(sys::directory_name(real)), prefix(sys::directory_name(bin));
    std::vector<std::string> bases = {prefix + "/lib/ruby", prefix + "/lib64/ruby",
                                      prefix + "/share/ruby"};
    const auto list = [&](const std::string& folder) {
        auto names = system.files.list(folder);
        return names ? std::move(*names) : std::vector<std::string>();
    };
    for (const std::string& name : list(prefix + "/lib"))
        if (name.find("-linux") != std::string::npos)
            bases.push_back(fmt::format("{}/lib/{}/ruby", prefix, name));
    const auto number = [](const std::string& name) {
        return !name.empty() && name[0] >= '0' && name[0] <= '9';
    };
    RubyConfig any;
    for (const std::string& base : bases) {
        std::vector<std::string> candidates = {base};
        for (const std::string& version : list(base)) {
            if (!number(version)) continue;
            candidates.push_back(base + "/" + version);
            for (const std::string& arch : list(candidates.back()))
                if (arch.find("-linux") != std::string::npos)
                    candidates.push_back(base + "/" + version + "/" + arch);
        }
        for (const std::string& candidate : candidates) {
            const auto text = system.files.read(candidate + "/rbconfig.rb");
            if (!text) continue;
            RubyConfig config = parse_rbconfig(*text, prefix);
            if (config["RUBY_INSTALL_NAME"] == sys::base_name(real)) return config;
            if (any.empty()) any = std::move(config);
        }
    }
    return any;
}

}  // namespace

Value resolve_ruby(Context& context) {
    RubyConfig config = ruby_config(context.system);
    if (config.empty()) return Value::undef();
    return Fields(context)
        .add("platform", context.text_or_undef(config["arch"]))
        .add("sitedir", context.text_or_undef(config["sitelibdir"]))
        .add("version", context.text(fmt::format("{}.{}.{}", config["MAJOR"], config["MINOR"],
                                                 config["TEENY"])))
        .build();
}

std::vector<std::string> ruby_fact_directories(sys::System& system) {
    RubyConfig config = ruby_config(system);
    std::vector<std::string> out;
    for (std::string_view name : {"sitelibdir", "sitearchdir", "sitedir", "vendorlibdir",
                                  "vendorarchdir", "vendordir", "rubylibdir", "rubyarchdir"}) {
        const auto found = config.find(name);
        if (found == config.end() || found->second.empty()) continue;
        std::string folder = found->second + "/facter";
        if (system.files.is_directory(folder)) out.push_back(std::move(folder));
    }
    return out;
}

}  // namespace bunraku::facts
