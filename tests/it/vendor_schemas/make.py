"""Writes the JSON Schemas of request bodies, made from the types of the vendors' own SDKs for Python.

    pip install openai anthropic && python make.py DIRECTORY
"""
import json, pathlib, sys
from importlib.metadata import version
from pydantic import TypeAdapter
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as BetaParamsStreaming
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

WIRES = [
    ("openai", "openai", CompletionCreateParamsStreaming),
    ("openai-responses", "openai", ResponseCreateParamsStreaming),
    ("anthropic", "anthropic", MessageCreateParamsStreaming),
    # Requests with a header `anthropic-beta`.
    ("anthropic-beta", "anthropic", BetaParamsStreaming),
]
ANNOTATIONS = {"title", "description", "default", "format"}

def strict(node):
    """Without annotations, and with no members but those that are listed."""
    if isinstance(node, list):
        return [strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    out = {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {name: strict(part) for name, part in value.items()}
        elif key not in ANNOTATIONS:
            out[key] = strict(value)
    # Any text includes each of a list.
    if {"type": "string"} in out.get("anyOf", []):
        out["anyOf"] = [part for part in out["anyOf"] if part.keys() != {"enum", "type"}]
    if "properties" in out:
        out.setdefault("additionalProperties", False)
    return out

for kind, package, type_ in WIRES:
    schema = strict(TypeAdapter(type_).json_schema())
    defs = schema.pop("$defs")
    schema = {"$comment": f"Made from the types of the Python package {package} {version(package)}.", **schema}
    lines = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in sorted(defs.items())]
    root = json.dumps(schema)
    text = root[:-1] + ',\n"$defs": {\n' + ",\n".join(lines) + "\n}}\n"
    json.loads(text)
    pathlib.Path(sys.argv[1], f"{kind}.json").write_text(text)
