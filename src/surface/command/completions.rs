//! `duet completions`: prints completion scripts for shells.
//!
//! The parser makes a script for the commands and options. For bash, zsh and fish, the script also
//! asks `duet` for the words that the journal and the folder determine.
//! Read next: `completions/candidates.rs`.

pub(crate) mod candidates;

use clap_complete::Shell;

use super::parser;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;

/// Prints a script that makes a shell complete commands and options.
///
/// In bash, zsh and fish it completes the names of runs, branches and libraries, too, and those
/// that `duet describe`, `duet schema` and `duet help` know.
///
///   duet completions bash > ~/.local/share/bash-completion/completions/duet
///   duet completions zsh > ~/.zfunc/_duet
///   duet completions fish > ~/.config/fish/completions/duet.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut parser(), "duet", &mut script);
    let script = String::from_utf8_lossy(&script);
    terminal.data(with_names(arguments.shell, &script))?;
    Ok(ExitCode::OK)
}

/// Adds to a script the words that the parser does not know.
fn with_names(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}\n{BASH}"),
        Shell::Fish => format!("{script}\n{FISH}"),
        // zsh loads the file as the function `_duet`, which has to be the one that asks.
        Shell::Zsh => {
            let renamed = script.replacen("\n_duet() {", "\n_duet_words() {", 1);
            let end = renamed.rfind("\nif [ \"$funcstack[1]\"").unwrap_or(renamed.len());
            format!("{}\n{ZSH}{}", &renamed[..end], &renamed[end..])
        }
        Shell::Elvish | Shell::PowerShell | _ => script.to_owned(),
    }
}

const BASH: &str = r#"_duet_or_names() {
    local name names=()
    while IFS= read -r name; do
        names+=("$(printf %q "$name")")
    done < <(duet --candidates "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [ ${#names[@]} -gt 0 ]; then
        COMPREPLY=("${names[@]}")
    else
        _duet "$@"
    fi
}

complete -F _duet_or_names -o bashdefault -o default duet
"#;

const ZSH: &str = r#"_duet() {
    local -a names
    names=(${(f)"$(duet --candidates "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#names )); then
        compadd -- "${names[@]}"
    else
        _duet_words "$@"
    fi
}
"#;

const FISH: &str = r#"function __duet_names
    set -l words (commandline -opc) (commandline -ct)
    duet --candidates $words[2..] 2>/dev/null
end
complete -c duet -a "(__duet_names)"
"#;
