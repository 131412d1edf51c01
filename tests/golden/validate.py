"""Holds a JSON document against a JSON Schema: validate.py SCHEMA DOCUMENT."""

import json
import pathlib
import sys

import jsonschema


def main() -> int:
    schema_path, document_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    with open(document_path, encoding="utf-8") as file:
        document = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    # A schema may refer to its neighbours by file name.
    resolver = jsonschema.RefResolver(pathlib.Path(schema_path).resolve().as_uri(), schema)
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    errors = list(validator.iter_errors(document))
    for error in errors:
        print(f"{document_path}: {error.json_path}: {error.message}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
