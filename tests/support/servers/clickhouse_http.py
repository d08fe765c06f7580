"""The HTTP interface of ClickHouse around chdb, which is the engine of a current version without a server.

Started with the port and the folder of the data. Users, passwords and sessions are as in the tests: reader and writer with open-sesame."""

import base64
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from chdb import session

port, folder = int(sys.argv[1]), sys.argv[2]
engine = session.Session(folder)
lock = threading.Lock()  # chdb has one session in a process


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def body(self):
        if self.headers.get('Transfer-Encoding') != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length', '0')))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b''.join(parts)

    def do_POST(self):
        data = self.body()
        given = base64.b64decode(self.headers.get('Authorization', 'Basic Og==')[6:]).decode()
        status, answer = 200, b''
        if given not in ('reader:open-sesame', 'writer:open-sesame'):
            status, answer = 403, b'Code: 516. DB::Exception: reader: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED) (version 26)'
        else:
            database = parse_qs(urlsplit(self.path).query).get('database', ['default'])[0]
            try:
                with lock:
                    engine.query(f'use {database}')
                    answer = bytes(engine.query(data.decode('utf-8', 'surrogateescape'), 'TabSeparated').bytes() or b'')
            except Exception as error:
                status, answer = 500, str(error).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
