"""The tokens of a shell line: blanks, operators, reserved words, redirections, here-documents.

Below the grammar (`parser`) and above single words (`words`). Invariant: reading goes forward only,
so a line is read in time linear to its length.
"""

import re

from virtual_phone.errors import PhoneError
from virtual_phone.shell.syntax import Redirect, RedirectKind, Text, Word
from virtual_phone.shell.words import WordReader

_REDIRECT = re.compile(r"&>|[0-9]*(<<-|<<|<>|<&|>>|>&|>\||<|>)")
_OPERATOR = re.compile(r"&&|\|\||;;|[|&;()\n]")
_PLAIN_WORD = re.compile(r"[^ \t\n;&|()<>\"'\\$`]*")


class ShellSyntaxError(PhoneError):
    """The line is not shell; the message is mksh's."""


class TokenReader(WordReader):
    """Read tokens from one line or script."""

    def at_end(self) -> bool:
        """Return whether nothing comes any more."""
        return self.at >= len(self.text)

    def skip_blanks(self, *, newlines: bool = False) -> None:
        """Step over blanks and comments; with `newlines`, over the ends of lines too."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t" or (newlines and char == "\n"):
                if char == "\n":
                    self._end_line()
                else:
                    self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def end(self) -> None:
        """Read the here-documents that still wait at the end of the text."""
        for delimiter, strip, quoted, fill in self.here_documents:
            fill(self._here_document(delimiter, strip, quoted))
        self.here_documents = []

    def _end_line(self) -> None:
        self.at += 1
        waiting, self.here_documents = self.here_documents, []
        for delimiter, strip, quoted, fill in waiting:
            fill(self._here_document(delimiter, strip, quoted))

    def _here_document(self, delimiter: str, strip: bool, quoted: bool) -> Word:
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            if strip:
                line = line.lstrip("\t")
            if line == delimiter:
                break
            lines.append(line + "\n")
        body = "".join(lines)
        if quoted:
            return (Text(body, True),)
        return type(self)(body, self.depth + 1).read_quoted(stop=None)

    def peek_operator(self) -> str:
        """Return the operator that comes next; empty when it is none."""
        found = _OPERATOR.match(self.text, self.at)
        return found[0] if found else ""

    def peek_word(self) -> str:
        """Return the plain word that comes next, for reserved words; "" when it is none."""
        found = _PLAIN_WORD.match(self.text, self.at)
        end = found.end() if found else self.at
        if end < len(self.text) and self.text[end] in "\"'\\$`":
            return ""
        return self.text[self.at : end]

    def peek_assignment(self) -> str:
        """Return the name that comes next before an `=`; empty when it is none."""
        end = self.at
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        name = self.text[self.at : end]
        follows = self.text[end : end + 1]
        return name if follows == "=" and name.isascii() and name.isidentifier() else ""

    def accept_reserved(self, word: str) -> bool:
        """Step over a reserved word; False when it does not come next."""
        self.skip_blanks(newlines=True)
        if self.peek_word() == word:
            self.at += len(word)
            return True
        return False

    def expect_reserved(self, word: str) -> None:
        """Step over a reserved word. Raises ShellSyntaxError when it does not come next."""
        if not self.accept_reserved(word):
            raise self.unexpected()

    def unexpected(self) -> ShellSyntaxError:
        """Return the error for what comes next."""
        if self.at >= len(self.text):
            return ShellSyntaxError("syntax error: unexpected EOF")
        token = self.peek_operator() or self.peek_word() or self.text[self.at]
        shown = "newline" if token == "\n" else token
        return ShellSyntaxError(f"syntax error: '{shown}' unexpected")

    def redirects(self) -> tuple[Redirect, ...]:
        """Read the redirections of a command."""
        found: list[Redirect] = []
        while True:
            self.skip_blanks()
            redirect = self.redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def redirect(self) -> Redirect | None:
        """Read one redirection; None when it does not come next."""
        found = _REDIRECT.match(self.text, self.at)
        if found is None:
            return None
        operator = found[1] or ""
        both = not operator
        digits = "" if both else self.text[self.at : found.start(1)]
        if len(digits) > 2:
            return None
        self.at = found.end()
        self.skip_blanks()
        if self.at >= len(self.text) or self.peek_operator():
            raise self.unexpected()
        if operator in ("<<", "<<-"):
            return self._here(int(digits or 0), strip=operator == "<<-")
        target = self.read_word()
        if both:
            return Redirect(-1, RedirectKind.WRITE, target)
        kind = RedirectKind(operator)
        default = 0 if operator.startswith("<") else 1
        return Redirect(int(digits) if digits else default, kind, target)

    def _here(self, descriptor: int, *, strip: bool) -> Redirect:
        start = self.at
        word = self.read_word()
        delimiter = "".join(part.text for part in word if isinstance(part, Text))
        quoted = any(char in self.text[start : self.at] for char in "'\"\\")
        redirect = Redirect(descriptor, RedirectKind.HERE_DOCUMENT, (Text("", True),))

        def fill(document: Word) -> None:
            redirect.target = document

        self.here_documents.append((delimiter, strip, quoted, fill))
        return redirect
