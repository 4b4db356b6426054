"""SimPEG's misfits take only what is an instance of its BaseSimulation."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any


class _Plain:
    """An attribute that is kept as it is: SimPEG's of this name check and compute on assignment."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else instance.__dict__[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value


@lru_cache(maxsize=None)
def _made(own: Any, base: Any) -> Any:
    names = {"__module__": own.__module__, "__qualname__": own.__qualname__, "__doc__": own.__doc__,
             "model": _Plain(), "survey": _Plain()}
    return type(base)(own.__name__, (own, base), names)


class OfSimpeg:
    """Its instances are also instances of ``simpeg.simulation.BaseSimulation`` where simpeg is loaded.

    What SimPEG asks of a simulation beside data and products, ``Jvec_approx`` and ``Jtvec_approx``, comes from there.
    """

    def __new__(cls, *arguments: Any, **keywords: Any) -> Any:
        simpeg = sys.modules.get("simpeg.simulation")
        own: Any = cls
        return object.__new__(own if simpeg is None else _made(own, simpeg.BaseSimulation))
