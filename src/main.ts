import { run } from './cli/run.ts'
import { processContext } from './cli/context.ts'

const exitCode = await run(process.argv.slice(2), processContext())
// An output that could not be written has set it already.
if (exitCode !== 0) process.exitCode = exitCode
