// A first version of a component that runs as it is: it reads input tables, a parameter and its state, and writes a table.

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../output.ts'

export const LANGUAGES = ['python', 'node'] as const
export type Language = (typeof LANGUAGES)[number]

const PYTHON = `"""Counts the rows of its input tables. Parameters: greeting."""

import csv
import json
import os
import sys

data = os.environ["KBC_DATADIR"]


def read_json(path, default):
    try:
        with open(os.path.join(data, path), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def main():
    parameters = read_json("config.json", {}).get("parameters", {})
    greeting = parameters.get("greeting")
    if not greeting:
        # Exit code 1: the user can fix it; what is on stderr is the message of the job.
        print('The parameter "greeting" is missing.', file=sys.stderr)
        sys.exit(1)

    runs = read_json("in/state.json", {}).get("runs", 0) + 1
    with open(os.path.join(data, "out/tables/counts.csv"), "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["table", "rows", "greeting"])
        for name in sorted(os.listdir(os.path.join(data, "in/tables"))):
            if name.endswith(".manifest"):
                continue
            with open(os.path.join(data, "in/tables", name), newline="", encoding="utf-8") as source:
                count = sum(1 for _ in csv.DictReader(source))
            writer.writerow([name, count, greeting])
            print(f"{name} has {count} rows")  # every line is an event of the job

    with open(os.path.join(data, "out/state.json"), "w", encoding="utf-8") as state:
        json.dump({"runs": runs}, state)


main()
`

const NODE = `// Counts the rows of its input tables. Parameters: greeting.

import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const data = process.env.KBC_DATADIR

function readJson(path, otherwise) {
  try {
    return JSON.parse(readFileSync(join(data, path), 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return otherwise
    throw error
  }
}

const { greeting } = readJson('config.json', {}).parameters ?? {}
if (!greeting) {
  // Exit code 1: the user can fix it; what is on stderr is the message of the job.
  console.error('The parameter "greeting" is missing.')
  process.exit(1)
}

const quoted = (text) => \`"\${String(text).replaceAll('"', '""')}"\`
const lines = [['table', 'rows', 'greeting']]
for (const name of readdirSync(join(data, 'in/tables')).sort()) {
  if (name.endsWith('.manifest')) continue
  // Line by line, so that the size of a table does not matter. Fields with line breaks need a CSV library.
  let count = -1
  for await (const _ of createInterface({ input: createReadStream(join(data, 'in/tables', name)) })) count++
  lines.push([name, count, greeting])
  console.log(\`\${name} has \${count} rows\`) // every line is an event of the job
}
writeFileSync(join(data, 'out/tables/counts.csv'), lines.map((fields) => \`\${fields.map(quoted).join(',')}\\n\`).join(''))

const runs = (readJson('in/state.json', {}).runs ?? 0) + 1
writeFileSync(join(data, 'out/state.json'), JSON.stringify({ runs }))
`

const PROGRAMS: Readonly<
  Record<Language, { readonly file: string; readonly command: readonly string[]; readonly text: string }>
> = {
  python: { file: 'main.py', command: ['python3', 'main.py'], text: PYTHON },
  node: { file: 'main.mjs', command: ['node', 'main.mjs'], text: NODE },
}

export interface Scaffold {
  readonly path: string
  readonly description: string
  readonly data: string
}

export async function writeScaffold(id: string, language: Language, parent: string): Promise<Scaffold> {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)+$/.test(id) || id.length > 128)
    throw new UserError(`"${id}" is not an id of a component: a vendor and a name with a dot between, for example acme.counter.`)
  const name = id.split('.').at(-1)!
  const path = join(parent, name)
  if (existsSync(path)) throw new UserError(`${path} already exists. Choose another id, or --folder.`)
  const { file, command, text } = PROGRAMS[language]
  const description = join(path, `${name}.json`)
  const data = join(path, 'data')
  await mkdir(join(data, 'in/tables'), { recursive: true })
  await writeFile(join(path, file), text)
  await writeFile(description, `${JSON.stringify(descriptionOf(id, name, command), null, 2)}\n`)
  await writeFile(join(data, 'config.json'), '{"parameters": {"greeting": "Hello"}}\n')
  await writeFile(join(data, 'in/tables/people.csv'), 'id,name\n1,Ada\n2,Grace\n')
  return { path, description, data }
}

const descriptionOf = (id: string, name: string, command: readonly string[]) => ({
  id,
  type: 'application',
  name,
  description: 'Counts the rows of its input tables.',
  hasRun: true,
  data: {
    definition: { type: 'command', uri: name, tag: '1', command },
    default_bucket: true,
    default_bucket_stage: 'out',
    network: 'none',
    memory: '256m',
    process_timeout: 600,
  },
})
