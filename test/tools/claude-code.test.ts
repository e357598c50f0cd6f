import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { claudeCodePlan, lastWord, notes } from './support/agent-plan.ts'
import { chatAgent } from './support/agent-protocols.ts'
import { findProgram } from './support/programs.ts'
import { startWorkbench } from './support/workbench.ts'

const program = findProgram('claude') ?? ''
test('trial', async () => {
  await using bench = await startWorkbench({ tool: 'claude-code', program, protocol: chatAgent, plan: claudeCodePlan })
  const result = await bench.run(['-p', 'Write a note.', '--allowedTools', 'Bash', 'Read', 'Edit'])
  console.log(result, bench.trap.hosts(), bench.usage(), await bench.report(), bench.weir.log())
  expect(await Bun.file(join(bench.work, notes.path)).text()).toBe(`${notes.last}\n`)
  expect(result.out).toContain(lastWord)
}, 90_000)
