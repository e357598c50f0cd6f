import { describe, expect, test } from 'bun:test'
import { type AgentPlan, codexPlan, lastWord, notes } from './support/agent-plan.ts'
import { anthropicAgent, chatAgent, geminiAgent } from './support/agent-protocols.ts'
import { expectWork } from './support/expect-work.ts'
import { codexArguments, codexResumeArguments, silenceCodex } from './support/program-arguments.ts'
import { findProgram } from './support/programs.ts'
import { startWorkbench, type Workbench, type WorkbenchOptions } from './support/workbench.ts'

const program = findProgram('codex')
const timeoutMs = 120_000
const compatibility = { function_tools: true }

async function start(options: Partial<WorkbenchOptions> = {}): Promise<Workbench> {
  const bench = await startWorkbench({
    tool: 'codex',
    program: program ?? '',
    protocol: chatAgent,
    plan: () => codexPlan,
    settings: { compatibility },
    ...options,
  })
  await silenceCodex(bench)
  return bench
}

describe.skipIf(program === undefined)('Codex, if it is installed,', () => {
  test.each([
    ['an OpenAI-compatible provider', chatAgent],
    ['Gemini', geminiAgent],
    ['Anthropic', anthropicAgent],
  ])(
    'runs a command and edits a file with a model of %s',
    async (_, protocol) => {
      await using bench = await start({ protocol })
      await expectWork(bench, await bench.run(codexArguments), 'responses')
    },
    timeoutMs,
  )

  test(
    'edits a file with its custom tool, with a model that it knows',
    async () => {
      await using bench = await start({ slug: 'openai/gpt-5.5' })
      await expectWork(bench, await bench.run(codexArguments), 'responses')
      const { messages } = bench.provider.requests.at(-1) ?? {}
      expect(JSON.stringify(messages)).toContain('"name":"apply_patch"')
    },
    timeoutMs,
  )

  test(
    'resumes a conversation, whose earlier calls and results reach the model',
    async () => {
      await using bench = await start()
      await bench.run(codexArguments)
      const first = bench.provider.requests.length
      await expectWork(bench, await bench.run(codexResumeArguments), 'responses')
      const resumed = JSON.stringify(bench.provider.requests.slice(first))
      expect(resumed).toContain(notes.first)
      expect(resumed).toContain(lastWord)
    },
    timeoutMs,
  )

  test(
    'gets the calls of its namespaces',
    async () => {
      const name = 'multi_agent_v1__close_agent'
      const plan: AgentPlan = (_, results) =>
        results.length === 0
          ? { type: 'call', name, arguments: { target: '01a20432-526f-7ac3-b1cb-405c8914d0a0' } }
          : { type: 'text', text: lastWord }
      await using bench = await start({ plan: () => plan })
      const result = await bench.run([...codexArguments, '-c', 'agents.enabled=true'])
      expect(result).toMatchObject({ code: 0, out: expect.stringContaining(lastWord) })
      // There is no such agent: only the function itself says so.
      const [output] = chatAgent.results(bench.provider.requests[1] ?? {})
      expect(output).toContain('not found')
    },
    timeoutMs,
  )

  test.each([
    ['web_search', 'acme/river', ['-c', 'web_search="live"']],
    ['tool_search', 'openai/gpt-5.5', ['-c', 'agents.enabled=true']],
  ])(
    'reports that the tool %s is not supported, and works where Weir ignores it',
    async (tool, slug, flags) => {
      await using strict = await start({ slug })
      const rejected = await strict.run([...codexArguments, ...flags])
      expect(rejected.code).toBe(1)
      expect(rejected.err).toContain(`Unsupported tool: '${tool}' is not supported.`)
      expect(strict.provider.requests).toEqual([])

      await using lenient = await start({
        slug,
        settings: { compatibility, unsupported_parameters: 'drop' },
      })
      await expectWork(lenient, await lenient.run([...codexArguments, ...flags]), 'responses')
      const offered = chatAgent.tools(lenient.provider.requests[0] ?? {})
      expect(offered).not.toContain(tool)
    },
    timeoutMs,
  )
})
