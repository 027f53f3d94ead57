// SPDX-License-Identifier: Apache-2.0
// Completion scripts, out of the command table alone: they hold lists of words and ask nobody.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "ctl/command_line.hpp"

namespace planed::ctl {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
    std::string text;
    for (const std::string_view word : words) {
        text += text.empty() ? std::string(word) : fmt::format(" {}", word);
    }
    return text;
}

std::vector<std::string_view> verb_words() {
    std::vector<std::string_view> words;
    for (const Verb& verb : verbs()) {
        if (std::find(words.begin(), words.end(), verb.word) == words.end()) {
            words.push_back(verb.word);
        }
    }
    return words;
}

std::vector<std::string_view> subs_of(std::string_view word) {
    std::vector<std::string_view> words;
    for (const Verb& verb : verbs()) {
        if (verb.word == word && !verb.sub.empty()) {
            words.push_back(verb.sub);
        }
    }
    return words;
}

std::vector<std::string_view> option_names(std::string_view word) {
    std::vector<std::string_view> names;
    for (const Option& option : global_options()) {
        names.push_back(option.name);
    }
    for (const Verb& verb : verbs()) {
        if (verb.word == word) {
            for (const Option& option : verb.options) {
                names.push_back(option.name);
            }
        }
    }
    return names;
}

// What bash runs for a word of this kind.
std::string bash_reply(Kind kind) {
    switch (kind) {
        case Kind::File: return R"sh(COMPREPLY=($(compgen -f -- "$cur")))sh";
        case Kind::Interface:
            return R"sh(COMPREPLY=($(compgen -W "$(ls /sys/class/net 2>/dev/null)" -- "$cur")))sh";
        case Kind::Level:
        case Kind::Shell:
        case Kind::WatchKind:
        case Kind::Output:
        case Kind::When:
        case Kind::RouteType:
            return fmt::format(R"sh(COMPREPLY=($(compgen -W "{}" -- "$cur")))sh",
                               joined(words_of(kind)));
        case Kind::Text:
        case Kind::Address: break;
    }
    return "COMPREPLY=()";
}

// Calls visit(option) for each option that takes a value, once for each name.
template <class Visit>
void for_each_valued_option(Visit visit) {
    std::set<std::string_view> seen;
    const auto look_at = [&](const Option& option) {
        if (!option.value.empty() && seen.insert(option.name).second) {
            visit(option);
        }
    };
    for (const Option& option : global_options()) {
        look_at(option);
    }
    for (const Verb& verb : verbs()) {
        for (const Option& option : verb.options) {
            look_at(option);
        }
    }
}

std::string bash_options() {
    std::string text;
    for_each_valued_option([&](const Option& option) {
        const std::string_view also = option.name == "--output" ? "|-o" : "";
        text += fmt::format(
            "        {}{}) {}; return ;;\n", option.name, also, bash_reply(option.kind));
    });
    return text;
}

std::string options_with_values() {
    std::string text = "-o";
    for_each_valued_option([&](const Option& option) { text += fmt::format("|{}", option.name); });
    return text;
}

std::string bash_script() {
    std::string text =
        "# bash completion for planectl: planectl completion bash\n"
        "_planectl() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= sub= i "
        "word\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        word=${COMP_WORDS[i]}\n"
        "        case $word in\n";
    text += fmt::format("        {}) ((i++)) ;;\n", options_with_values());
    text +=
        "        -*) ;;\n"
        "        *) if [[ -z $verb ]]; then verb=$word; elif [[ -z $sub ]]; then sub=$word; fi ;;\n"
        "        esac\n"
        "    done\n"
        "    case $prev in\n" +
        bash_options() + "    esac\n    case $verb in\n";
    text += fmt::format(
        "    '') if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"));\n"
        "        else COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); fi ;;\n",
        joined(option_names("")),
        joined(verb_words()));
    for (const std::string_view word : verb_words()) {
        text += fmt::format(
            "    {}) if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"));\n",
            word,
            joined(option_names(word)));
        if (const auto subs = subs_of(word); !subs.empty()) {
            text += fmt::format(
                "        elif [[ -z $sub ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"));\n"
                "        else COMPREPLY=($(compgen -f -- \"$cur\")); fi ;;\n",
                joined(subs));
        } else if (word == "help") {
            text +=
                fmt::format("        else COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); fi ;;\n",
                            joined(verb_words()));
        } else {
            const auto verb = std::find_if(verbs().begin(), verbs().end(), [&](const Verb& known) {
                return known.word == word;
            });
            text += fmt::format("        else {}; fi ;;\n", bash_reply(verb->kind));
        }
    }
    return text + "    esac\n}\ncomplete -F _planectl planectl\n";
}

// zsh runs the same function, by its own emulation of bash's completion.
std::string zsh_script() {
    return "#compdef planectl\n# zsh completion for planectl: planectl completion zsh\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           bash_script();
}

std::string fish_words(std::string_view condition, std::string_view words, std::string_view help) {
    return fmt::format("complete -c planectl -n '{}' -a '{}' -d '{}'\n", condition, words, help);
}

std::string fish_option(const Option& option, std::string_view verb) {
    std::string text = "complete -c planectl";
    if (!verb.empty()) {
        text += fmt::format(" -n '__fish_seen_subcommand_from {}'", verb);
    }
    text += fmt::format(" -l {}", option.name.substr(2));
    text += option.name == "--output" ? " -s o" : option.name == "--help" ? " -s h" : "";
    if (!option.value.empty()) {
        text += option.kind == Kind::File ? " -r -F" : " -x";
        const std::string words =
            option.kind == Kind::Interface ? "(ls /sys/class/net)" : joined(words_of(option.kind));
        text += words.empty() ? "" : fmt::format(" -a '{}'", words);
    }
    return text + fmt::format(" -d '{}'\n", option.help);
}

std::string fish_script() {
    const std::string all = joined(verb_words());
    const std::string none_yet = fmt::format("not __fish_seen_subcommand_from {}", all);
    std::string text =
        "# fish completion for planectl: planectl completion fish\ncomplete -c planectl -f\n";
    std::set<std::string_view> told;
    for (const Verb& verb : verbs()) {
        if (told.insert(verb.word).second) {
            text +=
                fish_words(none_yet,
                           verb.word,
                           verb.sub.empty() ? verb.help : std::string_view("the configuration"));
        }
        if (!verb.sub.empty()) {
            text += fish_words(fmt::format("__fish_seen_subcommand_from {}; and not "
                                           "__fish_seen_subcommand_from {}",
                                           verb.word,
                                           joined(subs_of(verb.word))),
                               verb.sub,
                               verb.help);
        }
        if (verb.kind == Kind::File) {
            text += fmt::format("complete -c planectl -n '__fish_seen_subcommand_from {}' -F\n",
                                verb.sub.empty() ? verb.word : verb.sub);
        }
        if (const auto words = words_of(verb.kind); !words.empty()) {
            text += fish_words(fmt::format("__fish_seen_subcommand_from {}", verb.word),
                               joined(words),
                               verb.argument);
        }
        for (const Option& option : verb.options) {
            text += fish_option(option, verb.word);
        }
    }
    for (const Option& option : global_options()) {
        text += fish_option(option, "");
    }
    return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
    return shell == "fish" ? fish_script() : shell == "zsh" ? zsh_script() : bash_script();
}

}  // namespace planed::ctl
