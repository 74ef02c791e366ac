#!/bin/bash
# manual.sh TESSERA FOLDER: makes the manual pages tessera.1, tessera-run.1, ... from what `tessera --help` and `tessera COMMAND --help` print.
set -euo pipefail
[[ $# == 2 ]] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
tessera=$1 folder=$2
version=$("$tessera" --version)
mkdir -p "$folder"

# page NAME SUMMARY: the help on stdin as a manual page.
page() {
  awk -v name="$1" -v summary="$2" -v version="$version" '
    function text(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s ~ /^[.\x27]/ ? "\\&" s : s }
    function verbatim(on) { if (on != shown) print on ? ".nf" : ".fi"; shown = on }
    BEGIN {
      printf ".TH %s 1 \"\" \"%s\" \"Tessera\"\n.SH NAME\n%s \\- %s\n", toupper(name), version, name, text(summary)
      about = 1
    }
    /^Usage: / {
      print ".SH SYNOPSIS"
      sub(/^Usage: /, ""); at = match($0, / [^a-z]/); print ".B " text(substr($0, 1, at - 1)) "\n" text(substr($0, at + 1))
      if (described != "") print ".SH DESCRIPTION\n" described
      about = 0; next
    }
    about { described = described text($0) "\n"; next }
    /^[A-Z][A-Za-z ]*:$/ { verbatim(0); sub(/:$/, ""); print ".SH " toupper($0); examples = /^EXAMPLES|^Examples/; next }
    examples && /^  / { verbatim(1); print text($0); next }
    /^  [^ ]/ && !examples {  # an option, or a command: two blanks or more stand before what it does
      verbatim(0); line = substr($0, 3)
      if (match(line, /   *[^ ].*$/)) { print ".TP\n.B " text(substr(line, 1, RSTART - 1)) "\n" text(substr(line, RSTART + gap(line))) }
      else print ".TP\n.B " text(line)
      next
    }
    /^ +[^ ]/ && !examples { sub(/^ +/, ""); print text($0); next }
    /^$/ { if (!examples) { verbatim(0); print ".PP" } else if (shown) { verbatim(0); print ".PP"; examples = 0 } ; next }
    { verbatim(0); print text($0) }
    END { verbatim(0); print ".SH SEE ALSO\nThe documentation is in /usr/share/doc/tessera or beside this installation, share/doc/tessera." }
    function gap(line,  rest) { rest = substr(line, RSTART); match(rest, /[^ ]/); return RSTART - 1 }
  '
}

"$tessera" --help | page tessera "runs fragmented programs" >"$folder/tessera.1"
"$tessera" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\)  *\(.*\)/\1 \2/p' | while read -r command summary; do
  "$tessera" "$command" --help </dev/null | page "tessera-$command" "$summary" >"$folder/tessera-$command.1"
done
