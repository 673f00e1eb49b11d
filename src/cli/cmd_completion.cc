// SPDX-License-Identifier: Apache-2.0
// `completion`: prints completion scripts for shells. The scripts call the program at each key
// press, so that environments, nodes, types, settings and facts are current.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/usage.h"

namespace bunraku::cli {

namespace {

// bash splits words at "=" and ":", and cannot show descriptions.
constexpr std::string_view kBash = R"(# bash completion of bunraku
_bunraku()
{
    local cur words cword
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref -n =: cur words cword
    else
        cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    fi
    local program=${words[0]} line files=
    # As facter the program knows no commands.
    [ "${program##*/}" != facter ] ||
        words=(facter facter "${words[@]:1}") cword=$((cword + 1)) program=${program%facter}bunraku
    COMPREPLY=()
    while IFS= read -r line; do
        if [ "$line" = : ]; then files=1; else COMPREPLY+=("${line%%$'\t'*}"); fi
    done < <("$program" completion --words -- "${words[@]:1:cword}" 2>/dev/null)
    [ -z "$files" ] || compopt -o default 2>/dev/null
    # Words that end so are not finished.
    [ "${#COMPREPLY[@]}" != 1 ] || case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
    if declare -F __ltrim_colon_completions >/dev/null; then
        __ltrim_colon_completions "$cur"
    fi
    if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*=}"}"}")
    fi
    return 0
}
complete -F _bunraku bunraku puppet facter
)";

constexpr std::string_view kZsh = R"(#compdef bunraku puppet facter
# zsh completion of bunraku
_bunraku()
{
    local program=$words[1] line word files=
    local -a asked found
    asked=("${(@)words[2,CURRENT]}")
    [[ ${program:t} != facter ]] || asked=(facter "${asked[@]}") program=${program%facter}bunraku
    while IFS= read -r line; do
        if [[ $line == : ]]; then
            files=1
        else
            word=${line%%$'\t'*}
            word=${word//:/\\:}
            if [[ $line == *$'\t'?* ]]; then
                found+=("$word:${line#*$'\t'}")
            else
                found+=("$word")
            fi
        fi
    done < <("$program" completion --words -- "${asked[@]}" 2>/dev/null)
    (( ${#found} == 0 )) || _describe -V 'bunraku' found
    [[ -z $files ]] || _files
}
if [ "$funcstack[1]" = "_bunraku" ]; then
    _bunraku "$@"
else
    compdef _bunraku bunraku puppet facter
fi
)";

constexpr std::string_view kFish = R"(# fish completion of bunraku
function __bunraku_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -l asked $words[2..-1]
    if test (basename -- $program) = facter
        set asked facter $asked
        set program (string replace -r 'facter$' bunraku -- $program)
    end
    set -l typed (commandline -ct)
    for line in ($program completion --words -- $asked 2>/dev/null)
        if test "$line" = :
            __fish_complete_path $typed
        else
            echo $line
        end
    end
end
complete -c bunraku -f -a '(__bunraku_complete)'
complete -c puppet -f -a '(__bunraku_complete)'
complete -c facter -f -a '(__bunraku_complete)'
)";

void print_words(const config::Settings& settings, const std::vector<std::string>& words) {
    const Candidates found = complete(settings, words);
    std::string out;
    for (const auto& c : found.words) {
        // A name that contains a tab or line break cannot be completed in this format.
        if (c.word.find_first_of("\n\t") != std::string::npos) continue;
        out += c.word;
        if (!c.text.empty()) out += '\t' + c.text;
        out += '\n';
    }
    if (found.files) out += ":\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
}

int run_completion(Invocation& invocation) {
    OptionParser options(invocation);
    bool words = false;
    std::vector<std::string> positional;
    options.flag("words", &words);
    if (!options.parse(&positional)) return options.exit_code();
    if (words) {
        print_words(invocation.settings, positional);
        return 0;
    }
    if (positional.size() == 1) {
        const std::string& shell = positional[0];
        if (shell == "bash" || shell == "zsh" || shell == "fish") {
            const auto text = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        }
        fmt::print(stderr, "Error: There is no completion for '{}': bash, zsh or fish\n", shell);
        return 1;
    }
    fmt::print(stderr, "Error: usage: {} completion (bash | zsh | fish)\n{}\n", invocation.program,
               usage_hint("completion", invocation.program));
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(completion){.name = "completion",
                            .summary = "Print a completion script for bash, zsh or fish.",
                            .run = run_completion};

}  // namespace bunraku::cli
