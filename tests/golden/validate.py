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
    # Schemas of one folder refer to one another by `$id`.
    siblings = [json.loads(path.read_text(encoding="utf-8"))
                for path in pathlib.Path(schema_path).parent.glob("*.schema.json")]
    resolver = jsonschema.RefResolver.from_schema(
        schema, store={sibling["$id"]: sibling for sibling in siblings if "$id" in sibling})
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    errors = list(validator.iter_errors(document))
    for error in errors:
        print(f"{document_path}: {error.json_path}: {error.message}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
