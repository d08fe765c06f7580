# The same by the declarative source of airbyte-cdk, as records on standard output: `airbyte_extract.py url folder`.

import json
import sys

from airbyte_cdk.cli.source_declarative_manifest import run

url, folder = sys.argv[1:]
base, path = url.rsplit('/', 1)
manifest = {
    'version': '6.1.0',
    'type': 'DeclarativeSource',
    'check': {'type': 'CheckStream', 'stream_names': ['items']},
    'streams': [{
        'type': 'DeclarativeStream',
        'name': 'items',
        'primary_key': 'id',
        'schema_loader': {'type': 'InlineSchemaLoader', 'schema': {'type': 'object', 'properties': {}}},
        'retriever': {
            'type': 'SimpleRetriever',
            'requester': {'type': 'HttpRequester', 'url_base': base + '/', 'path': path, 'http_method': 'GET'},
            'record_selector': {'type': 'RecordSelector', 'extractor': {'type': 'DpathExtractor', 'field_path': ['items']}},
            'paginator': {
                'type': 'DefaultPaginator',
                'page_token_option': {'type': 'RequestOption', 'inject_into': 'request_parameter', 'field_name': 'since'},
                'pagination_strategy': {
                    'type': 'CursorPagination',
                    'cursor_value': "{{ last_record['id'] }}",
                    'stop_condition': '{{ last_page_size < 1000 }}',
                },
            },
        },
    }],
    'spec': {'type': 'Spec', 'connection_specification': {'type': 'object', 'properties': {}}},
}
stream = {'name': 'items', 'json_schema': {}, 'supported_sync_modes': ['full_refresh']}
catalog = {'streams': [{'stream': stream, 'sync_mode': 'full_refresh', 'destination_sync_mode': 'overwrite'}]}
for name, content in {'config': {'__injected_declarative_manifest': manifest}, 'catalog': catalog}.items():
    with open(f'{folder}/{name}.json', 'w') as file:
        json.dump(content, file)
sys.argv = ['source', 'read', '--config', f'{folder}/config.json', '--catalog', f'{folder}/catalog.json']
run()
