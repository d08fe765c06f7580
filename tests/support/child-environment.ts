import { defined } from '../../server/src/kit/defined.ts'
// The environment of programs that tests start: nothing of the developer's own, but the place for compiled code that the runner names,
// since starting the server or the command line is mostly compiling.

export function childEnvironment(): Readonly<Record<string, string>> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...defined({ NODE_COMPILE_CACHE }) }
}
