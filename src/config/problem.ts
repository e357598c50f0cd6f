/** A problem with a setting; the message is a sentence whose subject is the path. */
export type SettingsProblem = {
  /** Such as `providers.eu-azure.base_url`, `WEIR_PORT` or `--port`; empty for the file itself. */
  readonly path: string
  readonly message: string
}

/** The settings are not valid. The message lists all problems, without secret values. */
export class SettingsError extends Error {
  readonly problems: readonly SettingsProblem[]
  /** The settings file, or null if there is none. */
  readonly file: string | null

  constructor(problems: readonly SettingsProblem[], file: string | null) {
    super(errorMessage(problems, file))
    this.name = 'SettingsError'
    this.problems = problems
    this.file = file
  }
}

/** Formats a problem in one line. */
export function problemLine(problem: SettingsProblem): string {
  return problem.path === '' ? problem.message : `${problem.path}: ${problem.message}`
}

function errorMessage(problems: readonly SettingsProblem[], file: string | null): string {
  const [first] = problems
  if (problems.length === 1 && first !== undefined)
    return `${locationPrefix(first, file)}${problemLine(first)}`
  const lines = problems.map((problem) => `  ${problemLine(problem)}`)
  return [`There are ${problems.length} problems in ${file ?? 'the settings'}:`, ...lines].join('\n')
}

/** Flags and variables are not in the file. */
function locationPrefix({ path }: SettingsProblem, file: string | null): string {
  return file === null || /^(--|WEIR_)/.test(path) ? '' : `In ${file}: `
}

/** Returns the path of a child: `models[2].routes[0]`, `providers.openai`. */
export function problemPath(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`
  const name = /^[\w./-]+$/.test(part) ? part : JSON.stringify(part)
  return path === '' ? name : `${path}.${name}`
}
