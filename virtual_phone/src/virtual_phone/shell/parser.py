"""Parse a shell line into `syntax` nodes.

Not a full POSIX shell: no aliases, no coprocesses. Invariant: linear in the
input apart from nested substitutions, whose depth is bounded, so no line can exhaust the stack.

The grammar follows POSIX.1-2017, Shell Command Language (section 2), and mksh's wording of
errors. No kept Python parser serves: bashlex is GPL and stopped in 2023, tree-sitter-bash is a
highlighter's grammar (it accepts `echo ;;`, splits `a!` in two and hangs a redirection on a whole
pipeline).
"""

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


class Parser:
    """Recursive descent over one line or script.

    Args:
        text: the line or script.
        depth: how deep it is nested in others.
    """

    def __init__(self, text: str, depth: int = 0) -> None:
        self.tokens = TokenReader(text, depth)

    def script(self) -> syntax.Script:
        """Parse the whole text.

        Raises:
            ShellSyntaxError: it is not shell.
        """
        found = self._list(frozenset())
        self.tokens.skip_blanks(newlines=True)
        if not self.tokens.at_end():
            raise self.tokens.unexpected()
        self.tokens.end()
        return found

    def parenthesized(self, at: int) -> tuple[syntax.Script, int]:
        """Parse commands from a place on up to a closing parenthesis.

        Returns:
            The commands, and the place behind the parenthesis.

        Raises:
            ShellSyntaxError: it is not shell, or is not closed.
        """
        self.tokens.at = at
        script = self._list(frozenset())
        self.tokens.skip_blanks(newlines=True)
        if self.tokens.peek_operator() != ")":
            raise self.tokens.unexpected()
        return script, self.tokens.at + 1

    def _list(self, ends: frozenset[str]) -> syntax.Script:
        """Parse commands up to one of the reserved words or a closing operator."""
        items: list[syntax.AndOr] = []
        while True:
            self.tokens.skip_blanks(newlines=True)
            if self.tokens.at_end() or self.tokens.peek_operator() in (")", ";;"):
                break
            if self.tokens.peek_word() in ends:
                break
            item = self._and_or()
            self.tokens.skip_blanks()
            operator = self.tokens.peek_operator()
            if operator == "&":
                item = syntax.AndOr(item.first, item.rest, background=True)
            items.append(item)
            if operator in ("&", ";"):
                self.tokens.at += 1
            elif operator != "\n":
                break
        return syntax.Script(tuple(items))

    def _body(self, *ends: str) -> syntax.Script:
        body = self._list(frozenset(ends))
        if not body.items:
            self.tokens.skip_blanks(newlines=True)
            raise self.tokens.unexpected()
        return body

    def _and_or(self) -> syntax.AndOr:
        first = self._pipeline()
        rest: list[tuple[str, syntax.Pipeline]] = []
        while True:
            self.tokens.skip_blanks()
            operator = self.tokens.peek_operator()
            if operator not in ("&&", "||"):
                return syntax.AndOr(first, tuple(rest))
            self.tokens.at += 2
            self.tokens.skip_blanks(newlines=True)
            rest.append((operator, self._pipeline()))

    def _pipeline(self) -> syntax.Pipeline:
        self.tokens.skip_blanks()
        negated = False
        while self.tokens.peek_word() == "!":
            self.tokens.at += 1
            negated = not negated
            self.tokens.skip_blanks()
        commands = [self._command()]
        while True:
            self.tokens.skip_blanks()
            if self.tokens.peek_operator() != "|":
                return syntax.Pipeline(tuple(commands), negated)
            self.tokens.at += 1
            self.tokens.skip_blanks(newlines=True)
            commands.append(self._command())

    def _command(self) -> syntax.Command:
        self.tokens.enter()
        try:
            return self._compound() or self._simple()
        finally:
            self.tokens.leave()

    def _compound(self) -> syntax.Command | None:
        if self.tokens.peek_operator() == "(":
            self.tokens.at += 1
            body = self._body()
            self.tokens.skip_blanks(newlines=True)
            if self.tokens.peek_operator() != ")":
                raise self.tokens.unexpected()
            self.tokens.at += 1
            return syntax.Group(body, True, self.tokens.redirects())
        word = self.tokens.peek_word()
        if word not in RESERVED:
            return self._function(word)
        if word not in ("{", "if", "while", "until", "for", "case"):
            raise self.tokens.unexpected()
        self.tokens.at += len(word)
        match word:
            case "{":
                body = self._body("}")
                self.tokens.expect_reserved("}")
                return syntax.Group(body, False, self.tokens.redirects())
            case "if":
                return self._if()
            case "while" | "until":
                condition = self._body("do")
                return syntax.Loop(condition, self._do(), word == "until", self.tokens.redirects())
            case "for":
                return self._for()
            case _:
                return self._case()

    def _do(self) -> syntax.Script:
        self.tokens.expect_reserved("do")
        body = self._body("done")
        self.tokens.expect_reserved("done")
        return body

    def _if(self) -> syntax.If:
        branches: list[tuple[syntax.Script, syntax.Script]] = []
        while True:
            condition = self._body("then")
            self.tokens.expect_reserved("then")
            branches.append((condition, self._body("elif", "else", "fi")))
            if not self.tokens.accept_reserved("elif"):
                break
        otherwise = self._body("fi") if self.tokens.accept_reserved("else") else None
        self.tokens.expect_reserved("fi")
        return syntax.If(tuple(branches), otherwise, self.tokens.redirects())

    def _for(self) -> syntax.For:
        self.tokens.skip_blanks()
        name = self.tokens.peek_word()
        if not name.isidentifier():
            raise self.tokens.unexpected()
        self.tokens.at += len(name)
        words: tuple[syntax.Word, ...] | None = None
        if self.tokens.accept_reserved("in"):
            found: list[syntax.Word] = []
            self.tokens.skip_blanks()
            while not self.tokens.at_end() and not self.tokens.peek_operator():
                found.append(self.tokens.read_word())
                self.tokens.skip_blanks()
            words = tuple(found)
        self.tokens.skip_blanks()
        if self.tokens.peek_operator() == ";":
            self.tokens.at += 1
        return syntax.For(name, words, self._do(), self.tokens.redirects())

    def _case(self) -> syntax.Case:
        self.tokens.skip_blanks()
        if self.tokens.at_end() or self.tokens.peek_operator():
            raise self.tokens.unexpected()
        subject = self.tokens.read_word()
        self.tokens.expect_reserved("in")
        branches: list[tuple[tuple[syntax.Word, ...], syntax.Script]] = []
        while not self.tokens.accept_reserved("esac"):
            if self.tokens.peek_operator() == "(":
                self.tokens.at += 1
            patterns: list[syntax.Word] = []
            while True:
                self.tokens.skip_blanks()
                if self.tokens.at_end() or self.tokens.peek_operator():
                    raise self.tokens.unexpected()
                patterns.append(self.tokens.read_word())
                self.tokens.skip_blanks()
                operator = self.tokens.peek_operator()
                if operator not in (")", "|"):
                    raise self.tokens.unexpected()
                self.tokens.at += 1
                if operator == ")":
                    break
            branches.append((tuple(patterns), self._list(frozenset({"esac"}))))
            self.tokens.skip_blanks(newlines=True)
            if self.tokens.peek_operator() == ";;":
                self.tokens.at += 2
        return syntax.Case(subject, tuple(branches), self.tokens.redirects())

    def _function(self, word: str) -> syntax.Function | None:
        after = self.tokens.at + len(word)
        while after < len(self.tokens.text) and self.tokens.text[after] in " \t":
            after += 1
        if not word.isidentifier() or not self.tokens.text.startswith("()", after):
            return None
        self.tokens.at = after + 2
        self.tokens.skip_blanks(newlines=True)
        return syntax.Function(word, self._command())

    def _simple(self) -> syntax.Simple:
        assignments: list[tuple[str, syntax.Word]] = []
        words: list[syntax.Word] = []
        redirects: list[syntax.Redirect] = []
        while True:
            self.tokens.skip_blanks()
            redirect = self.tokens.redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            if self.tokens.at_end() or self.tokens.peek_operator():
                break
            name = self.tokens.peek_assignment() if not words else ""
            if name:
                self.tokens.at += len(name) + 1
                assignments.append((name, self.tokens.read_word(assignment=True)))
            else:
                words.append(self.tokens.read_word())
        if not words and not assignments and not redirects:
            raise self.tokens.unexpected()
        return syntax.Simple(tuple(assignments), tuple(words), tuple(redirects))


def parse(text: str, depth: int = 0) -> syntax.Script:
    """Parse a line or script.

    Raises:
        ShellSyntaxError: it is not shell, or nested too deeply.
    """
    return Parser(text, depth).script()
