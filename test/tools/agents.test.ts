import { describe, test } from 'bun:test'
import { chatAgent } from './support/agent-protocols.ts'
import { expectWork } from './support/expect-work.ts'
import { agentRuns } from './support/program-arguments.ts'
import { findProgram } from './support/programs.ts'
import { startWorkbench } from './support/workbench.ts'

const timeoutMs = 120_000
const tools = Object.keys(agentRuns) as (keyof typeof agentRuns)[]

describe.each(tools)('%s, if it is installed,', (tool) => {
  const { program: name, args, environment, plan } = agentRuns[tool]
  const program = findProgram(name)

  test.skipIf(program === undefined)(
    'runs a command and edits a file with the settings of weir connect',
    async () => {
      await using bench = await startWorkbench({ tool, program: program ?? '', protocol: chatAgent, plan })
      const result = await bench.run(args, { environment, timeoutMs: timeoutMs / 2 })
      await expectWork(bench, result, 'chat', { alone: false })
    },
    timeoutMs,
  )
})
