import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A program that the tests run, if it is installed. */
export type ProgramName = 'claude' | 'codex' | 'copilot' | 'opencode' | 'kilo' | 'qwen' | 'pi' | 'cline'

const variables: Record<ProgramName, string> = {
  claude: 'CLAUDE_CODE',
  codex: 'CODEX',
  copilot: 'COPILOT',
  opencode: 'OPENCODE',
  kilo: 'KILO',
  qwen: 'QWEN_CODE',
  pi: 'PI',
  cline: 'CLINE',
}

/**
 * Returns the path of a program: that of its variable, such as CLAUDE_CODE or CODEX; else that on the PATH; else that in
 * the folder WEIR_TOOLS, where npm has installed it. Throws if a variable names a program that does not exist.
 */
export function findProgram(name: ProgramName): string | undefined {
  const chosen = process.env[variables[name]]
  if (chosen !== undefined) return existing(chosen, variables[name])
  const folder = process.env.WEIR_TOOLS
  const installed = folder === undefined ? undefined : join(folder, 'node_modules/.bin', name)
  return Bun.which(name) ?? (installed !== undefined && existsSync(installed) ? installed : undefined)
}

function existing(path: string, variable: string): string {
  if (!existsSync(path)) throw new Error(`${variable} names ${path}, which does not exist.`)
  return path
}
