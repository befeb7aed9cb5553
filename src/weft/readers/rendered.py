"""What files that weft wrote say of themselves, for whoever reads them again."""

from typing import Final

UNSEEN: Final = frozenset({"tcp", "tcpx", "ultra_ethernet", "scheduled_ethernet"})
"""Kinds of fabric that no setting shows: RoCE pauses or marks, InfiniBand has a manager."""
FABRIC: Final = "# fabric: "
"""Begins the line that names such a kind."""
BY_WEFT: Final = ", by weft"
"""Ends the first line of a file that has comments."""
MANIFEST: Final = "weft-manifest.json"
"""The file beside them, with their checksums."""
PLACEHOLDER: Final = "FILL_IN_"
"""Begins a word in a rendered file that the site has to replace; weft lint reports it."""
