/** Runs the notebook that it is given, and serves the page that came of it at PORT: `python3 -c ... app.ipynb`. */
export const NOTEBOOK_PROGRAM = `
import os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

path = sys.argv[1]
folder = os.path.dirname(path)
notebook = nbformat.read(path, as_version=4)
kernel = {"metadata": {"path": folder}}
NotebookClient(notebook, timeout=None, kernel_name="python3", allow_errors=True, resources=kernel).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            print("A cell failed: " + output.ename + ": " + output.evalue, file=sys.stderr, flush=True)
page = HTMLExporter().from_notebook_node(notebook)[0].encode()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        isPage = self.path.split("?")[0] == "/"
        self.send_response(200 if isPage else 404)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(page) if isPage else 0))
        self.end_headers()
        if isPage and self.command == "GET":
            self.wfile.write(page)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`
