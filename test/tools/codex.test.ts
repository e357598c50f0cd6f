import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { codexPlan, lastWord, notes } from './support/agent-plan.ts'
import { chatAgent } from './support/agent-protocols.ts'
import { findProgram } from './support/programs.ts'
import { startWorkbench } from './support/workbench.ts'

const program = findProgram('codex') ?? ''
test('trial', async () => {
  await using bench = await startWorkbench({ tool: 'codex', program, protocol: chatAgent, plan: () => codexPlan, aliases: ['gpt-5.5'], model: 'gpt-5.5', settings: { compatibility: { function_tools: true } } })
  const result = await bench.run(['exec', '--dangerously-bypass-approvals-and-sandbox', 'Write a note.'])
  console.log(result, bench.trap.hosts(), bench.usage(), await bench.report())
  expect(await Bun.file(join(bench.work, notes.path)).text()).toBe(`${notes.last}\n`)
  expect(result.out).toContain(lastWord)
}, 90_000)
