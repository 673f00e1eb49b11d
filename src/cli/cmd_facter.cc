// SPDX-License-Identifier: Apache-2.0
// `facter`: the command line of Facter 4, with the same output, messages and exit codes.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/facter.h"
#include "compile/site/fact_sources.h"
#include "core/sys/system.h"
#include "resources/facts/facts.h"
#include "resources/facts/format.h"

namespace bunraku::cli {

namespace {

using base::Level;

struct FacterOption {
    std::string_view name;
    char letter;
    bool takes_value;
    std::string_view doc;
};
constexpr FacterOption kFacterOptions[] = {
    {"color", 0, false, "Write messages in colours (the default)."},
    {"no-color", 0, false, "Write messages without colours."},
    {"config", 'c', true, "The configuration file to read in place of the usual one."},
    {"custom-dir", 0, true, "A folder of custom facts; may be given again."},
    {"debug", 'd', false, "Write debugging messages."},
    {"external-dir", 0, true, "A folder of external facts; may be given again."},
    {"hocon", 0, false, "Print HOCON."},
    {"json", 'j', false, "Print JSON."},
    {"log-level", 'l', true, "Which messages: none, trace, debug, info, warn, error or fatal."},
    {"no-block", 0, false, "Block no facts."},
    {"no-cache", 0, false, "Do not read or write cached facts."},
    {"no-custom-facts", 0, false, "No custom facts."},
    {"no-external-facts", 0, false, "No external facts."},
    {"no-ruby", 0, false, "Nothing that needs Ruby: no custom facts, no facts about Ruby."},
    {"trace", 0, false, "Backtraces of custom facts that fail."},
    {"verbose", 0, false, "Write informational messages."},
    {"show-legacy", 0, false, "The flat facts of old as well."},
    {"yaml", 'y', false, "Print YAML."},
    {"strict", 0, false, "Fail if a requested fact does not exist."},
    {"timing", 't', false, "Print how long each fact took."},
    {"sequential", 0, false, "One fact after the other (as always)."},
    {"http-debug", 0, false, "Accepted, but has no effect."},
    {"puppet", 'p', false, "Puppet's own facts and those of its modules as well."},
    {"version", 'v', false, "Print the version."},
    {"list-block-groups", 0, false, "List the groups that can be blocked."},
    {"list-cache-groups", 0, false, "List the groups that can be cached."},
    {"help", 'h', false, "This overview."},
};

std::string facter_usage() {
    std::string out =
        "Usage\n=====\n\nfacter [options] [query] [query] [...]\n\nOptions\n=======\n";
    for (const FacterOption& o : kFacterOptions) {
        const std::string letter = o.letter ? fmt::format("-{}", o.letter) : std::string();
        out += fmt::format("{:>10} {:<30} {}\n", letter, fmt::format("[--{}]", o.name), o.doc);
    }
    return out;
}

/// "[2026-01-02 03:04:05.123456 ] WARN Facter - text "
class FacterSink final : public base::LogSink {
public:
    using LogSink::log;
    Level level = Level::Warning;
    bool silent = false, color = true;
    bool failed = false;

    bool enabled(Level l) const override {
        // Errors count even if they are not displayed.
        return l >= Level::Err || (!silent && rank(l) >= rank(level));
    }
    void log(const base::Diagnostic& d) override { write(d, color); }
    void write(const base::Diagnostic& d, bool colored) {
        if (d.level >= Level::Err) failed = true;
        if (silent || rank(d.level) < rank(level)) return;
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
        const std::time_t seconds = micros / 1'000'000;
        std::tm local{};
        ::localtime_r(&seconds, &local);
        const auto [name, paint] = style(d.level);
        fmt::print(stderr, "[{:%Y-%m-%d %H:%M:%S}.{:06} ] {} {} - {}{}{} \n", local,
                   micros % 1'000'000, name, d.source == "Puppet" ? "Facter" : d.source,
                   colored ? paint : "", d.message, colored ? "\033[0m" : "");
        std::fflush(stderr);
    }
    /// Logs an error, always in red.
    void error(std::string_view source, std::string message) {
        write({.level = Level::Err, .message = std::move(message), .source = std::string(source)},
              true);
    }

private:
    static int rank(Level l) { return static_cast<int>(std::min(l, Level::Crit)); }
    static std::pair<std::string_view, std::string_view> style(Level l) {
        if (l == Level::Debug) return {"DEBUG", "\033[36m"};
        if (l <= Level::Notice) return {"INFO", "\033[32m"};
        if (l == Level::Warning) return {"WARN", "\033[33m"};
        return {"ERROR", "\033[31m"};
    }
};

struct FacterArguments {
    std::vector<std::string> queries, custom_directories, external_directories;
    std::vector<std::string> flags;  ///< names as given on the command line
    std::string config, log_level;
    bool has(std::string_view name) const { return std::ranges::find(flags, name) != flags.end(); }
};

/// Prints the error, then the usage to standard output. Returns the exit code.
int refuse_facter(FacterSink& sink, const std::string& message) {
    sink.error("Facter::OptionsValidator", message);
    const std::string usage = facter_usage();
    std::fwrite(usage.data(), 1, usage.size(), stdout);
    return 1;
}

/// Returns an error for options that exclude each other, in the spelling of the user.
std::optional<std::string> conflict_of(const std::vector<std::string>& args) {
    struct Pair {
        std::string_view one, other;
    };
    static constexpr Pair kTwice[] = {{"-j", "--json"},  {"-y", "--yaml"},    {"-p", "--puppet"},
                                      {"-h", "--help"},  {"-v", "--version"}, {"-l", "--log-level"},
                                      {"-d", "--debug"}, {"-c", "--config"}};
    static constexpr Pair kAgainst[] = {{"--color", "--no-color"},
                                        {"--json", "--no-json"},
                                        {"--json", "-y"},
                                        {"--json", "--yaml"},
                                        {"--json", "--hocon"},
                                        {"--yaml", "--no-yaml"},
                                        {"--yaml", "-j"},
                                        {"--yaml", "--hocon"},
                                        {"--hocon", "--no-hocon"},
                                        {"-j", "--no-json"},
                                        {"-j", "--hocon"},
                                        {"-y", "--no-yaml"},
                                        {"-y", "-j"},
                                        {"-y", "--hocon"},
                                        {"--puppet", "--no-puppet"},
                                        {"--puppet", "--no-ruby"},
                                        {"--puppet", "--no-custom-facts"},
                                        {"-p", "--no-puppet"},
                                        {"-p", "--no-ruby"},
                                        {"-p", "--no-custom-facts"},
                                        {"--no-external-facts", "--external-dir"},
                                        {"--custom-dir", "--no-custom-facts"},
                                        {"--custom-dir", "--no-ruby"}};
    const auto given = [&](std::string_view name) {
        return std::ranges::find(args, name) != args.end();
    };
    for (const auto& [one, other] : kTwice)
        if (given(one) && given(other))
            return fmt::format("option {} cannot be specified more than once.", other);
    for (const auto& [one, other] : kAgainst)
        if (given(one) && given(other))
            return fmt::format("{} and {} options conflict: please specify only one.", one, other);
    return std::nullopt;
}

/// Parses the arguments. The error is the name of an unknown option.
base::Result<FacterArguments> parse_facter(const std::vector<std::string>& args) {
    FacterArguments out;
    const auto unknown = [](std::string_view option) { return base::failure(std::string(option)); };
    const auto put = [&](std::string_view name, const std::string& value) {
        if (name == "custom-dir") out.custom_directories.push_back(value);
        if (name == "external-dir") out.external_directories.push_back(value);
        if (name == "config") out.config = value;
        if (name == "log-level") out.log_level = value;
        out.flags.emplace_back(name);
    };
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        if (arg == "--") {
            out.queries.insert(out.queries.end(), args.begin() + static_cast<long>(i) + 1,
                               args.end());
            break;
        }
        if (arg.starts_with("--")) {
            const auto eq = arg.find('=');
            std::string name(arg.substr(2, eq == arg.npos ? arg.npos : eq - 2));
            std::ranges::replace(name, '_', '-');
            const auto spec = std::ranges::find(kFacterOptions, name, &FacterOption::name);
            // --no-json and similar options have no effect, because they are the defaults.
            const bool negated = spec == std::end(kFacterOptions) && name.starts_with("no-");
            if (negated) {
                const auto plain = std::ranges::find(
                    kFacterOptions, std::string_view(name).substr(3), &FacterOption::name);
                if (plain == std::end(kFacterOptions) || plain->takes_value) return unknown(arg);
                continue;
            }
            if (spec == std::end(kFacterOptions)) return unknown(arg.substr(0, eq));
            if (!spec->takes_value) {
                put(spec->name, {});
            } else if (eq != arg.npos) {
                put(spec->name, std::string(arg.substr(eq + 1)));
            } else if (i + 1 < args.size()) {
                put(spec->name, args[++i]);
            }
        } else if (arg.size() > 1 && arg[0] == '-') {
            for (std::size_t at = 1; at < arg.size(); ++at) {
                const auto spec = std::ranges::find(kFacterOptions, arg[at], &FacterOption::letter);
                if (spec == std::end(kFacterOptions)) return unknown(arg);
                if (!spec->takes_value) {
                    put(spec->name, {});
                    continue;
                }
                std::string_view rest = arg.substr(at + 1);
                if (rest.starts_with('=')) rest.remove_prefix(1);
                if (!rest.empty()) {
                    put(spec->name, std::string(rest));
                } else if (i + 1 < args.size()) {
                    put(spec->name, args[++i]);
                }
                break;
            }
        } else {
            out.queries.emplace_back(arg);
        }
    }
    return out;
}

/// Sets the log level. Returns false if the level is unknown.
bool set_level(FacterSink& sink, std::string_view name) {
    static constexpr std::pair<std::string_view, Level> kLevels[] = {
        {"trace", Level::Debug},  {"debug", Level::Debug}, {"info", Level::Info},
        {"warn", Level::Warning}, {"error", Level::Err},   {"fatal", Level::Crit}};
    if (name == "none") {
        sink.silent = true;
        return true;
    }
    for (const auto& [level_name, level] : kLevels) {
        if (level_name != name) continue;
        sink.level = level;
        return true;
    }
    return false;
}

/// Adds Puppet's settings for --puppet. Returns false if puppet.conf cannot be read.
bool add_puppet(facts::Options& wanted) {
    auto settings = load_settings({}, "user");
    if (!settings) return false;
    wanted.puppet = true;
    wanted.level = settings->compatibility();
    wanted.custom_directories.push_back(settings->text("libdir") + "/facter");
    site::add_fact_folders(*settings, nullptr, wanted);
    return true;
}

/// Runs one of the commands that are recognized at any position. Returns false if there is none.
bool run_facter_task(const FacterArguments& given) {
    const auto task = [&](std::string_view name) {
        return given.has(name) || std::ranges::find(given.queries, name) != given.queries.end();
    };
    if (task("help")) {
        fmt::print("{}", facter_usage());
    } else if (task("man")) {
        fmt::print("{}", command_help("facter"));
    } else if (task("version")) {
        fmt::print("{}\n", facts::kFacterVersion);
    } else {
        return false;
    }
    return true;
}

/// Sets the log level from the options and facter.conf. Returns an error message if they conflict.
std::optional<std::string> set_levels(FacterSink& sink, const FacterArguments& given,
                                      const facts::FacterConf& conf) {
    const bool debug = given.has("debug") || conf.debug.value_or(false);
    const bool verbose = given.has("verbose") || conf.verbose.value_or(false);
    const std::string level = given.has("log-level") ? given.log_level : conf.log_level;
    if (verbose) sink.level = Level::Info;
    if (debug) sink.level = Level::Debug;
    if (!level.empty() && !set_level(sink, level))
        return fmt::format("invalid log level '{}'", level);
    if ((debug && !level.empty() && level != "debug" && level != "trace") ||
        (verbose && !debug && !level.empty() && level != "info"))
        return "debug, verbose, and log-level options conflict: please specify only one.";
    return std::nullopt;
}

/// Sets where the facts come from. Returns an error message if two options conflict.
std::optional<std::string> set_sources(facts::Options& wanted, const FacterArguments& given,
                                       sys::System& system) {
    const facts::FacterConf& conf = wanted.conf;
    const bool no_ruby = given.has("no-ruby") || conf.no_ruby.value_or(false);
    const bool no_custom =
        no_ruby || given.has("no-custom-facts") || conf.no_custom_facts.value_or(false);
    const bool no_external =
        given.has("no-external-facts") || conf.no_external_facts.value_or(false);
    const bool puppet = given.has("puppet");
    const auto& custom =
        given.custom_directories.empty() ? conf.custom_directories : given.custom_directories;
    const auto& external =
        given.external_directories.empty() ? conf.external_directories : given.external_directories;
    const std::array conflicts = {
        std::tuple("no-ruby", "custom-dir", no_ruby && !custom.empty()),
        std::tuple("no-external-facts", "external-dir", no_external && !external.empty()),
        std::tuple("no-custom-facts", "custom-dir", no_custom && !custom.empty()),
        std::tuple("no-ruby", "puppet", no_ruby && puppet),
        std::tuple("no-custom-facts", "puppet", no_custom && puppet)};
    for (const auto& [one, other, both] : conflicts)
        if (both)
            return fmt::format("{} and {} options conflict: please specify only one", one, other);
    if (no_ruby) wanted.conf.blocklist.emplace_back("ruby");
    if (!no_external)
        wanted.external_directories =
            external.empty() ? facts::default_external_directories(system.users.is_root())
                             : external;
    if (!no_custom) {
        wanted.custom_directories = facts::ruby_fact_directories(system);
        for (auto& dir : facts::facterlib_directories())
            wanted.custom_directories.push_back(std::move(dir));
        wanted.custom_directories.insert(wanted.custom_directories.end(), custom.begin(),
                                         custom.end());
    }
    return std::nullopt;
}

void set_options(facts::Options& wanted, const FacterArguments& given) {
    const facts::FacterConf& conf = wanted.conf;
    wanted.trace = given.has("trace") || conf.trace.value_or(false);
    wanted.cache = !given.has("no-cache");
    wanted.block = !given.has("no-block");
    wanted.legacy = given.has("show-legacy") || conf.show_legacy.value_or(false);
    wanted.custom_dots = conf.force_dot_resolution.value_or(false);
    wanted.time_limit = conf.fact_timeout.value_or(wanted.time_limit);
    wanted.environment = facts::environment_facts();
    if (given.has("timing"))
        wanted.timing = [](const std::string& what, double seconds) {
            fmt::print("{}, took: ({:.6f}) seconds\n", what, seconds);
        };
}

/// Resolves and prints the facts. Returns the exit code.
int print_facts(const std::vector<std::string>& args, const FacterArguments& given,
                facts::Options& wanted, sys::System& system, FacterSink& sink) {
    base::Arena arena(128 * 1024);
    sink.log({.level = Level::Info,
              .message = fmt::format("executed with command line: {}", fmt::join(args, " ")),
              .source = "Facter"});
    sink.log({.level = Level::Debug,
              .message = fmt::format("Facter version: {}", facts::kFacterVersion),
              .source = "Facter"});
    const auto found = facts::resolve(arena, system, wanted, given.queries);
    int status = 0;
    if (given.has("strict")) {
        for (const facts::Resolved& fact : found) {
            if (fact.origin != facts::Origin::None) continue;
            sink.error("Facter", fmt::format("fact \"{}\" does not exist.", fact.query));
            status = 1;
        }
    }
    const auto format = given.has("json")    ? facts::Format::Json
                        : given.has("yaml")  ? facts::Format::Yaml
                        : given.has("hocon") ? facts::Format::Hocon
                                             : facts::Format::Facter;
    std::string text = facts::format_facts(arena, found, given.queries, format, wanted);
    if (!text.ends_with('\n')) text += '\n';
    std::fwrite(text.data(), 1, text.size(), stdout);
    return sink.failed ? 1 : status;
}

}  // namespace

int run_facter(const std::vector<std::string>& args) {
    FacterSink sink;
    if (auto conflict = conflict_of(args)) return refuse_facter(sink, *conflict);
    const auto parsed = parse_facter(args);
    if (!parsed)
        return refuse_facter(sink, fmt::format("unrecognised option '{}'", parsed.error().message));
    const FacterArguments& given = *parsed;
    if (run_facter_task(given)) return 0;

    sys::RealSystem real;
    facts::Options wanted;
    wanted.log = &sink;
    wanted.puppet = false;
    wanted.level = config::Compatibility::Puppet8;  // this command is that of Facter 4.11
    sink.color = !given.has("no-color");
    const std::string config = given.config.empty() ? facts::kFacterConfPath : given.config;
    wanted.conf = facts::read_facter_conf(real.system().files, config, &sink);
    if (auto conflict = set_levels(sink, given, wanted.conf)) return refuse_facter(sink, *conflict);
    wanted.debug = sink.enabled(Level::Debug);
    if (auto conflict = set_sources(wanted, given, real.system()))
        return refuse_facter(sink, *conflict);
    if (given.has("list-block-groups") || given.has("list-cache-groups")) {
        const facts::FactGroups groups(wanted.conf, real.system().files,
                                       wanted.external_directories, &sink);
        fmt::print("{}", groups.list());
        return 0;
    }
    set_options(wanted, given);
    if (given.has("puppet") && !add_puppet(wanted)) return 1;
    return print_facts(args, given, wanted, real.system(), sink);
}

BUNRAKU_COMMAND(facter){.name = "facter",
                        .summary = "Facts as Facter prints them, with its options.",
                        .run = [](Invocation& invocation) { return run_facter(invocation.args); }};

}  // namespace bunraku::cli
