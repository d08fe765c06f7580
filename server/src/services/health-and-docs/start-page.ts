// The page at `/` until the console takes its place: what this is, what runs where, the first three commands.

import { SERVICE_IDS } from '../../http/addresses.ts'
import { escapeHtml, htmlPage } from '../../http/html-page.ts'

export function startPage({ version, baseUrl, s3Url }: { version: string; baseUrl: string; s3Url: string }): string {
  const base = escapeHtml(baseUrl)
  return htmlPage(
    'Millrace',
    `<main>
<h1>Millrace</h1>
<p class="quiet">Version ${escapeHtml(version)}, running at <code>${base}</code></p>
<p>A self-hosted data platform: files and tables, versioned configurations, a job queue, schedules and an HTTP extractor.</p>

<h2>What runs</h2>
<table>
<tr><th>Storage API</th><td><code>${base}/v2/storage</code></td></tr>
<tr><th>Object store</th><td><code>${escapeHtml(s3Url)}</code> (S3, path style)</td></tr>
<tr><th>Other services</th><td>${SERVICE_IDS.map((id) => `<a href="/${id}">${id}</a>`).join(', ')}</td></tr>
<tr><th>Health</th><td><a href="/health">alive</a>, <a href="/ready">ready</a>, <a href="/metrics">metrics</a></td></tr>
</table>

<h2>Documentation</h2>
<p><a href="/help">The guides</a>, beginning with <a href="/help/readme">the first steps</a> and <a href="/help/walkthrough">the whole platform in one walk</a>.
<a href="/docs">The API, operation by operation</a>, or as <a href="/openapi.json">OpenAPI 3.1</a>. The index of the stack: <a href="/v2/storage?exclude=components"><code>/v2/storage</code></a>.</p>

<h2>First steps</h2>
<p>The master token was printed once, when the stack first started. With it in <code>$MILLRACE_TOKEN</code>, in the folder of Millrace:</p>
<pre>npx millrace table list
curl --fail-with-body -H "X-StorageApi-Token: $MILLRACE_TOKEN" ${base}/v2/storage/tokens/verify</pre>
<p>Lost it? <code>npx millrace token reset-master</code> makes a new one.</p>
</main>`,
  )
}
