"""The exceptions of ionfast: one family."""

__all__ = ["IonError", "ValidationError"]


class IonError(ValueError):
    """Input that is not Ion 1.0, or a value that Ion or Python cannot hold.

    Args:
        message: What is wrong and where, in one line.
        offset: Bytes from the start of the input; ``None`` when there is no input to point at.
        line: From 1, in text input; else ``None``.
        column: In code points, from 1, in text input; else ``None``.

    >>> error = IonError("line 1, column 4 (offset 3): expected ']'", 3, 1, 4)
    >>> str(error), error.offset, error.line, error.column
    ("line 1, column 4 (offset 3): expected ']'", 3, 1, 4)
    >>> IonError("the stream holds no value").offset is None
    True
    """

    offset: int | None
    line: int | None
    column: int | None

    def __init__(
        self,
        message: str = "",
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.offset = offset
        self.line = line
        self.column = column


class ValidationError(IonError):
    """Ion that is well-formed, but not a value of the type that was asked for.

    Args:
        message: Path, offset, what was expected and what was found, in one line.
        offset: As of `IonError`, as `line` and `column`: of the value that does not fit.
        line: From 1, in text input; else ``None``.
        column: In code points, from 1, in text input; else ``None``.
        path: Where in the value, from its root ``$``.
        expected: What would have fitted.
        found: What was there.

    >>> import ionfast
    >>> try:
    ...     ionfast.loads('{orders: [1, "two"]}', type=dict[str, list[int]])
    ... except ionfast.ValidationError as error:
    ...     print(error, error.path, error.line, error.column)
    $.orders[1] (offset 13): expected int, found string $.orders[1] 1 14
    """

    path: str
    expected: str
    found: str

    def __init__(
        self,
        message: str = "",
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
        path: str = "$",
        expected: str = "",
        found: str = "",
    ) -> None:
        super().__init__(message, offset, line, column)
        self.path = path
        self.expected = expected
        self.found = found
