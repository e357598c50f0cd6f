import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from '../../../src/cli/command.ts'
import { UsageError } from '../../../src/cli/errors.ts'

/** The output of a command, and its exit code. */
export type CommandResult = { readonly code: number; readonly out: string; readonly err: string }

/** Runs commands in this process on a data folder of their own, with these environment variables. */
export function storageFixture(environment: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')

  async function run(command: Command, ...args: string[]): Promise<CommandResult> {
    const lines: { out: string[]; err: string[] } = { out: [], err: [] }
    const scenario = {
      environment: { WEIR_DATA: data, ...environment },
      cwd: folder,
      home: folder,
      out: (text: string) => void lines.out.push(text),
      err: (text: string) => void lines.err.push(text),
    }
    const code = await command.run(args, scenario).catch((error: Error) => {
      lines.err.push(error.message)
      return error instanceof UsageError ? 2 : 1
    })
    return { code, out: lines.out.join('\n'), err: lines.err.join('\n') }
  }
  return { data, say: run }
}
