"""Progress of long runs: a bar by tqdm, or your own function."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

from .errors import InputError, UnsupportedError

Report = Callable[[str, int, int], Any]
Progress = Union[bool, Report]


class Bar:
    """A tqdm bar, as the function that the engine calls."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise UnsupportedError("progress", "there is no tqdm", "pip install tqdm") from error
        self._make = tqdm
        self._bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._bar is None or self._bar.total != total:
            self.close()
            self._bar = self._make(total=total, desc=what, unit="", unit_scale=True, leave=True)
        self._bar.update(min(done, total) - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class reporting:
    """with reporting(progress) as report: what the engine calls, or None."""

    def __init__(self, progress: Progress) -> None:
        self._report: Optional[Report]
        if progress is True:
            self._report = Bar()
        elif progress is False or progress is None:
            self._report = None
        elif callable(progress):
            self._report = progress
        else:
            raise InputError("progress", f"is {progress!r}",
                             "Allowed: True, False, or a function of (what, done, total).")

    def __enter__(self) -> Optional[Report]:
        return self._report

    def __exit__(self, *error: object) -> None:
        if isinstance(self._report, Bar):
            self._report.close()
