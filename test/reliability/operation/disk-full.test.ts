import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBillingDatabase, waitUntil } from '../../support/billing-database.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { silence } from '../../support/script.ts'
import { createUpstream, type Upstream } from '../../support/upstream.ts'
import { weirCommand } from '../../support/weir-command.ts'
import { startWeir, type WeirProcess } from './support/weir-process.ts'

const linux = process.platform === 'linux'
const canLimit = linux && Bun.which('prlimit') !== null
/** A mount of its own needs rights, or a kernel that gives them to everybody in a namespace. */
const canMount =
  linux && Bun.which('unshare') !== null && run('unshare', '-rm', 'mount', '-t', 'tmpfs', 'x', '/mnt')

function run(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).success
}

function settingsFor({ url }: Upstream) {
  return {
    providers: { acme: { kind: 'openai-compatible', base_url: url, api_key: 'sk-provider' } },
    models: [
      {
        slug: 'acme/river',
        pricing,
        max_output_tokens: 100,
        routes: [{ provider: 'acme', model: 'river-1' }],
      },
    ],
  }
}

/** A question that leaves something behind: the usage of a request with many tags. */
const wide = {
  ...chatRequest,
  tags: Array.from({ length: 16 }, (_, index) => `tag-${index}-${'x'.repeat(40)}`),
}

/** Asks until a write has failed; from then on nobody is asked any more. */
async function fill(weir: WeirProcess): Promise<void> {
  for (let count = 0; count < 2000; count++) {
    const reply = await weir.chat(wide)
    await reply.text()
    if (reply.status === 503) return
  }
  throw new Error('It was never full.')
}

async function expectRefused(weir: WeirProcess, upstream: Upstream, why: string): Promise<void> {
  const requested = upstream.requests.length
  for (let count = 0; count < 3; count++)
    expect(await readError(await weir.chat(chatRequest))).toMatchObject({
      status: 503,
      code: 'service_unavailable',
    })
  expect(upstream.requests.length).toBe(requested)
  const { status, message } = await readError(await weir.fetch('/readyz'))
  expect([status, message]).toEqual([503, `The gateway is not ready. The database ${why}.`])
}

async function expectRecovered(weir: WeirProcess): Promise<void> {
  await waitUntil(async () => (await weir.fetch('/readyz')).status === 200, 'a recovery')
  expect((await weir.chat(chatRequest)).status).toBe(200)
}

test.skipIf(!canLimit)(
  'a database that cannot grow is a 503 before any provider is called, until it can',
  async () => {
    await using upstream = await createUpstream(jsonReply())
    const folder = temporaryFolder()
    await using weir = await startWeir({ settings: settingsFor(upstream), folder })
    expect((await weir.chat(chatRequest)).status).toBe(200)
    const { size } = Bun.file(join(folder, 'weir.db-wal'))
    const limit = (bytes: string) => run('prlimit', '--pid', String(weir.pid), `--fsize=${bytes}:unlimited`)
    expect(limit(String(size + 20_000))).toBe(true)
    await fill(weir)
    await expectRefused(weir, upstream, 'cannot be read or written')
    expect(limit('unlimited')).toBe(true)
    await expectRecovered(weir)
  },
)

test.skipIf(!canMount)(
  'a full disk is a 503 before any provider is called, until there is space',
  async () => {
    await using upstream = await createUpstream(jsonReply())
    const folder = temporaryFolder()
    const gate = join(folder, 'gate')
    mkdirSync(gate)
    // The program sees a small disk that nobody else sees; files in the gate say what is to happen to it.
    const script = `mount -t tmpfs -o size=3m disk "$HOME/data"
(while [ ! -e "$HOME/gate/fill" ]; do sleep 0.05; done
 dd if=/dev/zero of="$HOME/data/filler" bs=4k 2>/dev/null; touch "$HOME/gate/filled"
 while [ ! -e "$HOME/gate/free" ]; do sleep 0.05; done
 rm "$HOME/data/filler") &
exec "$@"`
    mkdirSync(join(folder, 'data'))
    await using weir = await startWeir({
      settings: settingsFor(upstream),
      folder,
      flags: ['--data', join(folder, 'data')],
      wrapper: ['unshare', '-rm', 'sh', '-c', script, 'sh'],
    })
    expect((await weir.chat(chatRequest)).status).toBe(200)
    writeFileSync(join(gate, 'fill'), '')
    await waitUntil(() => existsSync(join(gate, 'filled')), 'a full disk')
    await fill(weir)
    await expectRefused(weir, upstream, 'is out of disk space')
    writeFileSync(join(gate, 'free'), '')
    await expectRecovered(weir)
  },
)

test.skipIf(!canMount)('a start on a read-only disk is one error line and exit code 1', async () => {
  const folder = temporaryFolder()
  const script = `mount -t tmpfs disk "$HOME/data" && mount -o remount,ro "$HOME/data" && exec "$@"`
  mkdirSync(join(folder, 'data'))
  const starting = startWeir({
    settings: {},
    folder,
    flags: ['--data', join(folder, 'data')],
    wrapper: ['unshare', '-rm', 'sh', '-c', script, 'sh'],
  })
  const output = await starting.then(
    () => 'It started.',
    (error: Error) => error.message,
  )
  expect(output).toMatch(/^The program ended\. It said: [^\n]*data[^\n]*read-only[^\n]*\n$/)
  rmSync(join(folder, 'data'), { recursive: true, force: true })
})

test.skipIf(!canMount).each([
  [
    'full',
    'dd if=/dev/zero of=data/filler bs=4k 2>/dev/null',
    'The disk of DATA is full. Free some space, or ',
  ],
  ['read-only', 'mount -o remount,ro data', 'DATA is on a read-only file system.'],
  ['empty', 'true', undefined],
])('weir check on a disk that is %s', async (_, change, problem) => {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  mkdirSync(data)
  const script = `mount -t tmpfs -o size=3m disk data; ${change}; ls -A data > before
"$@"; code=$?; ls -A data > after; exit $code`
  const child = Bun.spawn(
    ['unshare', '-rm', 'sh', '-c', script, 'sh', ...weirCommand, 'check', '--json', '--data', data],
    { cwd: folder, env: { HOME: folder, PATH: process.env.PATH }, stdout: 'pipe', stderr: 'ignore' },
  )
  const [out, code] = await Promise.all([child.stdout.text(), child.exited])
  const { problems } = JSON.parse(out) as { readonly problems: readonly { readonly message: string }[] }
  const expected = problem === undefined ? [] : [expect.stringContaining(problem.replace('DATA', data))]
  expect(problems.map(({ message }) => message)).toEqual(expected)
  expect(code).toBe(problem === undefined ? 0 : 1)
  expect(await Bun.file(join(folder, 'after')).text()).toBe(await Bun.file(join(folder, 'before')).text())
})

/** Leaves a database with the reservation of a request whose process was killed. */
async function leaveReservation(folder: string): Promise<void> {
  await using upstream = await createUpstream(silence)
  await using weir = await startWeir({ settings: settingsFor(upstream), folder })
  await using billing = await openBillingDatabase(join(folder, 'weir.db'))
  await billing.fund('default', '1')
  const reply = weir.chat(chatRequest).catch(() => undefined)
  await upstream.request(0)
  weir.signal('SIGKILL')
  await reply
  expect(await billing.openReservations()).toBe(1)
}

test.skipIf(!canMount)(
  'a start on a full disk that cannot settle what a killed process left open ends, and a later one settles it',
  async () => {
    const folder = temporaryFolder()
    await leaveReservation(folder)
    await using upstream = await createUpstream(jsonReply())
    const options = { settings: settingsFor(upstream), folder }
    const script = `mount -t tmpfs -o size=3m disk "$HOME/full" && cp "$HOME"/weir.* "$HOME/full"
dd if=/dev/zero of="$HOME/full/filler" bs=4k 2>/dev/null
exec "$@"`
    mkdirSync(join(folder, 'full'))
    const full = startWeir({
      ...options,
      flags: ['--data', join(folder, 'full')],
      wrapper: ['unshare', '-rm', 'sh', '-c', script, 'sh'],
    })
    const reason = /^The program ended\. It said: (\{[^\n]*\n)?The database is out of disk space\.\n$/
    await expect(full.catch((error: Error) => error.message)).resolves.toMatch(reason)
    await using weir = await startWeir(options)
    await weir.logged(/Open requests of a process that was killed were settled/)
    await using billing = await openBillingDatabase(join(folder, 'weir.db'))
    expect(await billing.openReservations()).toBe(0)
    expect((await weir.chat(chatRequest)).status).toBe(200)
  },
)

test.skipIf(!canMount)('an import on a full disk leaves no file, so that it can be repeated', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'full'))
  const source =
    'model_list: [{ model_name: chat, litellm_params: { model: openai/gpt-6-luna, api_key: os.environ/KEY } }]'
  writeFileSync(join(folder, 'config.yaml'), source)
  const script = `mount -t tmpfs -o size=1m disk full
dd if=/dev/zero of=full/filler bs=4k 2>/dev/null
"$@"; ls full; rm full/filler; "$@"`
  const command = [...weirCommand, 'import', 'litellm', 'config.yaml', '--out', 'full/weir.yaml']
  const child = Bun.spawn(['unshare', '-rm', 'sh', '-c', script, 'sh', ...command], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env.PATH },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const file = join(folder, 'full/weir.yaml')
  expect(await child.stdout.text()).toStartWith(`filler\nWrote ${file}: `)
  expect(await child.stderr.text()).toStartWith(`${file} cannot be written: the disk is full (ENOSPC).\n`)
})
