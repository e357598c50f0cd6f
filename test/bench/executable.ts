import { existsSync } from 'node:fs'

/** The executable that an environment variable names, or a sentence that says what to set. */
export type Executable = { readonly path: string } | { readonly missing: string }

/** Finds the executable of a contender. */
export function executableIn(variable: string, contender: string): Executable {
  const path = process.env[variable]
  if (!path) return { missing: `${contender} needs the path of its executable in ${variable}.` }
  return existsSync(path) ? { path } : { missing: `${path}, the value of ${variable}, does not exist.` }
}
