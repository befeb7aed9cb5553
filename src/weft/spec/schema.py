"""JSON Schemas of spec documents, for editors that complete and check while typing."""

from typing import Any

from weft.errors import UnknownName
from weft.spec.load import API_VERSION, KINDS, models, presets, tunings
from weft.spec.problems import nearest


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of document, as cluster or job.

    >>> schema("cluster")["properties"]["kind"]
    {'const': 'Cluster'}
    """
    name = kind.capitalize()
    if name not in KINDS:
        known = [known.lower() for known in KINDS]
        raise UnknownName(f"no document is called {kind!r}; {nearest(kind, known)}")
    spec = KINDS[name].model_json_schema()
    definitions = spec.pop("$defs", {})
    if name == "Cluster":
        _allow_preset(spec, definitions)
    if name in {"Job", "Inference"}:
        _allow_named_model(spec, definitions)
    if name == "Scenario":
        _allow_named_settings(spec, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:weft:v1:{kind.lower()}",
        "title": name,
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "spec"],
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": name},
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "spec": spec,
        },
        "$defs": definitions,
    }


def _allow_preset(spec: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Let a preset stand for what it gives: with one, no key is required."""
    text = "A preset that is laid under the other keys."
    spec["properties"]["preset"] = {"enum": list(presets()), "description": text}
    without = {"required": spec.pop("required", [])}
    spec["anyOf"] = [{"required": ["preset"]}, without]
    for part in definitions.values():
        part.pop("required", None)
    _allow_named_tuning(definitions)


def _allow_named_tuning(definitions: dict[str, Any]) -> None:
    """Let a file stand for the settings that it holds."""
    if "FabricChoice" in definitions:
        fabric = definitions["FabricChoice"]["properties"]
        fabric["settings"]["anyOf"].append({"type": "string", "examples": ["tuned.yaml"]})


def _allow_named_settings(spec: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Let a name or a file stand for the cluster, and a preset for what settings it gives."""
    _allow_preset(definitions["Cluster"], {})
    for part in ("Host", "ScaleUp", "FabricChoice"):
        definitions[part].pop("required", None)
    _allow_named_tuning(definitions)
    named = {"type": "string", "examples": list(presets())}
    spec["properties"]["cluster"] = {"anyOf": [named, {"$ref": "#/$defs/Cluster"}]}
    text = "Named settings that are laid under the other keys."
    definitions["NetworkSettings"]["properties"]["preset"] = {
        "anyOf": [{"enum": list(tunings())}, {"type": "string", "pattern": "\\.ya?ml$"}],
        "description": text,
    }  # fmt: skip


def _allow_named_model(spec: dict[str, Any], definitions: dict[str, Any]) -> None:
    model = definitions["Model"]
    needed = model.pop("required", [])
    for key, text in (
        ("preset", "A model by name, laid under the other keys."),
        ("config", "Path of a Hugging Face config.json, laid under the other keys."),
    ):
        model["properties"][key] = {"type": "string", "description": text}
    model["anyOf"] = [{"required": ["preset"]}, {"required": ["config"]}, {"required": needed}]
    known = {"type": "string", "examples": list(models())}
    spec["properties"]["model"] = {"anyOf": [known, {"$ref": "#/$defs/Model"}]}
