// A data app in one file: the newest rows of a table, with a filter. Deploy it with docs/apps.md.
// TABLE names the table (in "dataApp": {"secrets": {"TABLE": "..."}}); the default is that of the sample shop.

import { createServer } from 'node:http'

const { PORT, KBC_TOKEN = '', MILLRACE_QUERY_URL = '', TABLE = 'in.c-shop.orders' } = process.env
const ROWS = 200

/** `in.c-shop.orders` is the table "orders" of the bucket "in.c-shop". */
function tableName(id) {
  const at = id.lastIndexOf('.')
  return [id.slice(0, at), id.slice(at + 1)].map((part) => `"${part.replaceAll('"', '""')}"`).join('.')
}

async function query(sql) {
  const answer = await fetch(MILLRACE_QUERY_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-storageapi-token': KBC_TOKEN },
    body: JSON.stringify({ sql }),
  })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error)
  return body
}

const escapeHtml = (value) => String(value ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

function page(title, body) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
  table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884 }
  input { font: inherit; padding: .3rem .6rem; width: 20rem; max-width: 100% }
</style>
<h1>${escapeHtml(title)}</h1>
${body}
<script>
  const filter = document.querySelector('input')
  filter?.addEventListener('input', () => {
    for (const row of document.querySelectorAll('tbody tr'))
      row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase())
  })
</script>
</html>`
}

async function ordersPage() {
  const { columns, rows } = await query(`select * from ${tableName(TABLE)} limit ${ROWS}`)
  return page(
    TABLE,
    `<p><input type="search" placeholder="Filter" aria-label="Filter"> ${rows.length} rows</p>
<table>
<thead><tr>${columns.map(({ name }) => `<th>${escapeHtml(name)}</th>`).join('')}</tr></thead>
<tbody>${rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`).join('')}</tbody>
</table>`,
  )
}

createServer(async (request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  try {
    response.end(request.method === 'HEAD' ? '' : await ordersPage())
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    response.statusCode = 502
    response.end(page('The table cannot be shown', `<p>${escapeHtml(error.message)}</p>`))
  }
}).listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`Shows ${TABLE}\n`))
