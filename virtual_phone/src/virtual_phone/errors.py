"""The errors of the virtual phone: what failed, on what, and what to do next."""


class PhoneError(Exception):
    """Base of every error that is raised on purpose.

    Args:
        message: what failed and on which phone, file or port; one sentence.
        remedy: what to do next; one sentence, or empty when nothing helps.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        if not self.remedy:
            return self.message
        stop = "" if self.message.endswith((".", "!", "?", ":", "…")) else "."
        return f"{self.message}{stop} {self.remedy}"


class UsageError(PhoneError):
    """The call cannot be carried out as it was made: an unknown phone, a file that holds no key."""
