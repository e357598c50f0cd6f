import { resolve } from 'node:path'
import { replaceProcess } from '../cli/serve/request-limit.ts'
import { install, projectFolder } from './install.ts'

if (!(await install())) process.exit(1)
const server = [process.execPath, resolve(projectFolder, 'src/main.ts'), ...process.argv.slice(2)]
// A signal to `bun start` must reach the server.
process.exit(await replaceProcess(server, process.env))
