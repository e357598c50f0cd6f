import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chatOutput, chunks, delta, doneFrame, framesOf, jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { execute } from '../../support/postgres/server.ts'
import { createUpstream } from '../../support/upstream.ts'
import { canRunWorkers, isRunning, startWorkers, type WeirWorkers } from './support/weir-workers.ts'

const stream = { ...chatRequest, stream: true }

function settingsFor(provider: string, more: object = {}) {
  return {
    providers: { acme: { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' } },
    models: [{ slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }],
    ...more,
  }
}

test.if(canRunWorkers)('SIGTERM drains all workers: open streams complete, and nothing is left', async () => {
  const frames = framesOf(chatOutput())
  const gate = Promise.withResolvers<void>()
  await using upstream = await createUpstream(
    chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)]),
  )
  await using weir = await startWorkers(2, { settings: settingsFor(upstream.url), folder: temporaryFolder() })
  const workers = weir.workers()
  const readers = (await Promise.all(Array.from({ length: 10 }, () => weir.chat(stream)))).map(readPieces)
  await Promise.all(readers.map((reader) => reader.until('It is ')))
  // systemd sends it to every process of the service.
  for (const pid of [weir.pid, ...workers]) process.kill(pid, 'SIGTERM')
  await weir.logged(/The gateway is shutting down/)
  gate.resolve()
  for (const reader of readers) expect(await reader.rest()).toEndWith(doneFrame)
  expect(await weir.exited).toBe(0)
  expect(workers.filter(isRunning)).toEqual([])
  await weir.readToEnd
  expect(weir.log().match(/shutting down/g)).toHaveLength(1)
  expect(weir.requestLines()).toHaveLength(10)
})

test.if(canRunWorkers)('SIGUSR1 and SIGUSR2 end neither the supervisor nor a worker', async () => {
  await using upstream = await createUpstream(jsonReply())
  await using weir = await startWorkers(2, { settings: settingsFor(upstream.url), folder: temporaryFolder() })
  const workers = weir.workers()
  for (const pid of [weir.pid, ...workers])
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.kill(pid, signal)
  for (let count = 0; count < 20; count++) expect((await weir.chat(chatRequest)).status).toBe(200)
  expect(weir.workers()).toEqual(workers)
  expect(weir.log()).not.toContain('A worker has ended')
})

test.if(canRunWorkers)('a second stop signal ends all workers immediately', async () => {
  await using upstream = await createUpstream(chunks([delta({ content: 'eight ch' })], hang))
  await using weir = await startWorkers(2, {
    settings: settingsFor(upstream.url),
    folder: temporaryFolder(),
    flags: ['--drain', '1h'],
  })
  const readers = (await Promise.all(Array.from({ length: 10 }, () => weir.chat(stream)))).map(readPieces)
  await Promise.all(readers.map((reader) => reader.until('eight ch')))
  weir.signal('SIGINT')
  await weir.logged(/The gateway is shutting down/)
  // The same signal twice within a moment is one.
  await Bun.sleep(400)
  weir.signal('SIGINT')
  for (const reader of readers) expect(await reader.rest()).toContain('"code":"interrupted"')
  expect(await weir.exited).toBe(0)
})

test.if(canRunWorkers)('streams that outlast --drain end with an error at every worker', async () => {
  await using upstream = await createUpstream(chunks([delta({ content: 'eight ch' })], hang))
  await using weir = await startWorkers(2, {
    settings: settingsFor(upstream.url),
    folder: temporaryFolder(),
    flags: ['--drain', '200ms'],
  })
  const readers = (await Promise.all(Array.from({ length: 10 }, () => weir.chat(stream)))).map(readPieces)
  await Promise.all(readers.map((reader) => reader.until('eight ch')))
  weir.signal('SIGTERM')
  for (const reader of readers) expect(await reader.rest()).toContain('"code":"interrupted"')
  expect(await weir.exited).toBe(0)
})

test.if(canRunWorkers)(
  'SIGHUP reloads all workers and is logged once, and invalid settings change none of them',
  async () => {
    await using upstream = await createUpstream(jsonReply())
    const folder = temporaryFolder()
    const write = (settings: object) => Bun.write(join(folder, 'weir.yaml'), JSON.stringify(settings))
    await using weir = await startWorkers(3, { settings: settingsFor(upstream.url), folder })
    /** The limits that 30 connections see: those of all workers. */
    const limits = async () => {
      const replies = await Promise.all(Array.from({ length: 30 }, () => weir.chat(chatRequest)))
      return new Set(replies.map(({ headers }) => headers.get('x-ratelimit-limit-requests')))
    }
    expect(await limits()).toEqual(new Set(['6000']))

    await write(settingsFor(upstream.url, { limits: { requests_per_minute: 70 }, workers: 5 }))
    weir.signal('SIGHUP')
    await weir.logged(/The settings were reloaded/)
    expect(await limits()).toEqual(new Set(['70']))
    const [line = ''] = weir
      .log()
      .split('\n')
      .filter((line) => line.includes('reloaded'))
    expect(JSON.parse(line)).toMatchObject({
      changed: 'limits.requests_per_minute',
      at_next_start: 'workers',
    })
    expect(weir.log().match(/were reloaded/g)).toHaveLength(1)

    await write(settingsFor(upstream.url, { limits: { requests_per_minute: -1 } }))
    weir.signal('SIGHUP')
    await weir.logged(/could not be reloaded and are unchanged.*limits\.requests_per_minute/)
    // One worker records the first reload, after it is logged, and none the second one.
    const changed = ['limits.requests_per_minute', 'workers']
    expect(await recordedReloads(weir)).toEqual([
      { actor_type: 'settings', after: JSON.stringify({ changed }) },
    ])
    // A worker that starts now has the settings of the others, not those of the file.
    process.kill(weir.workers()[0] ?? 0, 'SIGKILL')
    await weir.logged(/A worker has ended unexpectedly/)
    while ((await weir.metric('weir_workers')) < 3) await Bun.sleep(20)
    expect(await limits()).toEqual(new Set(['70']))
  },
)

test.if(canRunWorkers)('a reload while no worker is ready is in the audit log once one is', async () => {
  await using upstream = await createUpstream(jsonReply())
  const folder = temporaryFolder()
  await using weir = await startWorkers(2, { settings: settingsFor(upstream.url), folder })
  const settings = settingsFor(upstream.url, { limits: { requests_per_minute: 70 }, workers: 2 })
  await Bun.write(join(folder, 'weir.yaml'), JSON.stringify(settings))
  for (const pid of weir.workers()) process.kill(pid, 'SIGKILL')
  await weir.logged(/A worker has ended unexpectedly[^]*A worker has ended unexpectedly/)
  weir.signal('SIGHUP')
  await weir.logged(/The settings were reloaded/)
  expect(await recordedReloads(weir)).toEqual([
    { actor_type: 'settings', after: JSON.stringify({ changed: ['limits.requests_per_minute'] }) },
  ])
})

/** The entries of reloads in the audit log, once there is one. */
async function recordedReloads({ database }: WeirWorkers): Promise<unknown[]> {
  const entries = "SELECT actor_type, after FROM audit_entries WHERE event = 'settings.reloaded'"
  await waitUntil(async () => (await execute(database, entries)).length > 0, 'the entry of a reload')
  return await execute(database, entries)
}
