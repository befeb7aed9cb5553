"""Signatures of files by an SSH key of the user, as ``ssh-keygen -Y verify`` checks them."""

import subprocess
from pathlib import Path
from typing import Final

from weft.errors import SpecError, Unreadable

NAMESPACE: Final = "weft"
"""What the signature is for: another program takes none of these for its own."""


def signed(file: Path, key: Path) -> Path:
    """Sign a file; return that of the signature, beside it. Raises Unreadable, SpecError.

    A key with a passphrase asks for it, or the agent is used where ``key`` is the public one.
    """
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)
    words = ["ssh-keygen", "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(key), "--", str(file)]
    try:
        done = subprocess.run(  # noqa: S603 - words of this function, no shell
            words, stderr=subprocess.PIPE, text=True, check=False
        )
    except FileNotFoundError as failure:
        raise Unreadable("--sign needs ssh-keygen; install openssh-client") from failure
    if done.returncode or not signature.is_file():
        why = done.stderr.strip().splitlines()[-1:] or ["ssh-keygen failed"]
        raise SpecError(f"--sign {key}: {why[0]}; {file} is written and not signed")
    return signature
