import { run } from '../../../src/cli/run.ts'
import { weirCommand } from '../../support/weir-command.ts'

export type Outcome = { readonly code: number; readonly out: string; readonly err: string }

/** Runs the program as a shell would, with nothing of this process's environment but the path to Bun. */
export async function runWeir(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = Bun.spawn([...weirCommand, ...args], {
    cwd,
    env: { HOME: cwd, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}

/** Runs the program in this process, which needs no other one to start; not for `serve`, which replaces its process. */
export async function callWeir(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const written = { out: '', err: '' }
  const code = await run(args, {
    environment: { HOME: cwd, ...environment },
    cwd,
    home: cwd,
    out: (text) => void (written.out += `${text}\n`),
    err: (text) => void (written.err += `${text}\n`),
  })
  return { code, ...written }
}
