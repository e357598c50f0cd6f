import { run } from './cli/run.ts'
import { processContext } from './cli/context.ts'

process.exitCode = await run(process.argv.slice(2), processContext())
