"""Parse a shell line into `syntax` nodes.

Not a full POSIX shell: no aliases, no coprocesses. Invariant: linear in the
input apart from nested substitutions, whose depth is bounded, so no line can exhaust the stack.

The grammar follows POSIX.1-2017, Shell Command Language (section 2), and mksh's wording of
errors. No kept Python parser serves: bashlex is GPL and stopped in 2023, tree-sitter-bash is a
highlighter's grammar (it accepts `echo ;;`, splits `a!` in two and hangs a redirection on a whole
pipeline).
"""

from __future__ import annotations

from virtual_phone.shell import syntax
from virtual_phone.shell.tokens import ShellSyntaxError as ShellSyntaxError
from virtual_phone.shell.tokens import TokenReader

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


class Parser(TokenReader):
    """Recursive descent over one line or script."""

    def script(self) -> syntax.Script:
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

    def _list(self, ends: frozenset[str]) -> syntax.Script:
        """Parse commands up to one of the reserved words or a closing operator."""
        items: list[syntax.AndOr] = []
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
                item = syntax.AndOr(item.first, item.rest, background=True)
            items.append(item)
            if operator in ("&", ";"):
                self.at += 1
            elif operator != "\n":
                break
        return syntax.Script(tuple(items))

    def _body(self, *ends: str) -> syntax.Script:
        body = self._list(frozenset(ends))
        if not body.items:
            self._skip_blanks(newlines=True)
            raise self._unexpected()
        return body

    def _and_or(self) -> syntax.AndOr:
        first = self._pipeline()
        rest: list[tuple[str, syntax.Pipeline]] = []
        while True:
            self._skip_blanks()
            operator = self._peek_operator()
            if operator not in ("&&", "||"):
                return syntax.AndOr(first, tuple(rest))
            self.at += 2
            self._skip_blanks(newlines=True)
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> syntax.Pipeline:
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
                return syntax.Pipeline(tuple(commands), negated)
            self.at += 1
            self._skip_blanks(newlines=True)
            commands.append(self._command())

    def _command(self) -> syntax.Command:
        self.enter()
        try:
            return self._compound() or self._simple()
        finally:
            self.leave()

    def _compound(self) -> syntax.Command | None:
        if self._peek_operator() == "(":
            self.at += 1
            body = self._body()
            self._skip_blanks(newlines=True)
            if self._peek_operator() != ")":
                raise self._unexpected()
            self.at += 1
            return syntax.Group(body, True, self._redirects())
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
                return syntax.Group(body, False, self._redirects())
            case "if":
                return self._if()
            case "while" | "until":
                condition = self._body("do")
                return syntax.Loop(condition, self._do(), word == "until", self._redirects())
            case "for":
                return self._for()
            case _:
                return self._case()

    def _do(self) -> syntax.Script:
        self._expect_reserved("do")
        body = self._body("done")
        self._expect_reserved("done")
        return body

    def _if(self) -> syntax.If:
        branches: list[tuple[syntax.Script, syntax.Script]] = []
        while True:
            condition = self._body("then")
            self._expect_reserved("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            if not self._accept_reserved("elif"):
                break
        otherwise = self._body("fi") if self._accept_reserved("else") else None
        self._expect_reserved("fi")
        return syntax.If(tuple(branches), otherwise, self._redirects())

    def _for(self) -> syntax.For:
        self._skip_blanks()
        name = self._peek_word()
        if not name.isidentifier():
            raise self._unexpected()
        self.at += len(name)
        words: tuple[syntax.Word, ...] | None = None
        if self._accept_reserved("in"):
            found: list[syntax.Word] = []
            self._skip_blanks()
            while self.at < len(self.text) and not self._peek_operator():
                found.append(self.read_word())
                self._skip_blanks()
            words = tuple(found)
        self._skip_blanks()
        if self._peek_operator() == ";":
            self.at += 1
        return syntax.For(name, words, self._do(), self._redirects())

    def _case(self) -> syntax.Case:
        self._skip_blanks()
        if self.at >= len(self.text) or self._peek_operator():
            raise self._unexpected()
        subject = self.read_word()
        self._expect_reserved("in")
        branches: list[tuple[tuple[syntax.Word, ...], syntax.Script]] = []
        while not self._accept_reserved("esac"):
            if self._peek_operator() == "(":
                self.at += 1
            patterns: list[syntax.Word] = []
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
        return syntax.Case(subject, tuple(branches), self._redirects())

    def _function(self, word: str) -> syntax.Function | None:
        after = self.at + len(word)
        while after < len(self.text) and self.text[after] in " \t":
            after += 1
        if not word.isidentifier() or not self.text.startswith("()", after):
            return None
        self.at = after + 2
        self._skip_blanks(newlines=True)
        return syntax.Function(word, self._command())

    def _simple(self) -> syntax.Simple:
        assignments: list[tuple[str, syntax.Word]] = []
        words: list[syntax.Word] = []
        redirects: list[syntax.Redirect] = []
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
        return syntax.Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _assignment_name(self) -> str:
        end = self.at
        while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
            end += 1
        name = self.text[self.at : end]
        follows = self.text[end : end + 1]
        return name if follows == "=" and name.isascii() and name.isidentifier() else ""


def parse(text: str, depth: int = 0) -> syntax.Script:
    """Parse a line or script.

    Raises:
        ShellSyntaxError: it is not shell, or nested too deeply.
    """
    return Parser(text, depth).script()
