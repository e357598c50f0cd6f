/** A problem with a setting; the message is a sentence whose subject is the path. */
export type SettingsProblem = {
  /** Such as `providers.eu-azure.base_url`, `WEIR_PORT` or `--port`; empty for the file itself. */
  readonly path: string
  readonly message: string
  /** Where it is in the settings file, from 1; absent if it is not in the file. */
  readonly line?: number
  readonly column?: number
}

/** The settings are not valid. The message lists all problems, without secret values. */
export class SettingsError extends Error {
  readonly problems: readonly SettingsProblem[]
  /** The settings file, or null if there is none. */
  readonly file: string | null

  constructor(problems: readonly SettingsProblem[], file: string | null) {
    const sorted = inFileOrder(problems)
    super(errorMessage(sorted, file))
    this.name = 'SettingsError'
    this.problems = sorted
    this.file = file
  }
}

/** Sorts problems by their position in the file, those without one first. */
export function inFileOrder(problems: readonly SettingsProblem[]): SettingsProblem[] {
  const orderOf = ({ line = 0, column = 0 }: SettingsProblem) => [line, column] as const
  return problems.toSorted((a, b) => {
    const [[lineA, columnA], [lineB, columnB]] = [orderOf(a), orderOf(b)]
    return lineA - lineB || columnA - columnB
  })
}

/** Formats a problem in one line, which begins with its position in the file. */
export function problemLine(problem: SettingsProblem): string {
  const { line, column } = problem
  return line === undefined ? pathLine(problem) : `${line}:${column} ${pathLine(problem)}`
}

function pathLine({ path, message }: SettingsProblem): string {
  return path === '' ? message : `${path}: ${message}`
}

function errorMessage(problems: readonly SettingsProblem[], file: string | null): string {
  const [first] = problems
  if (problems.length === 1 && first !== undefined) return `${locationPrefix(first, file)}${pathLine(first)}`
  const lines = problems.map((problem) => `  ${problemLine(problem)}`)
  return [`There are ${problems.length} problems in ${file ?? 'the settings'}:`, ...lines].join('\n')
}

/** Flags and variables are not in the file. */
function locationPrefix({ path, line, column }: SettingsProblem, file: string | null): string {
  if (file === null || /^(--|[A-Z][A-Z0-9_]+$)/.test(path)) return ''
  return line === undefined ? `In ${file}: ` : `In ${file}:${line}:${column}: `
}

/** True if one of the paths is the other one, or a part of it. */
export function isSamePlace(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  return short === long || (long.startsWith(short) && /^[.[]/.test(long.slice(short.length)))
}

/** Returns the path of a child: `models[2].routes[0]`, `providers.openai`. */
export function problemPath(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`
  const name = /^[\w./-]+$/.test(part) ? part : JSON.stringify(part)
  return path === '' ? name : `${path}.${name}`
}
