import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { sharedPostgres } from '../../support/postgres/server.ts'
import { weirCommand } from '../../support/weir-command.ts'
import type { Fence, MarkdownPage } from './markdown-page.ts'
import { firstDifference } from './output-pattern.ts'
import { ShellSession } from './shell-session.ts'

/** The ports in the pages, the first one that of the server; free ones take their place while a page runs. */
const documentedPorts = [9347, 9348, 9349] as const
const defaultBlockTimeoutMs = 30_000
const startTimeoutMs = 20_000
/** In a page that contains this, the runner starts the server before the first block, and exports its first key. */
const serverDirective = '<!-- runner: server -->'
/** A page that contains this finds the URL of an empty PostgreSQL database in DATABASE_URL. */
const postgresDirective = '<!-- runner: postgres -->'

/** A block that runs, and the output that the page shows below it. */
export type RunnableBlock = { readonly script: Fence; readonly output?: Fence }

/** Returns the blocks of a page that are marked `sh runnable`, each with the `text output` block that follows it. */
export function runnableBlocks({ fences }: MarkdownPage): RunnableBlock[] {
  return fences.flatMap((script, index) => {
    if (script.language !== 'sh' || !script.flags.includes('runnable')) return []
    const next = fences[index + 1]
    return [{ script, output: next?.flags.includes('output') ? next : undefined }]
  })
}

/** Whether the blocks of a page need a PostgreSQL server on this machine. */
export function needsPostgres({ text }: MarkdownPage): boolean {
  return text.includes(postgresDirective)
}

/** Runs the blocks of a page in order, in an empty folder; throws at the first that fails, with its page and line. */
export async function runPage(page: MarkdownPage, blockTimeoutMs = defaultBlockTimeoutMs): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-docs-'))
  const server = needsPostgres(page) ? await sharedPostgres() : undefined
  const database = await server?.createDatabase()
  try {
    const ports = await freePorts(documentedPorts.length)
    await using session = await startSession(folder, ports[0] ?? 0, database)
    const context = { page, session, ports, blockTimeoutMs }
    const run = (block: RunnableBlock) => runBlock(block, context)
    if (page.text.includes(serverDirective)) {
      await run(commandBlock('weir serve &'))
      await run(commandBlock('export WEIR_API_KEY=sk-weir-…'))
    }
    for (const block of runnableBlocks(page)) await run(block)
  } finally {
    if (database !== undefined) await server?.dropDatabase(database)
    await rm(folder, { recursive: true, force: true })
  }
}

function commandBlock(text: string): RunnableBlock {
  return { script: { language: 'sh', flags: ['runnable'], text, line: 1 } }
}

async function startSession(
  folder: string,
  port: number,
  database: string | undefined,
): Promise<ShellSession> {
  const [bin, home, cwd, scripts] = ['bin', 'home', 'work', 'scripts'].map((name) => join(folder, name))
  if (bin === undefined || home === undefined || cwd === undefined || scripts === undefined)
    throw new Error('There are four folders.')
  for (const path of [bin, home, cwd, scripts]) await mkdir(path)
  const shim = join(bin, 'weir')
  await Bun.write(shim, `#!/bin/sh\nexec ${weirCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`)
  await chmod(shim, 0o755)
  const path = [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  const environment = {
    PATH: path,
    HOME: home,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    WEIR_PORT: `${port}`,
    // An Ollama that happens to run on this machine is not part of the page.
    OLLAMA_HOST: '127.0.0.1:1',
    ...(database !== undefined && { DATABASE_URL: database }),
  }
  return new ShellSession({ folder: scripts, cwd, environment })
}

type PageContext = {
  readonly page: MarkdownPage
  readonly session: ShellSession
  /** Those in the places of the documented ones. */
  readonly ports: readonly number[]
  readonly blockTimeoutMs: number
}

async function runBlock({ script, output }: RunnableBlock, context: PageContext): Promise<void> {
  const { page, session, ports, blockTimeoutMs } = context
  const earlier = await session.allOutput()
  await recordUsage(earlier, ports)
  const text = replaceEach(script.text, documentedPorts, ports)
  const result = await session.run(fillIds(text, earlier), blockTimeoutMs)
  if (result.failedLine !== undefined)
    throw new Error(
      `${page.path}:${script.line + result.failedLine - 1}: ${result.reason}:\n${result.output}`,
    )
  const started = startedPorts(text, context)
  for (const port of started) await waitUntilReady(port, script, context)
  if (output === undefined) return
  // A server writes its first lines after its block has ended.
  const shown = started.length > 0 ? await session.lastOutput() : result.output
  const actual = replaceEach(shown, ports, documentedPorts)
  const difference = firstDifference(output.text, actual)
  if (difference !== null)
    throw new Error(`${page.path}:${output.line}: the output has ${difference}\nAll of it:\n${actual}`)
}

/** Makes the servers record the usage of earlier blocks: a report does, before it is read. The others do so soon. */
async function recordUsage(printed: string, ports: readonly number[]): Promise<void> {
  const headers = { authorization: `Bearer ${fillIds('sk-weir-…', printed)}` }
  for (const port of ports)
    await fetch(`http://127.0.0.1:${port}/v1/organization/costs`, { headers }).catch(() => {})
}

/** Puts the last id or key of the same kind that was printed into the place of one like `resp_…` or `sk-weir-…`. */
function fillIds(script: string, printed: string): string {
  return script.replaceAll(/\b(sk-weir-|[a-z]+[_-])…/g, (placeholder, prefix: string) => {
    const value = `${prefix}[0-9A-Za-z][0-9A-Za-z-]{7,}`
    const find = (pattern: string) => [...printed.matchAll(new RegExp(pattern, 'g'))].at(-1)?.[1]
    // An object may also contain ids of others, after its own.
    return find(`"id":"(${value})"`) ?? find(`\\b(${value})`) ?? placeholder
  })
}

function replaceEach(text: string, from: readonly number[], to: readonly number[]): string {
  return from.reduce((text, port, index) => text.replaceAll(`${port}`, `${to[index]}`), text)
}

/** The ports of the servers that a script starts in the background. */
function startedPorts(script: string, { ports }: PageContext): readonly number[] {
  const starts = script.matchAll(/^(?:[A-Z_]+=\S+ )*weir\b([^\n]*[^&])&\s*$/gm)
  return [...starts].map(([, flags = '']) => Number(/--port (\d+)/.exec(flags)?.[1] ?? ports[0]))
}

async function waitUntilReady(port: number, { line }: Fence, { page, session }: PageContext): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return
    if (Date.now() > deadline)
      throw new Error(`${page.path}:${line}: the server did not start:\n${await session.allOutput()}`)
    await Bun.sleep(50)
  }
}

/** Different ones, of which no other test takes one before a server of the page does. */
async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}
