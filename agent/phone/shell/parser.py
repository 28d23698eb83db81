"""Parse a shell line into `syntax` nodes.

Not a full POSIX shell: no aliases, no coprocesses, no brace expansion. Invariant: linear in the
input apart from nested substitutions, whose depth is bounded, so no line can exhaust the stack.

The grammar follows POSIX.1-2017, Shell Command Language (section 2), and mksh's wording of
errors. No kept Python parser serves: bashlex is GPL and stopped in 2023, tree-sitter-bash is a
highlighter's grammar (it accepts `echo ;;`, splits `a!` in two and hangs a redirection on a whole
pipeline).
"""

from __future__ import annotations

from agent.errors import PhoneError
from agent.phone.shell.syntax import (
    AndOr,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Loop,
    Pipeline,
    Redirect,
    RedirectKind,
    Script,
    Simple,
    Text,
    Word,
)
from agent.phone.shell.words import WordReader

RESERVED = frozenset(
    [
        "!",
        "{",
        "}",
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "while",
        "until",
        "do",
        "done",
        "for",
        "case",
        "esac",
        "in",
    ]
)
_REDIRECTS = ("<<-", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">")


class ShellSyntaxError(PhoneError):
    """The line is not shell; the message is mksh's."""


class Parser(WordReader):
    """Recursive descent over one line or script."""

    # --- tokens ---

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
        return Parser(body, self.depth + 1).read_quoted(stop=None)

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

    # --- grammar ---

    def script(self) -> Script:
        """Parse the whole text.

        Raises:
            ShellSyntaxError: it is not shell.
        """
        found = self._list(frozenset())
        self._skip_blanks(newlines=True)
        if self.at < len(self.text):
            raise self._unexpected()
        for delimiter, strip, quoted, fill in self.here_documents:
            fill(self._here_document(delimiter, strip, quoted))
        self.here_documents = []
        return found

    def _list(self, ends: frozenset[str]) -> Script:
        """Parse commands up to one of the reserved words or a closing operator."""
        items: list[AndOr] = []
        while True:
            self._skip_blanks(newlines=True)
            if self.at >= len(self.text) or self._peek_operator() in (")", ";;"):
                break
            if self._peek_word() in ends:
                break
            item = self._and_or()
            self._skip_blanks()
            operator = self._peek_operator()
            if operator == "&":
                item = AndOr(item.first, item.rest, background=True)
            items.append(item)
            if operator in ("&", ";"):
                self.at += 1
            elif operator != "\n":
                break
        return Script(tuple(items))

    def _body(self, *ends: str) -> Script:
        body = self._list(frozenset(ends))
        if not body.items:
            self._skip_blanks(newlines=True)
            raise self._unexpected()
        return body

    def _and_or(self) -> AndOr:
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        while True:
            self._skip_blanks()
            operator = self._peek_operator()
            if operator not in ("&&", "||"):
                return AndOr(first, tuple(rest))
            self.at += 2
            self._skip_blanks(newlines=True)
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> Pipeline:
        self._skip_blanks()
        negated = False
        while self._peek_word() == "!":
            self.at += 1
            negated = not negated
            self._skip_blanks()
        commands = [self._command()]
        while True:
            self._skip_blanks()
            if self._peek_operator() != "|":
                return Pipeline(tuple(commands), negated)
            self.at += 1
            self._skip_blanks(newlines=True)
            commands.append(self._command())

    def _command(self) -> Command:
        self.enter()
        try:
            return self._compound() or self._simple()
        finally:
            self.leave()

    def _compound(self) -> Command | None:
        if self._peek_operator() == "(":
            self.at += 1
            body = self._body()
            self._skip_blanks(newlines=True)
            if self._peek_operator() != ")":
                raise self._unexpected()
            self.at += 1
            return Group(body, True, self._redirects())
        word = self._peek_word()
        if word not in RESERVED:
            return self._function(word)
        if word not in ("{", "if", "while", "until", "for", "case"):
            raise self._unexpected()
        self.at += len(word)
        match word:
            case "{":
                body = self._body("}")
                self._expect_reserved("}")
                return Group(body, False, self._redirects())
            case "if":
                return self._if()
            case "while" | "until":
                condition = self._body("do")
                return Loop(condition, self._do(), word == "until", self._redirects())
            case "for":
                return self._for()
            case _:
                return self._case()

    def _do(self) -> Script:
        self._expect_reserved("do")
        body = self._body("done")
        self._expect_reserved("done")
        return body

    def _if(self) -> If:
        branches: list[tuple[Script, Script]] = []
        while True:
            condition = self._body("then")
            self._expect_reserved("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            if not self._accept_reserved("elif"):
                break
        otherwise = self._body("fi") if self._accept_reserved("else") else None
        self._expect_reserved("fi")
        return If(tuple(branches), otherwise, self._redirects())

    def _for(self) -> For:
        self._skip_blanks()
        name = self._peek_word()
        if not name.isidentifier():
            raise self._unexpected()
        self.at += len(name)
        words: tuple[Word, ...] | None = None
        if self._accept_reserved("in"):
            found: list[Word] = []
            self._skip_blanks()
            while self.at < len(self.text) and not self._peek_operator():
                found.append(self.read_word())
                self._skip_blanks()
            words = tuple(found)
        self._skip_blanks()
        if self._peek_operator() == ";":
            self.at += 1
        return For(name, words, self._do(), self._redirects())

    def _case(self) -> Case:
        self._skip_blanks()
        if self.at >= len(self.text) or self._peek_operator():
            raise self._unexpected()
        subject = self.read_word()
        self._expect_reserved("in")
        branches: list[tuple[tuple[Word, ...], Script]] = []
        while not self._accept_reserved("esac"):
            if self._peek_operator() == "(":
                self.at += 1
            patterns: list[Word] = []
            while True:
                self._skip_blanks()
                if self.at >= len(self.text) or self._peek_operator():
                    raise self._unexpected()
                patterns.append(self.read_word())
                self._skip_blanks()
                operator = self._peek_operator()
                if operator not in (")", "|"):
                    raise self._unexpected()
                self.at += 1
                if operator == ")":
                    break
            branches.append((tuple(patterns), self._list(frozenset({"esac"}))))
            self._skip_blanks(newlines=True)
            if self._peek_operator() == ";;":
                self.at += 2
        return Case(subject, tuple(branches), self._redirects())

    def _function(self, word: str) -> Function | None:
        after = self.at + len(word)
        while after < len(self.text) and self.text[after] in " \t":
            after += 1
        if not word.isidentifier() or not self.text.startswith("()", after):
            return None
        self.at = after + 2
        self._skip_blanks(newlines=True)
        return Function(word, self._command())

    def _simple(self) -> Simple:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._skip_blanks()
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            if self.at >= len(self.text) or self._peek_operator():
                break
            name = self._assignment_name() if not words else ""
            if name:
                self.at += len(name) + 1
                assignments.append((name, self.read_word(assignment=True)))
            else:
                words.append(self.read_word())
        if not words and not assignments and not redirects:
            raise self._unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _assignment_name(self) -> str:
        end = self.at
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        name = self.text[self.at : end]
        follows = self.text[end : end + 1]
        return name if follows == "=" and name.isascii() and name.isidentifier() else ""

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


def parse(text: str, depth: int = 0) -> Script:
    """Parse a line or script.

    Raises:
        ShellSyntaxError: it is not shell, or nested too deeply.
    """
    return Parser(text, depth).script()
