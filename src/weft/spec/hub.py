"""Names of the Hugging Face Hub and the shipped model of each; nothing is downloaded."""

from functools import cache

from weft.records import table


def names() -> tuple[str, ...]:
    """Return every known name of the Hub."""
    return tuple(_table())


def shipped_model(name: str) -> str | None:
    """Return the shipped model that a name of the Hub stands for; case does not matter.

    >>> shipped_model("meta-llama/Llama-3.1-70B"), shipped_model("nobody/nothing")
    ('llama3_70b', None)
    """
    return _folded().get(name.casefold())


@cache
def _table() -> dict[str, str]:
    models: dict[str, list[str]] = table("weft.spec", "hub")["models"]
    return {hub: model for model, hubs in models.items() for hub in hubs}


@cache
def _folded() -> dict[str, str]:
    return {name.casefold(): model for name, model in _table().items()}
