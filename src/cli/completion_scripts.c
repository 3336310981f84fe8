// SPDX-License-Identifier: MIT
/* The completion scripts of the shells. They ask the program for the candidates by "completion
 * words": they contain no names, so they cannot be out of date, and the user's own files count. A
 * line with only a slash tells the shell to complete file names. */
#include <string.h>

#include "base/base.h"
#include "cli.h"

static const char bash_script[] =
    "# bash completion of roofline: written by roofline completion bash\n"
    "_roofline() {\n"
    "    local raw=${COMP_WORDS[COMP_CWORD]} current='' files='' line i\n"
    "    local -a words=()\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do # bash cuts at = and :\n"
    "        if [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]] && "
    "((${#words[@]} > 0)); then\n"
    "            words[${#words[@]} - 1]+=${COMP_WORDS[i]}\n"
    "        else\n"
    "            words+=(\"${COMP_WORDS[i]}\")\n"
    "        fi\n"
    "    done\n"
    "    current=${words[${#words[@]} - 1]}\n"
    "    [[ $raw != [=:] ]] || raw=''\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == / ]]; then\n"
    "            files=yes\n"
    "        else\n"
    "            line=${line%%$'\\t'*}\n"
    "            line=${line#\"${current%\"$raw\"}\"}\n"
    "            [[ $line != *[!A-Za-z0-9_./:@%+=,~-]* ]] || printf -v line %q \"$line\"\n"
    "            COMPREPLY+=(\"$line\")\n"
    "        fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" completion words \"${words[@]}\" 2> /dev/null)\n"
    "    if [[ -n $files ]]; then\n"
    "        compopt -o filenames 2> /dev/null\n"
    "        while IFS= read -r line; do\n"
    "            COMPREPLY+=(\"$line\")\n"
    "        done < <(compgen -f -- \"$raw\")\n"
    "    fi\n"
    "}\n"
    "complete -F _roofline roofline\n";

static const char zsh_script[] =
    "#compdef roofline\n"
    "# zsh completion of roofline: written by roofline completion zsh\n"
    "_roofline() {\n"
    "    local line files=\n"
    "    local -a names shown\n"
    "    for line in ${(f)\"$(${words[1]} completion words \"${(@Q)words[2,CURRENT]}\" "
    "2> /dev/null)\"}; do\n"
    "        if [[ $line == / ]]; then\n"
    "            files=yes\n"
    "        else\n"
    "            names+=(\"${line%%$'\\t'*}\")\n"
    "            shown+=(\"${line/$'\\t'/  -- }\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#names == 0 )) || compadd -l -d shown -a names\n"
    "    if [[ -n $files ]]; then\n"
    "        compset -P '--*='\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "if [[ ${funcstack[1]} == _roofline ]]; then\n"
    "    _roofline \"$@\"\n"
    "else\n"
    "    compdef _roofline roofline\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion of roofline: written by roofline completion fish\n"
    "function __roofline_words\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    set -l program $words[1]\n"
    "    set -e words[1]\n"
    "    for line in ($program completion words $words \"$current\" 2> /dev/null)\n"
    "        if test \"$line\" = /\n"
    "            set -l kept (string match -r -- '^--[^=]*=' \"$current\")\n"
    "            for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "
    "\"$current\"))\n"
    "                echo \"$kept$path\"\n"
    "            end\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c roofline -f -a '(__roofline_words)'\n";

static const struct {
    const char *shell;
    const char *script;
} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

enum roof_status cli_completion_script(const char **out, const char *shell,
                                       struct roof_error *error)
{
    const char *names[COUNT(scripts)];
    for (size_t i = 0; i < COUNT(scripts); i++) {
        names[i] = scripts[i].shell;
        if (strcmp(shell, names[i]) == 0) {
            *out = scripts[i].script;
            return ROOF_OK;
        }
    }
    return roof_unknown_name(error, ROOF_USAGE, "shell", shell, names, COUNT(names));
}
