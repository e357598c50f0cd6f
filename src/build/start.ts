import { resolve } from 'node:path'
import { install, projectFolder } from './install.ts'

if (!(await install())) process.exit(1)
const server = [process.execPath, resolve(projectFolder, 'src/main.ts'), ...process.argv.slice(2)]
if (process.platform === 'win32' || !process.execve) process.exit(await runAsChild(server))
// Replaces this process, so that a signal to `bun start` reaches the server.
process.execve(process.execPath, server, process.env)

/** Windows cannot replace a process. There Ctrl-C reaches both processes; only the server handles it. */
async function runAsChild(command: string[]): Promise<number> {
  process.on('SIGINT', () => {})
  return Bun.spawn(command, { stdio: ['inherit', 'inherit', 'inherit'] }).exited
}
