# The same by a tap of the Singer SDK, as messages on standard output: `singer_extract.py url folder`.

import sys

from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th

url, folder = sys.argv[1:]
base, path = url.rsplit('/', 1)
text, whole = th.StringType, th.IntegerType


class Items(RESTStream):
    name = 'items'
    path = '/' + path
    url_base = base
    primary_keys = ['id']
    records_jsonpath = '$.items[*]'
    schema = th.PropertiesList(
        th.Property('id', whole),
        *[th.Property(name, text) for name in ['name', 'email', 'created_at', 'country', 'note', 'deleted_at', 'kind']],
        th.Property('active', th.BooleanType),
        th.Property('score', th.NumberType),
        th.Property('address', th.ObjectType(*[th.Property(name, text) for name in ['street', 'city', 'zip']])),
        th.Property('lines', th.ArrayType(th.ObjectType(th.Property('sku', text), th.Property('qty', whole)))),
    ).to_dict()

    def get_next_page_token(self, response, previous_token):
        page = response.json()['items']
        return page[-1]['id'] if page else None

    def get_url_params(self, context, next_page_token):
        return {'since': next_page_token or 0}


class Peer(Tap):
    name = 'tap-peer'
    config_jsonschema = th.PropertiesList().to_dict()

    def discover_streams(self):
        return [Items(self)]


Peer(config={}).sync_all()
