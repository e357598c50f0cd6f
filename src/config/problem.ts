/** Something wrong with a setting: where, and what to do, in a sentence without its subject. */
export type SettingsProblem = {
  /** As in `providers.eu-azure.base_url`, `WEIR_PORT` or `--port`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

/** The settings cannot be used. It lists all that is wrong, and never shows the value of a setting. */
export class SettingsError extends Error {
  readonly problems: readonly SettingsProblem[]
  /** The file that was read, or null where there was none. */
  readonly file: string | null

  constructor(problems: readonly SettingsProblem[], file: string | null) {
    super(errorMessage(problems, file))
    this.name = 'SettingsError'
    this.problems = problems
    this.file = file
  }
}

/** The problem in one line. */
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

/** A flag or a variable is not in the file. */
function locationPrefix({ path }: SettingsProblem, file: string | null): string {
  return file === null || /^(--|WEIR_)/.test(path) ? '' : `In ${file}: `
}
