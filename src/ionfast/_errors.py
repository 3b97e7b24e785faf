"""The one exception of ionfast."""

__all__ = ["IonError"]


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
