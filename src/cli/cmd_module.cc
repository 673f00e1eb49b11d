// SPDX-License-Identifier: Apache-2.0
// `module`: installs, upgrades, lists and builds modules, and installs Puppetfiles.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/forge_options.h"
#include "core/base/text.h"
#include "core/codec/ini.h"
#include "core/codec/json_text.h"
#include "core/config/setting_lists.h"
#include "core/sys/disk.h"
#include "core/sys/signals.h"
#include "core/sys/system.h"
#include "core/sys/terminal.h"
#include "core/sys/wording.h"
#include "modules/module/build_module.h"
#include "modules/module/puppetfile.h"
#include "modules/module/tool.h"
#include "modules/module/trust.h"

namespace bunraku::cli {

namespace {

using base::Level;

struct Options {
    std::string modulepath, target_dir, version, puppetfile = "Puppetfile", moduledir, parallel,
                                                 render_as;
    bool force = false, ignore_dependencies = false, ignore_changes = false, tree = false,
         update = false, frozen = false, locked = false, purge = false, json = false,
         skip_interview = false;
};

/// Returns the absolute folders of a search path.
std::vector<std::string> folders_of(std::string_view text) {
    std::vector<std::string> out = config::split_path(text);
    for (std::string& folder : out) folder = sys::expand_path(folder);
    return out;
}

/// Returns the module folders of the environment: from --modulepath, from environment.conf, or its
/// modules folder followed by the base path.
std::vector<std::string> modulepath_of(const Options& o, const config::Settings& settings) {
    if (!o.modulepath.empty()) return folders_of(o.modulepath);
    const std::string base = settings.text("basemodulepath");
    const std::string name = settings.text("environment");
    auto& fs = sys::disk();
    std::string home;
    for (const std::string& folder : folders_of(settings.text("environmentpath"))) {
        if (home.empty() || fs.is_directory(folder + "/" + name)) {
            home = folder + "/" + name;
            if (fs.is_directory(home)) break;
        }
    }
    std::string path = home + "/modules:" + base;
    if (auto text = fs.read(home + "/environment.conf")) {
        auto ini = codec::parse_ini(*text);
        const codec::IniEntry* entry = ini ? ini->find("main", "modulepath") : nullptr;
        if (entry) {
            path.clear();
            std::string_view rest = entry->value;
            while (!rest.empty()) {
                const std::size_t colon = rest.find(':');
                std::string part(rest.substr(0, colon));
                rest =
                    colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
                if (part == "$basemodulepath" || part == "${basemodulepath}") {
                    part = base;
                } else if (const std::size_t at = part.find("$codedir"); at != part.npos) {
                    part.replace(at, 8, settings.text("codedir"));
                } else if (!part.starts_with('/')) {
                    part = home + "/" + part;
                }
                path += (path.empty() ? "" : ":") + part;
            }
        }
    }
    return folders_of(path);
}

/// Prints Puppet's message for a wrong call of an action.
int usage(const std::string& action, std::string_view text) {
    fmt::print(stderr, "Error: {}\nError: Try 'puppet help module {}' for usage\n", text, action);
    return 1;
}

int wrong_count(const std::string& action, std::size_t given, std::size_t wanted = 1) {
    return usage(action, fmt::format("puppet module {} takes {} argument{}, but you gave {}",
                                     action, wanted, wanted == 1 ? "" : "s", given));
}

/// Prints the result in the format of Puppet's --render-as json. In this mode, the exit code does
/// not indicate failure.
int show_json(const module::ToolResult& result, const std::string& action, const std::string& name,
              const std::string& version) {
    using Kind = module::ToolResult::Kind;
    using codec::json_string;
    std::string module_name = name;
    std::replace(module_name.begin(), module_name.end(), '/', '-');
    std::string out =
        action == "uninstall"
            ? fmt::format(R"({{"module_name":{},"requested_version":{})", json_string(module_name),
                          version.empty() ? "null" : json_string(version))
            : fmt::format(R"({{"action":"{}","module_name":{},"{}":{})", action,
                          json_string(module_name),
                          action == "install" ? "module_version" : "requested_version",
                          json_string(version.empty() ? "latest" : version));
    out += result.details;
    if (result.kind == Kind::Failure) {
        const std::size_t eol = result.text.find('\n');
        std::string oneline = result.text.substr(0, eol);
        if (eol != std::string::npos) {
            const std::string_view rest = std::string_view(result.text).substr(eol + 1);
            oneline.append("; ").append(base::trim(rest.substr(0, rest.find('\n'))));
        }
        out += fmt::format(R"(,"error":{{"oneline":{},"multiline":{}}})", json_string(oneline),
                           json_string(result.text));
    }
    const auto list = [](const std::vector<std::string>& lines) {
        std::string items;
        for (const std::string& line : lines)
            items += (items.empty() ? "" : ",") + json_string(line);
        return items;
    };
    if (!result.wants.empty()) {
        out += fmt::format(R"(,"explanation":{{"wants":[{}],"remedies":[{}]}})", list(result.wants),
                           list(result.remedies));
    }
    fmt::print("{},\"result\":\"{}\"}}\n", out,
               result.kind == Kind::Success ? "success"
               : result.kind == Kind::Noop  ? "noop"
                                            : "failure");
    return 0;
}

int show(const base::Result<module::ToolResult>& result, base::LogSink& log,
         const std::string& action) {
    if (!result) return usage(action, result.error().message);
    switch (result->kind) {
        case module::ToolResult::Kind::Success:
            std::fwrite(result->text.data(), 1, result->text.size(), stdout);
            return 0;
        case module::ToolResult::Kind::Noop: log.log(Level::Notice, result->text); return 0;
        case module::ToolResult::Kind::Failure: {
            std::string text = result->text;
            if (!result->wants.empty()) text += "\n  Because";
            for (const std::string& line : result->wants) text += "\n    " + line;
            if (!result->remedies.empty()) text += "\n  What would do";
            for (const std::string& line : result->remedies) text += "\n    " + line;
            log.log(Level::Err, text);
            return 1;
        }
    }
    return 1;
}

int changes(const std::vector<std::string>& words, bool json, base::LogSink& log) {
    if (words.size() != 1) return wrong_count("changes", words.size());
    auto& fs = sys::disk();
    std::string at = sys::expand_path(words[0]);
    while (!fs.is_file(at + "/metadata.json")) {
        if (at == "/" || at.empty()) {
            return usage("changes",
                         fmt::format("Could not find a valid module at \"{}\"", words[0]));
        }
        at = sys::directory_name(at);
    }
    auto files = module::changed_files(at);
    if (!files) return usage("changes", files.error().message);
    if (json) {
        std::string out;
        for (const std::string& f : *files) {
            out += (out.empty() ? "" : ",") + codec::json_string(f);
        }
        fmt::print("[{}]\n", out);
        return 0;
    }
    if (files->empty()) {
        log.log(Level::Notice, "No modified files");
    } else {
        log.log(Level::Warning, fmt::format("{} files modified", files->size()));
    }
    // Puppet joins the lines, so it prints an empty line if there are none.
    std::string text;
    for (const std::string& f : *files) text += (text.empty() ? "" : "\n") + f;
    fmt::print("{}\n", text);
    return 0;
}

int search(const std::vector<std::string>& words, const config::Settings& settings, bool json,
           base::LogSink& log) {
    if (words.empty()) return wrong_count("search", 0);
    std::string term;
    for (const std::string& w : words) term += (term.empty() ? "" : " ") + w;
    module::ForgeClient client(forge_options(settings));
    if (!json) log.log(Level::Notice, fmt::format("Searching {} ...", client.shown_url()));
    auto found = client.search(term);
    if (!found) {
        log.log(Level::Err, sys::plain_text(found.error().message));
        return 1;
    }
    const auto quoted = [](const std::string& t) { return codec::json_string(t); };
    if (json) {
        std::string out = "[";
        for (const auto& f : *found) {
            out += fmt::format(R"({}{{"name":{},"version":{},"author":{},"summary":{},"tags":[)",
                               out.size() > 1 ? ",\n " : "", quoted(f.full_name), quoted(f.version),
                               quoted(f.author), quoted(f.summary));
            for (std::size_t i = 0; i < f.tags.size(); ++i) {
                out += (i ? "," : "") + quoted(f.tags[i]);
            }
            out += "]}";
        }
        fmt::print("{}]\n", out);
        return 0;
    }
    if (found->empty()) {
        fmt::print("No results found for '{}'.\n", term);
        return 0;
    }
    std::size_t name = 4, summary = 11, author = 6;
    for (const auto& f : *found) {
        name = std::max(name, f.full_name.size());
        summary = std::max(summary, std::min<std::size_t>(60, f.summary.size()));
        author = std::max(author, f.author.size() + 1);
    }
    fmt::print("{:<{}}  {:<{}}  {:<{}}  KEYWORDS\n", "NAME", name, "DESCRIPTION", summary, "AUTHOR",
               author);
    for (const auto& f : *found) {
        std::string tags, text = f.summary;
        for (const std::string& t : f.tags) tags += (tags.empty() ? "" : " ") + t;
        if (text.size() > 60) {
            std::size_t cut = 57;
            while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
            text = text.substr(0, cut) + "...";
        }
        fmt::print("{:<{}}  {:<{}}  {:<{}}  {}\n", f.full_name, name, text, summary, "@" + f.author,
                   author, tags);
    }
    return 0;
}

int build(const std::vector<std::string>& words, bool json, base::LogSink& log) {
    if (words.size() > 1) return wrong_count("build", words.size());
    auto& fs = sys::disk();
    std::string at = sys::expand_path(words.empty() ? "." : words[0]);
    if (words.empty()) {
        std::string up = at;
        while (!fs.is_file(up + "/metadata.json") && up != "/") up = sys::directory_name(up);
        if (up != "/") at = up;
    }
    log.log(Level::Notice, fmt::format("Building {} for release", at));
    auto path = module::build_module(at);
    if (!path) {
        log.log(Level::Err, sys::plain_text(path.error().message));
        return 1;
    }
    if (json) {
        fmt::print("{}\n", codec::json_string(*path));
    } else {
        fmt::print("Module built: {}\n", *path);
    }
    return 0;
}

int init(const std::vector<std::string>& words, const std::string& action, base::LogSink& log) {
    if (words.size() != 1) return wrong_count(action, words.size());
    const std::string here = sys::expand_path(".");
    auto made = module::init_module(words[0], here);
    if (!made) return usage(action, made.error().message);
    log.log(Level::Notice, fmt::format("Generating module at {}/{}...", here, (*made)[0]));
    fmt::print("Finished; module generated in {}.\n", (*made)[0]);
    for (std::size_t i = 1; i < made->size(); ++i) fmt::print("{}\n", (*made)[i]);
    return 0;
}

int sync(const Options& o, const config::Settings& settings, base::LogSink& log) {
    sys::RealSystem real;
    module::PuppetfileOptions p;
    p.puppetfile = sys::expand_path(o.puppetfile);
    p.moduledir = o.moduledir;
    p.forge = forge_options(settings);
    p.cache = settings.text("module_working_dir");
    p.fixed_forge = settings.is_set("module_repository");
    p.update = o.update;
    p.lock = o.frozen   ? module::LockUse::Frozen
             : o.locked ? module::LockUse::Keep
                        : module::LockUse::Follow;
    p.purge = o.purge;
    p.force = o.force;
    if (!o.parallel.empty()) p.parallel = std::clamp(std::atoi(o.parallel.c_str()), 1, 32);
    sys::catch_stop_signals();
    p.stopped = [] { return sys::stop_signal() != 0; };
    auto done = module::sync_puppetfile(p, real.system(), log);
    if (!done) {
        log.log(Level::Err, sys::plain_text(done.error().message));
        return 1;
    }
    if (o.json || o.render_as == "json") {
        fmt::print(R"({{"installed":{},"unchanged":{},"skipped":{},"removed":{},"failed":{}}})"
                   "\n",
                   done->installed, done->kept, done->skipped, done->removed, done->failed);
        return done->failed == 0 ? 0 : 1;
    }
    const std::string skipped = done->skipped ? fmt::format("{} skipped, ", done->skipped) : "";
    fmt::print("{} installed, {} unchanged, {}{} removed, {} failed\n", done->installed, done->kept,
               skipped, done->removed, done->failed);
    return done->failed == 0 ? 0 : 1;
}

void add_options(OptionParser& options, const std::vector<std::string>& args, Options& o) {
    options.value("modulepath", &o.modulepath);
    options.value("target-dir", &o.target_dir);
    options.value("i", &o.target_dir);
    options.value("version", &o.version);
    // For install, -v is the version; for other actions, it is verbose, as in Puppet.
    const bool installing = std::find(args.begin(), args.end(), "install") != args.end();
    if (installing) options.value("v", &o.version);
    options.flag("force", &o.force);
    options.flag("f", &o.force);
    options.flag("ignore-dependencies", &o.ignore_dependencies);
    options.flag("ignore-changes", &o.ignore_changes);
    options.flag("c", &o.ignore_changes);
    options.flag("tree", &o.tree);
    options.value("puppetfile", &o.puppetfile);
    options.value("moduledir", &o.moduledir);
    options.flag("update", &o.update);
    options.flag("frozen", &o.frozen);
    options.flag("locked", &o.locked);
    options.flag("purge", &o.purge);
    options.value("parallel", &o.parallel);
    options.flag("json", &o.json);
    options.value("render-as", &o.render_as);
    options.flag("skip-interview", &o.skip_interview);
}

module::ToolOptions tool_options(const Options& o, const config::Settings& settings,
                                 const std::string& color) {
    module::ToolOptions t;
    t.forge = forge_options(settings);
    t.modulepath = modulepath_of(o, settings);
    if (!o.target_dir.empty()) {
        t.modulepath.insert(t.modulepath.begin(), sys::expand_path(o.target_dir));
    }
    if (!t.modulepath.empty()) t.target_dir = t.modulepath[0];
    t.version = o.version;
    t.force = o.force;
    t.ignore_dependencies = o.ignore_dependencies;
    t.ignore_changes = o.ignore_changes;
    t.color = color.empty() ? sys::has_colors(STDOUT_FILENO) : color != "false" && color != "no";
    if (!o.parallel.empty()) t.parallel = std::clamp(std::atoi(o.parallel.c_str()), 1, 32);
    t.level = settings.compatibility();
    return t;
}

int run_module(Invocation& invocation) {
    Options o;
    OptionParser options(invocation);
    add_options(options, invocation.args, o);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    if (words.empty()) {
        fmt::print(stderr, "Error: 'module' has no default action.  See `puppet help module`.\n");
        return 1;
    }
    const std::string action = words[0];
    words.erase(words.begin());
    auto log = make_console_sink(options, Streams::Puppet);
    const config::Settings& settings = invocation.settings;

    module::ToolOptions t = tool_options(o, settings, options.color);
    const bool as_json = o.render_as == "json" || o.json;
    if (!o.render_as.empty() && o.render_as != "console" && o.render_as != "json") {
        return usage(action, fmt::format("I don't know how to render '{}'", o.render_as));
    }
    t.explain = as_json || options.explain_errors || ::isatty(STDERR_FILENO) == 1;
    if (action == "install" || action == "upgrade" || action == "uninstall") {
        if (words.size() != 1) return wrong_count(action, words.size());
        if (t.target_dir.empty()) return usage(action, "there is no modulepath");
        auto result = action == "install"   ? module::install_module(words[0], t, *log)
                      : action == "upgrade" ? module::upgrade_module(words[0], t, *log)
                                            : module::uninstall_module(words[0], t, *log);
        if (result && as_json) return show_json(*result, action, words[0], o.version);
        return show(result, *log, action);
    }
    if (action == "list") {
        if (!words.empty()) return wrong_count(action, words.size(), 0);
        auto text = as_json ? module::list_modules_as_json(t, settings.text("environment"), *log)
                            : module::list_modules(t, o.tree, *log);
        if (!text) {
            log->log(Level::Err, sys::plain_text(text.error().message));
            return 1;
        }
        if (text->empty()) *text = "\n";
        std::fwrite(text->data(), 1, text->size(), stdout);
        return 0;
    }
    if (action == "changes") return changes(words, as_json, *log);
    if (action == "search") return search(words, settings, as_json, *log);
    if (action == "build") return build(words, as_json, *log);
    if (action == "init" || action == "generate") return init(words, action, *log);
    if (action == "sync") {
        sys::ProgressLog progress(*log);
        return sync(o, settings, progress);
    }
    fmt::print(stderr, "Error: 'module' has no '{}' action.  See `puppet help module`.\n", action);
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(module){
    .name = "module",
    .summary = "Creates, installs and searches for modules on the Puppet Forge.",
    .run = run_module};

}  // namespace bunraku::cli
