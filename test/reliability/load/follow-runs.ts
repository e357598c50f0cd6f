import { expect } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { temporaryHome } from '../../unit/config/support/temporary-home.ts'
import { firstKey } from '../../support/app.ts'
import type { Followed } from './background-client.ts'
import { outputOf, startServing } from './program.ts'

const words = 20

/**
 * Has this many background runs in progress at once, with so many readers each, and expects that all of them receive all
 * events. Returns the peak memory of the gateway in MiB; undefined where the system does not report it.
 */
export async function followRuns(runs: number, readers: number): Promise<number | undefined> {
  const lifted = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }
  // It is silent until all runs have sent their requests, so that they are in progress at the same time.
  await using upstream = await startServing([
    'test/reliability/load/upstream.ts',
    ...[runs, words, 50].map(String),
  ])
  using home = temporaryHome({ 'work/weir.yaml': settingsFor(upstream.url, runs) })
  await using weir = await startServing(
    ['src/main.ts', 'serve', '--host', '127.0.0.1', '--port', '0'],
    {
      HOME: home.place('work'),
      WEIR_CONFIG: home.place('work/weir.yaml'),
      WEIR_DATA: home.place('data'),
      WEIR_BOOTSTRAP_KEY: firstKey,
    },
    'ignore',
  )
  const client = [
    'test/reliability/load/background-client.ts',
    weir.url,
    firstKey,
    String(runs),
    String(readers),
  ]
  const followed = JSON.parse(await outputOf(client, lifted)) as Followed
  const peak = await peakOf(weir.pid)
  const text = Array.from({ length: words }, (_, index) => `${index} `).join('')
  expect(followed).toEqual({
    queued: runs,
    complete: runs * readers,
    identical: runs,
    texts: { [text]: runs },
  })
  const state = (await (await fetch(upstream.url)).json()) as { readonly most: number }
  expect(state.most).toBe(runs)
  expect(await weir.stop()).toBe(0)
  return peak
}

/** The peak memory of a process, in MiB; undefined where the system does not report it. */
async function peakOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

/** JSON is YAML. */
function settingsFor(upstream: string, runs: number): string {
  const acme = { kind: 'openai-compatible', base_url: `${upstream}/v1`, api_key: 'sk-provider' }
  const river = { slug: 'acme/river', routes: [{ provider: 'acme', model: 'river-1' }] }
  return JSON.stringify({
    providers: { acme },
    models: [river],
    limits: { requests_per_minute: 100_000 },
    background: { concurrency: runs },
  })
}
