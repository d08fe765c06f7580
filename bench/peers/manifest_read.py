# Reads the streams of a manifest by airbyte-cdk: `manifest_read.py config.json catalog.json`. The manifest is in the configuration.

import sys

from airbyte_cdk.cli.source_declarative_manifest import run

config, catalog = sys.argv[1:]
sys.argv = ['source', 'read', '--config', config, '--catalog', catalog]
run()
