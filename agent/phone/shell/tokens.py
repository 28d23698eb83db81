"""The tokens of a shell line: blanks, operators, reserved words, redirections, here-documents.

Below the grammar (`parser`) and above single words (`words`). Invariant: reading goes forward only,
so a line is read in time linear to its length.
"""

from __future__ import annotations

from agent.errors import PhoneError
from agent.phone.shell.syntax import Redirect, RedirectKind, Text, Word
from agent.phone.shell.words import WordReader

_REDIRECTS = ("<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">")


class ShellSyntaxError(PhoneError):
    """The line is not shell; the message is mksh's."""


class TokenReader(WordReader):
    """Read tokens from one line or script."""

    def _skip_blanks(self, *, newlines: bool = False) -> None:
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

    def _end_line(self) -> None:
        """Step over a newline and read the here-documents that wait for it."""
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

    def _peek_operator(self) -> str:
        for operator in ("&&", "||", ";;", "|", "&", ";", "(", ")", "\n"):
            if self.text.startswith(operator, self.at):
                return operator
        return ""

    def _peek_word(self) -> str:
        """Return the plain word that comes next, for reserved words; "" when it is none."""
        end = self.at
        while end < len(self.text) and self.text[end] not in " \t\n;&|()<>\"'\\$`":
            end += 1
        if end < len(self.text) and self.text[end] in "\"'\\$`":
            return ""
        return self.text[self.at : end]

    def _accept_reserved(self, word: str) -> bool:
        self._skip_blanks(newlines=True)
        if self._peek_word() == word:
            self.at += len(word)
            return True
        return False

    def _expect_reserved(self, word: str) -> None:
        if not self._accept_reserved(word):
            raise self._unexpected()

    def _unexpected(self) -> ShellSyntaxError:
        if self.at >= len(self.text):
            return ShellSyntaxError("syntax error: unexpected EOF")
        token = self._peek_operator() or self._peek_word() or self.text[self.at]
        shown = "newline" if token == "\n" else token
        return ShellSyntaxError(f"syntax error: '{shown}' unexpected")

    def _redirects(self) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        while True:
            self._skip_blanks()
            redirect = self._redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def _redirect(self) -> Redirect | None:
        at = self.at
        while at < len(self.text) and self.text[at] in "0123456789":
            at += 1
        operator = next((op for op in _REDIRECTS if self.text.startswith(op, at)), None)
        both = False
        if operator is None:
            if not self.text.startswith("&>", self.at):
                return None
            operator, both, at = "&>", True, self.at
        digits = "" if both else self.text[self.at : at]
        if len(digits) > 2:
            return None
        self.at = at + len(operator)
        self._skip_blanks()
        if self.at >= len(self.text) or self._peek_operator():
            raise self._unexpected()
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
