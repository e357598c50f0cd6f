import { run } from './cli/run.ts'
import { processWorld } from './cli/world.ts'

process.exitCode = await run(process.argv.slice(2), processWorld())
