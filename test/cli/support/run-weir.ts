import { join } from 'node:path'

const main = join(import.meta.dir, '../../../src/main.ts')

export type Outcome = { readonly code: number; readonly out: string; readonly err: string }

/** Runs the program as a shell would, with nothing of this process's environment but the path to Bun. */
export async function runWeir(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    cwd,
    env: { HOME: cwd, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}
