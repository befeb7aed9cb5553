"""What a site has around the fabric."""

from typing import Annotated

from pydantic import Field

from weft.spec.base import Part


class Site(Part):
    """What the switches of a site need besides the fabric."""

    release: Annotated[str, Field(pattern=r"^\d+\.\d+[0-9A-Za-z.-]*$")] | None = None
    """Release of the switches' system, as 5.15; none: the one that the target names."""
