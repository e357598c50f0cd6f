import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { claudeCodePlan, codexPlan, lastWord, notes } from './support/agent-plan.ts'
import { chatAgent } from './support/agent-protocols.ts'
import { brokenStream, rejection } from './support/agent-provider.ts'
import {
  claudeCodeArguments,
  claudeCodeVariables,
  codexArguments,
  silenceCodex,
} from './support/program-arguments.ts'
import { findProgram } from './support/programs.ts'
import type { ProgramResult } from './support/run-program.ts'
import { startWorkbench, type Workbench } from './support/workbench.ts'

const wrongKey = 'sk-weir-Wrong0000000-SecretSecretSecretSecretSecret00'
const timeoutMs = 120_000

/** How one of the programs is started and run. */
type Case = {
  readonly name: string
  readonly program: string | undefined
  readonly api: string
  readonly keyVariable: string
  start(): Promise<Workbench>
  run(bench: Workbench, options?: CaseOptions): Promise<ProgramResult>
}

type CaseOptions = {
  readonly environment?: Readonly<Record<string, string>>
  /** Whether it may repeat a failed request, for minutes. True by default. */
  readonly patient?: boolean
}

const claudeProgram = findProgram('claude')
const codexProgram = findProgram('codex')

const programs: readonly Case[] = [
  {
    name: 'Claude Code',
    program: claudeProgram,
    api: 'messages',
    keyVariable: 'ANTHROPIC_AUTH_TOKEN',
    start: () =>
      startWorkbench({
        tool: 'claude-code',
        program: claudeProgram ?? '',
        protocol: chatAgent,
        plan: claudeCodePlan,
        recorded: true,
      }),
    run: (bench, { environment, patient = true } = {}) => {
      const retries = patient ? {} : { CLAUDE_CODE_MAX_RETRIES: '1' }
      return bench.run(claudeCodeArguments, {
        environment: { ...claudeCodeVariables, ...retries, ...environment },
      })
    },
  },
  {
    name: 'Codex',
    program: codexProgram,
    api: 'responses',
    keyVariable: 'WEIR_API_KEY',
    async start() {
      const settings = { compatibility: { function_tools: true } }
      const plan = () => codexPlan
      const program = codexProgram ?? ''
      const bench = await startWorkbench({
        tool: 'codex',
        program,
        protocol: chatAgent,
        plan,
        settings,
        recorded: true,
      })
      await silenceCodex(bench)
      return bench
    },
    run: (bench, { environment, patient = true } = {}) => {
      const retries = ['stream_max_retries=0', 'request_max_retries=1']
      const flags = patient ? [] : retries.flatMap((setting) => ['-c', `model_providers.weir.${setting}`])
      return bench.run([...codexArguments, ...flags], { environment })
    },
  },
]

for (const { name, program, api, keyVariable, start, run } of programs)
  describe.skipIf(program === undefined)(`${name}, if it is installed,`, () => {
    test(
      'ends soon with a wrong key, and says why',
      async () => {
        await using bench = await start()
        const result = await run(bench, { environment: { [keyVariable]: wrongKey } })
        expect(result.code).toBe(1)
        expect(result.out + result.err).toContain('Invalid API key. It may be mistyped, expired or revoked.')
        expect(result.durationMs).toBeLessThan(30_000)
        expect(bench.provider.requests).toEqual([])
      },
      timeoutMs,
    )

    test(
      'shows the message with which a provider rejects a request',
      async () => {
        await using bench = await start()
        bench.provider.respondWith(rejection(400, 'The valve is stuck.'))
        const result = await run(bench)
        expect(result.code).toBe(1)
        expect(result.out + result.err).toContain('The valve is stuck.')
        expect(bench.provider.requests).toHaveLength(1)
      },
      timeoutMs,
    )

    test(
      'shows that a provider fails, and which',
      async () => {
        await using bench = await start()
        bench.provider.respondWith(rejection(500, 'The pump has failed.'))
        const result = await run(bench, { patient: false })
        expect(result.code).toBe(1)
        expect(result.out + result.err).toContain('The provider acme failed: it returned status 500.')
        expect(result.out + result.err).not.toContain('The pump has failed.')
      },
      timeoutMs,
    )

    test.each([
      ['a text', { content: 'The note is' }],
      ['a call', { tool_calls: [beginningOfCall] }],
    ])(
      'sends a request again whose stream breaks in the middle of %s, and does its work',
      async (_, delta) => {
        await using bench = await start()
        const frame = { choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] }
        bench.provider.respondWith(brokenStream([frame], bench.recorder.nextResponse))
        const result = await run(bench)
        expect({ code: result.code, out: result.out }).toEqual({
          code: 0,
          out: expect.stringContaining(lastWord),
        })
        expect(bench.usage()[0]).toMatchObject({ api, error: 'upstream_unavailable' })
        // The call was not executed: the first result is that of the call that was made again.
        expect(chatAgent.results(bench.provider.requests[1] ?? {})).toEqual([])
        expect(await Bun.file(join(bench.work, notes.path)).text()).toBe(`${notes.last}\n`)
      },
      timeoutMs,
    )
  })

const beginningOfCall = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'exec_command', arguments: '{"cmd":"touch ' },
}
