"""Errors that Terrane raises. An error says where it is, what is wrong, what was allowed, and what to do next."""

from __future__ import annotations

import builtins
import errno
import os

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
    """A file cannot be opened, read or written.

    One that is not there is also a ``FileNotFoundError``.

    Attributes
    ----------
    errno : int
        What the system said: ``errno.ENOENT``, ``EACCES``, ``ENOSPC``, ...; ``EIO`` where what was read or written is
        at fault and not the system.
    filename : str
    """

    def __new__(cls, where: str, problem: str = "", next: str = "") -> FileError:
        kind = _MissingFile if cls is FileError and _number_of(problem) == errno.ENOENT else cls
        return OSError.__new__(kind)

    def __init__(self, where: str, problem: str = "", next: str = "") -> None:
        self.args = (where, problem, next)
        self.where, self.problem, self.next = where, problem, next
        self.errno, self.strerror, self.filename = _number_of(problem), problem, where

    __str__ = Error.__str__


class _MissingFile(FileError, FileNotFoundError):
    """A file is not there."""

    __str__ = Error.__str__


def _number_of(problem: str) -> int:
    """The number of the system's error whose text ends the problem, as the engine writes it."""
    for number in errno.errorcode:
        if problem.endswith(os.strerror(number)):
            return number
    if "no such" in problem or "does not exist" in problem or "is not there" in problem:
        return errno.ENOENT
    return errno.EISDIR if "is a folder" in problem else errno.EIO


class MemoryError(Error, builtins.MemoryError):
    """The run would need more memory than there is; raised before it starts."""


class UnsupportedError(Error, RuntimeError):
    """This build or this machine lacks what was asked for."""
