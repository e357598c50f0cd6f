import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fieldsOf, listOf } from '../../../src/lib/json/json.ts'
import type { AgentFixture, AgentName, AgentVariant } from '../../support/agent-fixture.ts'
import { claudeCodePlan, codexPlan } from './agent-plan.ts'
import { chatAgent } from './agent-protocols.ts'
import {
  agentRuns,
  claudeCodeArguments,
  claudeCodeVariables,
  codexArguments,
  silenceCodex,
} from './program-arguments.ts'
import { findProgram, type ProgramName } from './programs.ts'
import type { RecordedRequest } from './recorder.ts'
import { shapeOf, shapeOfHeaders, toolsByKey } from './request-shape.ts'
import { runProgram } from './run-program.ts'
import { startWorkbench, type WorkbenchOptions } from './workbench.ts'

/** How a program is configured for a variant. */
type Configuration = {
  readonly name: string
  readonly slug: string
  readonly aliases?: readonly string[]
  readonly flags?: readonly string[]
  readonly environment?: (key: string) => Readonly<Record<string, string | undefined>>
}

type Recordable = {
  readonly program: ProgramName
  readonly options: Pick<WorkbenchOptions, 'tool' | 'plan'>
  readonly args: readonly string[]
  readonly path: string
  readonly configurations: readonly Configuration[]
}

const claudeName = 'claude-sonnet-4-5-20250929'

function recordable(tool: keyof typeof agentRuns): Recordable {
  const { program, args, environment, plan } = agentRuns[tool]
  const configuration = { name: 'a model', slug: 'acme/river', environment: () => environment }
  const path = '/v1/chat/completions'
  return { program, options: { tool, plan }, args, path, configurations: [configuration] }
}

const recordables: Record<AgentName, Recordable> = {
  'claude-code': {
    program: 'claude',
    options: { tool: 'claude-code', plan: claudeCodePlan },
    args: claudeCodeArguments,
    path: '/v1/messages',
    configurations: [
      { name: 'a model of another name', slug: 'acme/river', environment: () => claudeCodeVariables },
      {
        name: 'an alias with a name of Claude, and an API key',
        slug: 'acme/river',
        aliases: [claudeName],
        environment: (key) => ({
          ...claudeCodeVariables,
          ANTHROPIC_AUTH_TOKEN: undefined,
          ANTHROPIC_API_KEY: key,
          ANTHROPIC_MODEL: claudeName,
        }),
      },
    ],
  },
  codex: {
    program: 'codex',
    options: { tool: 'codex', plan: () => codexPlan },
    args: codexArguments,
    path: '/v1/responses',
    configurations: [
      { name: 'a model that it does not know', slug: 'acme/river' },
      {
        name: 'agents and web search',
        slug: 'acme/river',
        flags: ['-c', 'agents.enabled=true', '-c', 'web_search="live"'],
      },
      { name: 'a model that it knows', slug: 'openai/gpt-5.5' },
      {
        name: 'a model that it knows, with agents',
        slug: 'openai/gpt-5.5',
        flags: ['-c', 'agents.enabled=true'],
      },
    ],
  },
  copilot: recordable('copilot'),
  opencode: recordable('opencode'),
  kilo: recordable('kilo'),
  'qwen-code': recordable('qwen-code'),
  pi: recordable('pi'),
  cline: recordable('cline'),
}

/** Runs a program in each of its configurations and returns the form of its requests; undefined if it is not installed. */
export async function recordAgent(name: AgentName): Promise<AgentFixture | undefined> {
  const recordable = recordables[name]
  const program = findProgram(recordable.program)
  const version = await installedVersion(name)
  if (program === undefined || version === undefined) return undefined
  const tools: Record<string, AgentFixture['tools'][string]> = {}
  const variants: AgentVariant[] = []
  for (const configuration of recordable.configurations) {
    const { headers, path, body } = await lastRequest(recordable, program, configuration)
    const shaped = shapeOf(body ?? {})
    const conversationProperty = 'messages' in shaped ? 'messages' : 'input'
    const offered = toolsByKey(shaped)
    Object.assign(tools, offered)
    const { tools: _, [conversationProperty]: conversation, ...rest } = shaped
    variants.push({
      name: configuration.name,
      path,
      headers: shapeOfHeaders(headers),
      body: rest,
      tools: Object.keys(offered),
      conversationProperty,
      conversation: listOf(conversation).map(fieldsOf),
    })
  }
  return { program: name, version, tools, variants }
}

/** Returns the version of a program; undefined if it is not installed. */
export async function installedVersion(name: AgentName): Promise<string | undefined> {
  const program = findProgram(recordables[name].program)
  if (program === undefined) return undefined
  const home = await mkdtemp(join(tmpdir(), 'weir-version-'))
  const environment = { PATH: process.env.PATH ?? '', HOME: home }
  const options = { cwd: home, environment, timeoutMs: 30_000 }
  const { out } = await runProgram([program, '--version'], options).finally(() =>
    rm(home, { recursive: true, force: true }),
  )
  return /\d+\.\d+\.\d+/.exec(out)?.[0]
}

/** The last request of a task with all of its tools, which contains the whole conversation. */
async function lastRequest(
  { options, args, path }: Recordable,
  program: string,
  { slug, aliases, flags = [], environment }: Configuration,
): Promise<RecordedRequest> {
  const settings = { compatibility: { function_tools: true }, unsupported_parameters: 'drop' }
  await using bench = await startWorkbench({
    ...options,
    program,
    slug,
    aliases,
    settings,
    protocol: chatAgent,
    recorded: true,
  })
  if (options.tool === 'codex') await silenceCodex(bench)
  await bench.run([...args, ...flags], { environment: environment?.(bench.key) })
  const requests = bench.recorder.requests.filter((request) => request.path.startsWith(path))
  const most = Math.max(...requests.map(toolCount))
  const request = requests.findLast((request) => toolCount(request) === most)
  if (request === undefined) throw new Error(`${program} has sent no request to ${path}.`)
  return request
}

/** Helpers of the program, such as one that makes a title, have fewer tools than itself. */
function toolCount({ body }: RecordedRequest): number {
  return listOf(body?.tools).length
}
