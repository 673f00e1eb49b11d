// SPDX-License-Identifier: Apache-2.0
#include "cli/repl.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "compile/compiler/repl_session.h"
#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/line_editor.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/function/table.h"
#include "resources/facts/facts.h"

namespace bunraku::cli {

namespace {

using value::Value;

constexpr std::string_view kReplHelp =
    "Enter an expression to print its value. Variables and functions persist. Incomplete code "
    "continues\n"
    "on the next line; an empty line ends it.\n"
    "  :facts [PATH]      the node's facts, or one of them\n"
    "  :lookup KEY        the value that Hiera returns\n"
    "  :catalog           the resources declared so far\n"
    "  :vars              the variables of the top scope\n"
    "  :json              print values as JSON; :puppet prints them as Puppet code\n"
    "  :help, :quit\n"
    "Tab completes, the arrow keys show the history, ^C discards the line, ^D ends the session.\n";
constexpr std::string_view kColonWords[] = {":catalog", ":facts",  ":help", ":json",
                                            ":lookup",  ":puppet", ":quit", ":vars"};

/// Reports whether the text is only incomplete.
bool unfinished(const base::PuppetError& error) {
    const std::string text = error.message();
    return text.find("Syntax error at end of") != text.npos ||
           text.find("Unclosed quote") != text.npos ||
           text.find("Heredoc without any following lines") != text.npos ||
           text.find("Missing end marker") != text.npos || text.find("end of input") != text.npos ||
           text.find("without closing") != text.npos;
}

class Repl {
public:
    Repl(site::Session& session, const config::Settings& settings,
         compiler::ReplSession& run_session, base::LogSink& log)
        : session_(session),
          talk_(run_session),
          log_(log),
          language_(config::puppet_version(settings.compatibility())),
          history_file_(sys::join(settings.text("statedir"), "eval_history")),
          editor_(STDIN_FILENO, STDOUT_FILENO, [this](std::string_view text, std::size_t cursor) {
              return candidates(text, cursor);
          }) {}

    int run() {
        fmt::print(
            "Bunraku {}, Puppet language {}; :help lists the commands, ^D ends the session\n",
            kVersion, language_);
        std::fflush(stdout);
        load_history();
        std::string code;
        while (true) {
            const auto end = editor_.read(code.empty() ? "puppet> " : "   ...> ");
            if (end == sys::LineEditor::End::Closed) break;
            if (end == sys::LineEditor::End::Interrupted) {
                code.clear();
                continue;
            }
            const std::string& line = editor_.text();
            editor_.remember(line);
            if (code.empty() && base::trim(line).empty()) continue;
            if (code.empty() && line.starts_with(':')) {
                if (!command(base::trim(line))) break;
                continue;
            }
            const bool give_up = !code.empty() && base::trim(line).empty();
            code += line + "\n";
            if (evaluate(code, !give_up)) code.clear();
        }
        save_history();
        return 0;
    }

private:
    /// Returns false if more lines are needed.
    bool evaluate(const std::string& code, bool may_wait) {
        try {
            print(talk_.evaluate(code));
        } catch (const base::PuppetError& error) {
            if (may_wait && unfinished(error)) return false;
            report_error(log_, error, "");
        }
        std::fflush(stdout);
        return true;
    }

    void print(const Value& v) {
        std::string out;
        if (json_) {
            value::RichDataOptions rich;
            rich.references_as_strings = false;
            out = value::to_pretty_json(value::to_rich_data(*session_.arena(), v, rich));
        } else {
            value::print_source(out, v);
        }
        fmt::print("=> {}\n", out);
    }

    /// Returns false to end the session.
    bool command(std::string_view line) {
        const auto words = base::words(line);
        const std::string_view name = words[0];
        const std::string rest(base::trim(line.substr(name.size())));
        if (name == ":quit" || name == ":exit" || name == ":q") return false;
        if (name == ":help" || name == ":h" || name == ":?") {
            fmt::print("{}", kReplHelp);
        } else if (name == ":json" || name == ":puppet") {
            json_ = name == ":json";
        } else if (name == ":facts") {
            const Value found =
                rest.empty() ? session_.facts() : facts::dig(session_.facts(), rest);
            fmt::print("{}\n", found.is_undef() ? "undef" : value::to_pretty_json(found));
        } else if (name == ":lookup") {
            if (rest.empty()) {
                fmt::print("Usage: :lookup KEY\n");
            } else {
                std::string key;
                for (const char c : rest)
                    key += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
                evaluate(fmt::format("lookup('{}')", key), false);
            }
        } else if (name == ":catalog") {
            for (const auto& reference : talk_.resources()) fmt::print("{}\n", reference);
        } else if (name == ":vars") {
            for (const auto& variable : talk_.variables()) fmt::print("${}\n", variable);
        } else {
            fmt::print("Unknown command {}; :help lists the commands\n", name);
        }
        std::fflush(stdout);
        return true;
    }

    sys::LineEditor::Completion candidates(std::string_view text, std::size_t cursor) {
        text = text.substr(0, cursor);
        sys::LineEditor::Completion out;
        const auto add = [&](std::string word, std::string_view typed) {
            if (word.starts_with(typed)) out.words.push_back(std::move(word));
        };
        if (text.starts_with(":") && text.find(' ') == text.npos) {
            for (const auto name : kColonWords) add(std::string(name), text);
            return out;
        }
        out.begin = cursor;
        const bool facts = text.starts_with(":facts ");
        while (out.begin > 0) {
            const char c = text[out.begin - 1];
            if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != ':' &&
                !(facts && c == '.'))
                break;
            --out.begin;
        }
        const std::string typed(text.substr(out.begin));
        if (facts) {
            const auto dot = typed.rfind('.');
            const Value within = dot == typed.npos
                                     ? session_.facts()
                                     : facts::dig(session_.facts(), typed.substr(0, dot));
            if (within.is_hash())
                for (const auto& entry : within.as_hash())
                    if (entry.key.is_string())
                        add((dot == typed.npos ? "" : typed.substr(0, dot + 1)) +
                                std::string(entry.key.as_string()),
                            typed);
        } else if (out.begin > 0 && text[out.begin - 1] == '$') {
            for (auto& name : talk_.variables()) add(std::move(name), typed);
        } else {
            for (const auto* f : function::builtin_functions().all())
                add(std::string(f->name), typed);
        }
        std::ranges::sort(out.words);
        return out;
    }

    void load_history() {
        const auto text = sys::disk().read(history_file_);
        if (!text) return;
        for (const auto line : base::lines(*text)) editor_.remember(std::string(line));
    }
    void save_history() {
        // The history may contain secrets, so only its user may read it. Errors are ignored.
        auto& files = sys::disk();
        std::string text;
        for (const auto& line : editor_.history()) text += line + "\n";
        if (files.make_directories(std::string(sys::directory_name(history_file_)), 0750))
            (void)files.replace(history_file_, text, {.mode = 0600});
    }

    site::Session& session_;
    compiler::ReplSession& talk_;
    base::LogSink& log_;
    std::string_view language_;  ///< the version of Puppet's language
    std::string history_file_;
    sys::LineEditor editor_;
    bool json_ = false;
};

}  // namespace

int converse(site::Session& session, const config::Settings& settings, bool with_manifest,
             base::LogSink& log) {
    int code = 1;
    session.converse(with_manifest, "", [&](compiler::ReplSession& run_session) {
        code = Repl(session, settings, run_session, log).run();
    });
    return code;
}

}  // namespace bunraku::cli
