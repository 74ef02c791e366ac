"""What goes wrong, with the texts and exit codes of the command (docs/errors.md)."""


class Error(Exception):
    """Of Tessera."""


class CompileError(Error):
    """The program has mistakes; the text is what `tessera build` prints."""

    def __init__(self, text, exit_code):
        super().__init__(text)
        self.exit_code = exit_code


class RunError(Error):
    """The run failed; the text is what `tessera run` would print."""

    def __init__(self, text, exit_code):
        super().__init__(text.rstrip('\n'))
        self.exit_code = exit_code


class CompileWarning(UserWarning):
    """What `tessera build` warns of."""
