// ClickHouse takes one statement with each request.

const TOKENS = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\*.*?\*\/|;|./gs

/** Statements of a script, without the semicolons between them and without comments, which alone are no statement. */
export function statementsOf(script: string): readonly string[] {
  const statements = ['']
  for (const [token] of script.matchAll(TOKENS)) {
    if (token === ';') statements.push('')
    else statements[statements.length - 1] += /^(--|\/\*.)/s.test(token) ? ' ' : token
  }
  return statements.map((one) => one.trim()).filter((one) => one !== '')
}
