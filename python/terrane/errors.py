"""Errors that Terrane raises. An error says where it is, what is wrong, what was allowed, and what to do next."""

from __future__ import annotations

import builtins

__all__ = ["Error", "FileError", "InputError", "MemoryError", "ShapeError", "UnsupportedError"]


class Error(Exception):
    """Base of all errors.

    Attributes
    ----------
    where : str
        The argument, the key of a job file, or the line of a file.
    problem : str
        What is wrong with it.
    next : str
        What to do about it; may be empty.
    """

    def __init__(self, where: str, problem: str = "", next: str = "") -> None:
        super().__init__(where, problem, next)
        self.where = where
        self.problem = problem
        self.next = next

    def __str__(self) -> str:
        text = f"{self.where}: {self.problem}" if self.problem else self.where
        return f"{text}\n{self.next}" if self.next else text


class InputError(Error, ValueError):
    """An argument, a file or a key cannot be used."""


class ShapeError(InputError):
    """Arrays that belong together differ in shape."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    def __init__(self, where: str, problem: str = "", next: str = "") -> None:
        Error.__init__(self, where, problem, next)

    __str__ = Error.__str__


class MemoryError(Error, builtins.MemoryError):
    """The run would need more memory than there is; raised before it starts."""


class UnsupportedError(Error, RuntimeError):
    """This build or this machine lacks what was asked for."""
