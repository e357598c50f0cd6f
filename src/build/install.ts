import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** The root of the checkout. */
export const projectFolder = resolve(import.meta.dir, '../..')

/** Installs what the lock file names and is not there yet; with all of it there, this takes milliseconds and no network. */
export async function install(): Promise<boolean> {
  if (!existsSync(resolve(projectFolder, 'node_modules'))) console.error('Installing packages…')
  // `--silent` would hide the reason of a failure too.
  const child = Bun.spawn([process.execPath, 'install', '--frozen-lockfile'], {
    cwd: projectFolder,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const errors = await child.stderr.text()
  if ((await child.exited) === 0) return true
  console.error(`${errors.trim()}\nThe packages could not be installed.`)
  return false
}
