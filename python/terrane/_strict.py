"""Attributes that a class does not know are refused when they are set, as unknown keys of a job file are."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .errors import InputError

__all__ = ["Strict", "UnknownAttribute"]


#: What others call properties of rock, and what they are called here.
_SHORT = {"vp": "velocity_p", "vs": "velocity_s", "rho": "density (kg/m³) or resistivity (ohm m)", "sigma": "conductivity",
          "chi": "susceptibility", "mu": "permeability", "eps": "permittivity", "qp": "quality_p", "qs": "quality_s",
          "k": "thermal_conductivity"}


class UnknownAttribute(InputError, AttributeError):
    """An attribute was set that the object does not have: it would have no effect."""


class Strict:
    """Takes only attributes that its classes declare: by an annotation, a property or a value of the class.

    A class of another package that is built on one of these may have attributes of its own.
    """

    def _attributes(self) -> tuple[str, ...]:
        """Names that may be set beside those that the classes declare."""
        return ()

    if not TYPE_CHECKING:  # a type checker refuses unknown attributes by itself, unless it sees this

        def __setattr__(self, name: str, value: Any) -> None:
            if not (name.startswith("_") or _declares(type(self), name) or _is_foreign(type(self))):
                raise self._unknown(name)
            object.__setattr__(self, name, value)

    def _unknown(self, name: str) -> UnknownAttribute:
        known = sorted({*self._attributes(), *_declared(type(self))})
        near = [_SHORT[name]] if _SHORT.get(name, "-").split()[0] in known else get_close_matches(name, known, 1)
        return UnknownAttribute(f"{type(self).__name__}.{name}",
                                "is no attribute" + (f"; did you mean {near[0]}?" if near else ""),
                                f"It has: {', '.join(known) or 'none that can be set'}.")


def _declared(cls: type) -> set[str]:
    """Attributes that may be set: annotated ones, and properties with a setter."""
    names: set[str] = set()
    for base in cls.__mro__:
        names.update(base.__dict__.get("__annotations__", {}))
        names.update(name for name, value in vars(base).items() if isinstance(value, property) and value.fset)
    return {name for name in names if not name.startswith("_")}


def _declares(cls: type, name: str) -> bool:
    return hasattr(cls, name) or name in _declared(cls)


def _is_foreign(cls: type) -> bool:
    return cls.__module__.split(".")[0] != "terrane"
