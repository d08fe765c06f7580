// Plain pages: one style element, and nothing else that a browser would load or run.

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')

export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const htmlPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
  :root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: light-dark(#0b5d7a, #7fd0ec) }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 2.5rem auto; padding: 0 1.25rem }
  h1 { font-size: 1.7rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem } tr:target, h2:target, h3:target { background: var(--soft) }
  a { color: var(--accent) } code, pre { font: 14px/1.5 ui-monospace, monospace }
  pre { background: var(--soft); padding: .9rem 1rem; border-radius: 8px; overflow-x: auto }
  table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
  details { border-bottom: 1px solid var(--line); padding: .35rem 0 } summary { cursor: pointer }
  input, textarea { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem }
  textarea { font: 14px/1.5 ui-monospace, monospace } label { display: block; margin: .5rem 0 } button { font: inherit; padding: .3rem .9rem }
  .method { display: inline-block; width: 4.5rem; font-weight: 600 } .quiet { opacity: .75 }
</style>
${body}
</html>
`
