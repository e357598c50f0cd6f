import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runWeir } from './support/run-weir.ts'
import { weirCommand } from '../support/weir-command.ts'

const key = 'sk-weir-Test00000000-SecretSecretSecretSecretSecret00'
const home = await mkdtemp(join(tmpdir(), 'weir-reload-'))
afterAll(() => rm(home, { recursive: true }))

const write = (yaml: string) => Bun.write(join(home, 'weir.yaml'), yaml)
const withAlias = (alias: string) => `providers: { echo: {} }
models: [{ slug: acme/mirror, aliases: [${alias}], routes: [{ provider: echo, model: echo }] }]
limits: { requests_per_minute: ${alias.length * 100} }
`

test('SIGHUP applies the current settings, and invalid ones change nothing', async () => {
  await write(withAlias('one'))
  await using child = start()
  const url = await child.said(child.output, /listens on (\S+)\n/)
  const ask = (model: string) =>
    fetch(`${url}/v1/models/${model}`, { headers: { authorization: `Bearer ${key}` } })

  const before = await ask('one')
  expect([before.status, before.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '300'])
  expect((await ask('three')).status).toBe(404)

  await write(withAlias('three'))
  process.kill(child.pid, 'SIGHUP')
  await child.said(child.log, /(The settings were reloaded)/)
  const after = await ask('three')
  expect([after.status, after.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '500'])
  expect((await ask('one')).status).toBe(404)

  const added = { slug: 'acme/added', routes: [{ provider: 'echo', model: 'echo' }] }
  const update = { sources: [], models: [added], ended: [] }
  await Bun.write(join(home, '.local/share/weir/catalog.json'), JSON.stringify(update))
  process.kill(child.pid, 'SIGHUP')
  await child.said(child.log, /The settings were reloaded.*(catalog \(added\))/)
  expect((await ask('acme/added')).status).toBe(200)

  await write('retries: { attempt: 3 }\n')
  process.kill(child.pid, 'SIGHUP')
  expect(
    await child.said(child.log, /The settings could not be reloaded and are unchanged.*(retries\.attempt)/),
  ).toBe('retries.attempt')
  expect((await ask('three')).status).toBe(200)

  // A reload that changes nothing, and one that is refused, have no entry.
  await write(withAlias('three'))
  process.kill(child.pid, 'SIGHUP')
  await child.said(child.log, /(The settings were reloaded.*"changed":"nothing"|changed[^\n]*nothing)/)
  const entries = await auditedReloads()
  const changed = ['models.acme/mirror.aliases', 'limits.requests_per_minute']
  expect(entries.map(({ after }) => after?.changed?.toSorted())).toEqual([
    ['catalog (added)'],
    changed.toSorted(),
  ])
  expect(entries[0]).toMatchObject({
    actor: { type: 'settings' },
    source: 'server',
    resource: { type: 'settings' },
  })
})

type Entry = { readonly after: { readonly changed?: readonly string[] } | null }

/** The entries about reloads, the newest first. */
async function auditedReloads(): Promise<readonly Entry[]> {
  const { out } = await runWeir(['audit', '--event', 'settings.reloaded', '--json'], home, { HOME: home })
  return (JSON.parse(out) as { readonly data: readonly Entry[] }).data
}

function start() {
  const child = Bun.spawn([...weirCommand, 'serve', '--port', '0'], {
    cwd: home,
    env: { HOME: home, WEIR_BOOTSTRAP_KEY: key },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return {
    pid: child.pid,
    output: textOf(child.stdout),
    log: textOf(child.stderr),
    said: whatMatches,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

async function* textOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const bytes of stream) yield decoder.decode(bytes, { stream: true })
}

/** Reads on until the pattern is there, and gives its first group. */
async function whatMatches(text: AsyncGenerator<string>, pattern: RegExp): Promise<string> {
  let output = ''
  for (let next = await text.next(); !next.done; next = await text.next()) {
    output += next.value
    const [, found] = pattern.exec(output) ?? []
    if (found !== undefined) return found
  }
  throw new Error(`The program ended without saying ${pattern}. It said: ${output}`)
}
