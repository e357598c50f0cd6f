import { describe, expect, test } from 'bun:test'
import { type AgentPlan, claudeCodePlan, lastWord, notes } from './support/agent-plan.ts'
import { anthropicAgent, chatAgent, geminiAgent } from './support/agent-protocols.ts'
import { expectWork } from './support/expect-work.ts'
import { claudeCodeArguments, claudeCodeVariables } from './support/program-arguments.ts'
import { findProgram } from './support/programs.ts'
import { startWorkbench, type WorkbenchOptions } from './support/workbench.ts'

const program = findProgram('claude')
const timeoutMs = 120_000

function start(options: Partial<WorkbenchOptions> = {}) {
  return startWorkbench({
    tool: 'claude-code',
    program: program ?? '',
    protocol: chatAgent,
    plan: claudeCodePlan,
    ...options,
  })
}

describe.skipIf(program === undefined)('Claude Code, if it is installed,', () => {
  test.each([
    ['an OpenAI-compatible provider', chatAgent],
    ['Gemini', geminiAgent],
    ['Anthropic', anthropicAgent],
  ])(
    'runs a command and edits a file with a model of %s',
    async (_, protocol) => {
      await using bench = await start({ protocol })
      const result = await bench.run(claudeCodeArguments, { environment: claudeCodeVariables })
      await expectWork(bench, result, 'messages')
    },
    timeoutMs,
  )

  test(
    'works with its own model names as aliases, and with the key as ANTHROPIC_API_KEY',
    async () => {
      await using bench = await start({ aliases: ['claude-sonnet-4-5-20250929', 'claude-haiku-4-5'] })
      const result = await bench.run(claudeCodeArguments, {
        environment: {
          ...claudeCodeVariables,
          ANTHROPIC_AUTH_TOKEN: undefined,
          ANTHROPIC_API_KEY: bench.key,
          ANTHROPIC_MODEL: 'claude-sonnet-4-5-20250929',
          ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-haiku-4-5',
        },
      })
      await expectWork(bench, result, 'messages')
      expect(new Set(bench.usage().map(({ model }) => model))).toEqual(new Set(['acme/river']))
    },
    timeoutMs,
  )

  test(
    'continues a conversation, whose earlier calls and results reach the model',
    async () => {
      await using bench = await start()
      await bench.run(claudeCodeArguments, { environment: claudeCodeVariables })
      const first = bench.provider.requests.length
      const result = await bench.run([...claudeCodeArguments, '--continue'], {
        environment: claudeCodeVariables,
      })
      await expectWork(bench, result, 'messages')
      const continued = JSON.stringify(bench.provider.requests.slice(first).at(-1))
      expect(continued).toContain(notes.first)
      expect(continued).toContain('"tool_call_id"')
    },
    timeoutMs,
  )

  test(
    'goes on when Weir rejects its web search, which is a request of its own',
    async () => {
      const plan: AgentPlan = (_, results) =>
        results.length === 0
          ? { type: 'call', name: 'WebSearch', arguments: { query: 'rivers' } }
          : { type: 'text', text: lastWord }
      await using bench = await start({ plan: () => plan })
      const flags = ['-p', 'Search for rivers.', '--allowedTools', 'WebSearch']
      const result = await bench.run(flags, { environment: claudeCodeVariables })
      expect(result).toMatchObject({ code: 0, out: `${lastWord}\n` })
      const [output] = chatAgent.results(bench.provider.requests[1] ?? {})
      expect(output).toMatch(/Unsupported tool: 'web_search_\d+' is not supported/)
      expect(bench.provider.requests).toHaveLength(2)
    },
    timeoutMs,
  )
})
